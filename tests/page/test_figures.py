"""The figures: there before any script, and read sample by sample with a pointer, a finger or the keys."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from ferro_bench import figures

from .bench import number

Open = Callable[..., Page]

every_figure = pytest.mark.parametrize("name", figures.names())


@pytest.fixture(scope="module")
def lesson(open_for_module: Open, site: str) -> Page:
    """The page without Python, in which the figures have no part."""
    page = open_for_module("about:blank")
    page.route("**/runtime-*/**", lambda route: route.abort())
    page.goto(site)
    expect(page.locator("ferro-figure canvas").first).to_be_attached()
    return page


def panel(page: Page, name: str, at: int = 0) -> Locator:
    return page.locator(f'ferro-figure[name="{name}"] ferro-panel').nth(at)


def reading(place: Locator) -> Locator:
    return place.locator(".plot-reading")


def press(place: Locator, *keys: str) -> None:
    """Press keys on a picture that has the focus by keyboard."""
    place.page.mouse.move(0, 0)
    place.locator("canvas").focus()
    for key in keys:
        place.page.keyboard.press(key)


@every_figure
def test_without_javascript_a_figure_is_a_picture_with_words_and_a_table(open_page: Open, site: str, name: str) -> None:
    page = open_page(site, java_script_enabled=False)
    figure = page.locator(f'ferro-figure[name="{name}"]')
    expect(figure.get_by_text(figures.load(name).question)).to_be_visible()
    panels = figures.load(name).draw().panels
    expect(figure.locator("svg")).to_have_count(len(panels))
    for i, drawn in enumerate(panels):
        expect(figure.locator("svg").nth(i)).to_be_visible()
        expect(figure.locator("svg desc").nth(i)).to_contain_text(drawn.title)
        expect(reading(panel(page, name, i))).to_be_hidden()
    figure.locator("summary").first.click()
    expect(figure.locator("tbody tr").first).to_be_visible()


@every_figure
def test_the_script_draws_every_picture_in_the_place_of_the_baked_one(lesson: Page, name: str) -> None:
    figure = lesson.locator(f'ferro-figure[name="{name}"]')
    panels = figures.load(name).draw().panels
    expect(figure.locator("canvas")).to_have_count(len(panels))
    expect(figure.locator("svg")).to_have_count(0)
    painted = """canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }"""
    for i in range(len(panels)):
        canvas = figure.locator("canvas").nth(i)
        lesson.wait_for_function("canvas => canvas.width > 0", arg=canvas.element_handle())
        assert canvas.evaluate(painted) > 20


def test_a_pictures_canvas_has_a_role_a_name_and_a_visible_focus(lesson: Page) -> None:
    place = panel(lesson, "shares")
    press(place, "Shift")
    canvas = place.get_by_role("application", name=re.compile("^Each step’s share in dL.dc.*120 points.*Arrow keys"))
    expect(canvas).to_be_focused()
    assert canvas.evaluate("canvas => getComputedStyle(canvas).outlineStyle") == "solid"


def test_the_arrow_keys_read_each_steps_share(lesson: Page) -> None:
    place = panel(lesson, "shares")
    columns = figures.load("shares").draw().columns
    peak = int(columns["share"].argmax())
    press(place, "Home", *["ArrowRight"] * peak)
    expect(reading(place)).to_have_text(re.compile("^time 1 s: share"))
    expect(reading(place)).to_have_attribute("aria-live", "polite")
    assert number(reading(place).inner_text().partition("share ")[2]) == pytest.approx(columns["share"][peak], abs=1e-3)
    press(place, "End")
    expect(reading(place)).to_have_text(re.compile("^time 2.4 s:"))
    press(place, "Home")
    expect(reading(place)).to_have_text(re.compile("^time 0.02 s:"))


def test_a_key_that_is_held_down_is_spoken_once(lesson: Page) -> None:
    place = panel(lesson, "overlay", 1)
    press(place, "Home")
    expect(reading(place)).not_to_be_empty()
    reading(place).evaluate("""line => {
      window.spoken = 0;
      new MutationObserver(() => window.spoken++).observe(line, { childList: true, subtree: true });
    }""")
    for _ in range(30):
        lesson.keyboard.down("ArrowRight")
    lesson.keyboard.up("ArrowRight")
    expect(reading(place)).to_have_text(re.compile("^time 0.62 s: wrong model"))
    assert lesson.evaluate("spoken") == 1


def test_the_probe_is_drawn_where_it_reads_and_goes_with_the_focus(lesson: Page) -> None:
    place = panel(lesson, "noise")
    ink = """canvas => {
      const context = canvas.getContext("2d");
      const colours = (x) => [...context.getImageData(x, 0, 1, canvas.height).data.slice(4 * 80, 4 * 81)].join();
      return new Array(canvas.width).fill(0).map((_, x) => colours(x)).join(";");
    }"""
    lesson.locator("body").evaluate("() => document.activeElement?.blur()")
    lesson.wait_for_timeout(100)
    before = place.locator("canvas").evaluate(ink)
    press(place, "End")
    expect(reading(place)).to_have_text(re.compile(r"^noise 10 mm: .*regression 14\.\d+ kg/m \(.* to "))
    assert place.locator("canvas").evaluate(ink) != before
    place.locator("canvas").evaluate("canvas => canvas.blur()")
    expect(reading(place)).to_be_empty()
    lesson.wait_for_timeout(100)
    assert place.locator("canvas").evaluate(ink) == before


def test_up_and_down_change_between_the_path_and_the_curve(lesson: Page) -> None:
    place = panel(lesson, "landscape")
    press(place, "Home", "ArrowRight")
    expect(reading(place)).to_have_text(re.compile("^Point 2 of 39, drag coefficient c 0.983 kg/m: training "))
    press(place, "ArrowDown")
    expect(reading(place)).to_have_text(re.compile("^drag coefficient c 0.98 kg/m: loss "))


def test_a_pointer_reads_what_it_is_over_and_says_nothing_aloud(lesson: Page) -> None:
    place = panel(lesson, "overlay")
    canvas = place.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    lesson.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(reading(place)).to_have_text(re.compile(r"^time 1\.\d+ s: measured 1\.\d+ m, predicted 1\.\d+ m$"))
    expect(reading(place)).to_have_attribute("aria-live", "off")
    lesson.mouse.move(0, 0)
    expect(reading(place)).to_be_empty()


def test_a_tap_reads_and_the_reading_stays(open_page: Open, site: str) -> None:
    page = open_page(site, has_touch=True, viewport={"width": 390, "height": 800})
    place = panel(page, "excitation")
    place.locator("canvas").tap()
    expect(reading(place)).to_have_text(re.compile(r"^Point \d+ of 121, drag coefficient c 0\.8\d+ kg/m: "))
    page.wait_for_timeout(300)
    expect(reading(place)).not_to_be_empty()


def test_reading_moves_nothing(lesson: Page) -> None:
    place = panel(lesson, "noise")
    height = place.evaluate("place => place.offsetHeight")
    press(place, "End")
    expect(reading(place)).not_to_be_empty()
    assert place.evaluate("place => place.offsetHeight") == height


def test_on_paper_a_figure_is_lines_and_words(lesson: Page) -> None:
    lesson.emulate_media(media="print")
    lesson.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(lesson.locator("ferro-figure canvas")).to_have_count(0)
    assert lesson.locator("ferro-figure svg").count() == lesson.locator("ferro-figure ferro-panel").count()
    expect(lesson.locator("ferro-figure .plot-reading").first).to_be_hidden()
    expect(lesson.locator("ferro-figure > figure > figcaption").first).to_be_visible()
    lesson.emulate_media(media="screen")
    lesson.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(lesson.locator("ferro-figure svg")).to_have_count(0)


def test_a_benchs_pictures_are_read_the_same_way(lesson: Page) -> None:
    place = lesson.locator("ferro-bench ferro-panel").first
    press(place, "End")
    expect(reading(place)).to_have_text(
        re.compile(r"^time 2\.4 s: prediction at the start \d.* m, measured \d.* m, predicted \d.* m$")
    )
