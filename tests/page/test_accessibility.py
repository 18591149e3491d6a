"""No violation that axe can find, in every state of the page that differs, in both themes, on a desk and on a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from building.commands import ROOT
from tests.page.bench import Bench
from tests.page.exercise import Exercise

Open = Callable[..., Page]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: Page) -> list[str]:
    """What axe objects to, each with the first places."""
    page.evaluate(AXE.read_text("utf-8"))
    page.evaluate("scrollTo(0, 0)")  # further down the rail lies over something wherever one stops
    found: Any = page.evaluate(
        "tags => axe.run(document, { runOnly: { type: 'tag', values: tags } }).then(({ violations }) => violations)",
        RULES,
    )
    return [
        f"{one['id']}: {one['help']} at {[node['target'] for node in one['nodes'][:3]]} "
        f"({one['nodes'][0].get('failureSummary', '')})"
        for one in found
    ]


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["desk in light", "phone in dark"])
def page(request: pytest.FixtureRequest, open_page: Open, site: str) -> Page:
    width, scheme = request.param
    page = open_page(site, viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    Bench(page).wait_ready()
    return page


def test_as_it_opens(page: Page) -> None:
    assert violations(page) == []


def test_with_everything_open_and_after_a_pass(page: Page) -> None:
    bench = Bench(page)
    bench.press("Train")
    bench.expect_state("passed")
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    assert violations(page) == []


def test_with_a_failed_run_an_error_in_a_cell_and_a_verdict(page: Page) -> None:
    bench = Bench(page)
    bench.set("learning rate", "5")
    bench.press("Train")
    bench.expect_state("diverged")
    bench.set("noise on the positions", "99")
    Exercise(page, "plant").run("print('text')\naccell(1)")
    loss = Exercise(page, "loss")
    loss.press("Check")
    loss.expect_state("not-yet")
    loss.press("Hint")
    Exercise(page, "rollout").run("np.linspace(0, 1, 50)")
    assert violations(page) == []


def test_while_something_is_predicted_recalled_measured_and_fitted(page: Page) -> None:
    page.locator("ferro-predict").first.get_by_role("radio").first.check()
    page.locator("ferro-recall").first.get_by_role("button").first.click()
    page.locator("ferro-speed").get_by_role("button").click()
    page.get_by_role("button", name="Use the sample").click()
    expect(page.locator("ferro-speed [role=status]")).to_contain_text("×", timeout=30_000)
    assert violations(page) == []


def test_nothing_is_wider_than_the_screen_at_any_width(open_page: Open, site: str) -> None:
    page = open_page(site)
    for width in (320, 360, 390, 640, 768, 1024, 1280, 1920, 2560):  # 640 is 1280 at a zoom of 200 %
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
