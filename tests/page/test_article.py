"""The page is a finished lesson before Python arrives, and without it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

Open = Callable[..., Page]

SECTIONS = ["Challenge", "Model", "Guided practice", "Feedback", "Retrieve and space", "Mastery and project"]


def test_without_javascript_the_article_the_data_and_the_first_prediction_are_there(open_page: Open, site: str) -> None:
    page = open_page(site, java_script_enabled=False)
    for title in SECTIONS:
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    picture = page.locator("ferro-bench svg").first
    expect(picture).to_be_visible()
    assert picture.locator("polyline.plot-predicted, path.plot-predicted").count() > 0
    expect(picture.locator("desc")).to_contain_text("Measured: 120 points")
    page.locator("ferro-bench summary").first.click()
    assert page.locator("ferro-bench ferro-panel").first.locator("tbody tr").count() == 120
    expect(page.locator("ferro-bench noscript p").first).to_be_visible()
    expect(page.get_by_role("button", name="Train").first).to_be_hidden()
    expect(page.locator(".script-missing").first).to_be_hidden()


def test_the_article_and_the_first_picture_do_not_wait_for_python(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    page.route("**/runtime-*/**", lambda route: None)  # never answered
    page.goto(site)
    expect(page.get_by_role("heading", name="Challenge", exact=True)).to_be_visible(timeout=2000)
    expect(page.locator("ferro-bench canvas").first).to_be_visible(timeout=2000)
    expect(page.locator("html")).to_have_attribute("data-runtime", "loading")


def test_nothing_moves_when_the_script_takes_over(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    page.add_init_script("""
        window.shift = 0;
        new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value; })
          .observe({ type: "layout-shift", buffered: true });
    """)
    page.goto(site)
    page.locator("ferro-bench").first.scroll_into_view_if_needed()
    expect(page.locator("html")).to_have_attribute("data-runtime", "ready", timeout=60_000)
    assert page.evaluate("window.shift") < 0.05


@pytest.mark.parametrize("width", [360, 390, 768, 1280, 2560])
def test_the_page_fits_its_window(open_page: Open, site: str, width: int) -> None:
    page = open_page(site, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_panel_has_words_and_a_table(open_page: Open, site: str) -> None:
    page = open_page(site)
    panels = page.locator("ferro-bench ferro-panel")
    canvases = page.locator("ferro-bench canvas")
    expect(canvases).to_have_count(panels.count())
    for i in range(panels.count()):
        assert len(canvases.nth(i).get_attribute("aria-label") or "") > 40
        panels.nth(i).get_by_text("Show as table").click()
        expect(panels.nth(i).locator("thead th").first).to_be_visible()


def test_the_main_thread_goes_on_while_python_computes(open_page: Open, site: str) -> None:
    page = open_page(site, reduced_motion="reduce")
    expect(page.locator("html")).to_have_attribute("data-runtime", "ready", timeout=60_000)
    page.get_by_role("textbox", name="learning rate").first.fill("0.01")  # the whole budget, as fast as Python can
    page.evaluate("""
        window.begun = performance.now();
        window.gap = 0;
        let last = window.begun;
        const tick = () => {
          const now = performance.now();
          window.gap = Math.max(window.gap, now - last);
          last = now;
          setTimeout(tick, 5);
        };
        tick();
    """)
    page.get_by_role("button", name="Train").first.click()
    expect(page.locator("ferro-bench").first).to_have_attribute("data-state", "not-yet", timeout=60_000)
    computing, gap = page.evaluate("[performance.now() - begun, gap]")
    # On the main thread each request would block it for a twentieth of the whole; drawing takes far less.
    assert gap < computing / 5
