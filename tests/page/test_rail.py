"""The progress rail: where one is, what is done, and that it stays done."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.bench import START_UP, Bench
from tests.page.exercise import Exercise

Open = Callable[..., Page]


@pytest.fixture
def page(open_page: Open, site: str) -> Page:
    return open_page(site, reduced_motion="reduce")


def entry(page: Page, title: str) -> Locator:
    return page.get_by_role("navigation", name="Progress").get_by_role("listitem").filter(has_text=title)


def test_it_names_the_six_sections_and_marks_where_one_is(page: Page) -> None:
    expect(page.get_by_role("navigation", name="Progress").get_by_role("link")).to_have_count(6)
    entry(page, "Feedback").get_by_role("link").click()
    expect(entry(page, "Feedback").get_by_role("link")).to_have_attribute("aria-current", "location")
    expect(page.get_by_role("heading", name="Feedback", exact=True)).to_be_in_viewport()


def test_what_was_passed_and_predicted_counts_and_is_remembered(page: Page) -> None:
    Bench(page).wait_ready()
    expect(entry(page, "Challenge").locator(".rail-mark")).to_have_text("0/1")
    predict = page.locator("ferro-predict")
    predict.get_by_role("radio").first.check()
    predict.get_by_role("button").first.click()
    page.locator("#challenge > :last-child").scroll_into_view_if_needed()
    expect(entry(page, "Challenge").locator(".rail-mark")).to_have_text("✓")
    expect(entry(page, "Guided practice").locator(".rail-mark")).to_contain_text("0/")
    plant = Exercise(page, "plant")
    plant.write(plant.solution)
    plant.press("Check")
    plant.expect_state("passed")
    expect(entry(page, "Guided practice").locator(".rail-mark")).to_contain_text("1/")
    plant.write("# changed since\n")
    page.reload()
    expect(entry(page, "Challenge").locator(".rail-mark")).to_have_text("✓")
    expect(entry(page, "Guided practice").locator(".rail-mark")).to_contain_text("1/")


def test_a_project_that_was_fitted_counts(page: Page) -> None:
    Bench(page).wait_ready()
    page.get_by_role("button", name="Use the sample").click()
    page.locator("ferro-project").get_by_role("combobox", name="drag", exact=True).select_option("mixed")
    page.locator("ferro-project").get_by_role("button", name="Fit", exact=True).click()
    expect(page.locator("ferro-project")).to_have_attribute("data-state", "fitted", timeout=START_UP)
    expect(entry(page, "Mastery").locator(".rail-mark")).not_to_have_text("0/1")
