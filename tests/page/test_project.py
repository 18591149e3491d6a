"""The learner's own project: a file, its meaning, a fit, and what can be kept of it."""

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ferro_bench import project
from tests.page.bench import Bench
from tests.page.project import Project

Open = Callable[..., Page]

WATCH = """
    window.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: "longtask" });
"""


def motion(rows: int, **columns: Any) -> str:
    """A mass of 2 kg under 3 N with linear drag of 0.5 N·s/m from rest, by its closed form, every 0.01 s."""

    def fallen(t: float) -> float:
        return 3 / 0.5 * (t - 2 / 0.5 * (1 - math.exp(-0.5 * t / 2)))

    lines = [f"{0.01 * i:.4f},3,{fallen(0.01 * i):.6f}" for i in range(rows)]
    return "\n".join(["t,F,x", *lines])


@pytest.fixture(scope="module")
def shared(open_for_module: Open, site: str) -> Page:
    page = open_for_module("about:blank")
    page.add_init_script(WATCH)
    page.goto(site)
    Bench(page).wait_ready()
    return page


@pytest.fixture
def own(shared: Page) -> Iterator[Project]:
    """The project on a page that the tests share, each with whatever file was there before."""
    shared.console.clear()  # type: ignore[attr-defined]
    yield Project(shared)
    assert shared.console == []  # type: ignore[attr-defined]


def loaded(own: Project, text: str, name: str = "motion.csv") -> None:
    own.give(name, text)
    expect(own.element.locator(".project-file")).to_contain_text(name)
    own.expect_state("ready")


# From a file to a report


def test_the_sample_is_fitted_and_the_comparison_says_what_it_lacks(own: Project) -> None:
    own.press("Use the sample")
    own.expect_state("ready")
    own.field("compare").select_option("yes")
    own.fit()
    expect(own.status).to_contain_text("Do not trust this fit yet")
    expect(own.element).to_contain_text("the mixed law is strongly preferred")
    own.field("law").select_option("mixed")
    own.fit()
    own.expect_state("fitted")
    expect(own.status).to_contain_text("The fit holds")
    value = own.element.get_by_role("row", name=re.compile("^c quadratic drag"))
    expect(value).to_contain_text(re.compile(r"0\.41\d+ kg/m"))
    expect(own.element.locator("ferro-panel canvas")).to_have_count(4)


def test_the_report_stands_alone_and_the_numbers_are_all_there(own: Project, open_page: Open) -> None:
    own.press("Use the sample")
    own.expect_state("ready")
    own.field("law").select_option("mixed")
    own.fit()
    name, report = own.download("Download the report")
    assert name == "ferro-bench-sample-report.html"
    assert "<script" not in report
    assert "http" not in report.replace("http://www.w3.org/", "")
    assert report.count("<svg") == 4
    read = open_page("about:blank")
    read.set_content(report)
    expect(read.get_by_role("table", name="What was found")).to_contain_text("0.41")
    expect(read.get_by_role("table", name="Settings")).to_contain_text("column C (“position (cm)”), in cm")
    name, text = own.download("Download the numbers")
    numbers = json.loads(text)
    assert name == "ferro-bench-sample-report.json"
    assert numbers["version"] == project.VERSION
    assert numbers["settings"]["law"] == "mixed"
    (c,) = (row for row in numbers["values"] if row["symbol"] == "c")
    assert abs(c["value"] - project.SAMPLE["c"]) < 4 * c["standard_error"]


def test_units_and_a_constant_force_are_taken_as_they_are_given(own: Project) -> None:
    loaded(own, motion(200).replace("t,F,x", "t,other,x"))
    own.field("column-force").select_option("")
    own.field("unit-force").select_option("mN")
    own.field("force").fill("3000")
    own.field("mass").fill("2000")
    own.field("mass_unit").select_option("g")
    own.field("law").select_option("linear")
    own.field("start").select_option("rest")
    own.fit()
    expect(own.element.get_by_role("row", name=re.compile("^b linear drag"))).to_contain_text("0.5000 N·s/m")


# What cannot be used


BAD = {
    "no numbers": ("words, words\nmore, words\n", "There are no rows of numbers in it."),
    "unequal rows": ("t,x\n0,1\n1,2,3\n2,4\n", "Row 3 has 3 cells, where most rows have 2."),
    "a spreadsheet": ("PK\x03\x04\0", "This is no text. Save the sheet as CSV and choose that file."),
    "empty": ("", "There are no rows of numbers in it."),
}


@pytest.mark.parametrize(("text", "sentence"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_and_costs_nothing(own: Project, text: str, sentence: str) -> None:
    loaded(own, motion(100))
    own.field("mass").fill("2")
    own.field("unit-position").select_option("mm")
    own.fit()
    own.give("bad.csv", text)
    expect(own.alert).to_have_text(f"bad.csv was not taken. {sentence} motion.csv is still here.")
    assert own.field("mass").input_value() == "2"
    assert own.field("unit-position").input_value() == "mm"
    expect(own.element.get_by_role("table", name="What was found")).to_be_visible()
    own.fit()
    expect(own.alert).to_be_empty()


def test_a_bad_cell_is_named_beside_its_field_and_in_an_alert(own: Project) -> None:
    loaded(own, motion(100).replace("0.0500,3,", "0.0500,?,"))
    own.field("mass").fill("")
    own.press("Fit")
    expect(own.refusal("force")).to_have_text("Cell B7 (“F”) holds “?”, which is no finite number.")
    expect(own.refusal("mass")).to_have_text("The mass must be a number; the field is empty.")
    expect(own.alert).to_contain_text("Cell B7")
    expect(own.field("column-force")).to_have_attribute("aria-invalid", "true")
    own.field("mass").fill("2")
    own.field("mass").press("Tab")
    expect(own.refusal("mass")).to_be_empty()
    expect(own.refusal("force")).not_to_be_empty()


def test_text_from_a_file_is_text_and_never_markup(own: Project) -> None:
    loaded(own, motion(100).replace("t,F,x", "t,<img src=x onerror=alert(1)>,x"), "<b>motion</b>.csv")
    expect(own.element.get_by_role("table", name=re.compile("The first"))).to_contain_text("<img src=x")
    own.field("column-position").select_option("1")
    own.press("Fit")
    expect(own.alert).to_contain_text("<img")
    assert own.element.locator("img, b").count() == 0


def test_a_file_in_utf_16_is_read(own: Project) -> None:
    own.give("wide.csv", motion(100).encode("utf-16"))
    expect(own.element.locator(".project-file")).to_have_text("wide.csv, 100 rows")


def test_a_dropped_file_is_taken(own: Project) -> None:
    own.element.locator(".project-drop").evaluate(
        """(place, text) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([text], "dropped.csv"));
          place.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
        }""",
        motion(100),
    )
    expect(own.element.locator(".project-file")).to_have_text("dropped.csv, 100 rows")


# Large files


def test_a_large_file_keeps_nobody_waiting_and_can_be_stopped(own: Project) -> None:
    page = own.page
    loaded(own, motion(200_000), "large.csv")
    own.field("known").select_option("fitted")
    own.field("compare").select_option("yes")
    page.evaluate("longTasks.length = 0")
    own.press("Fit")
    bar = own.element.get_by_role("progressbar")
    expect(own.status).to_contain_text("law, iteration", timeout=30_000)
    assert bar.evaluate("bar => bar.value") > 0
    assert page.evaluate("longTasks.filter((duration) => duration > 50)") == []
    own.press("Stop")
    own.expect_state("stopped", timeout=1000)
    assert page.evaluate("document.documentElement.dataset.runtime") == "ready"  # nothing had to be ended
    loaded(own, motion(100))
    own.field("known").select_option("known")
    own.field("mass").fill("2")
    own.fit()


def test_a_file_outlives_the_python_that_read_it(own: Project) -> None:
    loaded(own, motion(100))
    own.field("known").select_option("known")
    own.field("mass").fill("2")
    own.page.evaluate("customElements.get('ferro-project').client.start()")
    own.fit()
    expect(own.element.get_by_role("table", name="What was found")).to_be_visible()


def test_without_javascript_the_sample_can_be_had_and_a_paragraph_says_the_rest(open_page: Open, site: str) -> None:
    page = open_page(site, java_script_enabled=False)
    element = page.locator("ferro-project")
    expect(element.locator("noscript p")).to_be_visible()
    assert "JavaScript is off, so no file can be read here." in element.locator("noscript p").inner_text()
    expect(element.get_by_role("button", name="Fit")).to_be_hidden()
    address = element.get_by_role("link", name="Download a sample file").get_attribute("href")
    assert page.request.get(f"{site}{address}").text() == project.sample()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_sticks_out(own: Project, width: int) -> None:
    own.page.set_viewport_size({"width": width, "height": 900})
    own.press("Use the sample")
    own.expect_state("ready")
    own.field("compare").select_option("yes")
    own.fit()
    overhang = own.element.evaluate("element => element.scrollWidth - element.clientWidth")
    own.page.set_viewport_size({"width": 1280, "height": 900})
    assert overhang <= 0
