"""Questions that return, and predictions that are met again: over days, in tabs, in files, and without JavaScript."""

import csv
import datetime
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

Open = Callable[..., Page]

QUESTION = "principle"
BERLIN = {"timezone_id": "Europe/Berlin", "reduced_motion": "reduce"}
BLOCKED_STORAGE = (
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
)


def visit(page: Page, site: str, moment: str) -> Page:
    """Come to the page at that moment; these tests need no Python."""
    page.unroute_all()
    page.route("**/runtime-*/**", lambda route: route.abort())
    page.clock.set_fixed_time(datetime.datetime.fromisoformat(moment))
    page.goto("about:blank")
    page.goto(site)
    return page


@pytest.fixture
def page(open_page: Open) -> Page:
    return open_page("about:blank", **BERLIN)


def recall(page: Page, name: str = QUESTION) -> Locator:
    return page.locator(f'ferro-recall[name="{name}"]')


def press(element: Locator, name: str) -> None:
    element.get_by_role("button", name=name).click()


def answer(question: Locator, words: str, grade: str) -> None:
    press(question, "Answer from memory")
    question.get_by_role("textbox", name="Your answer, from memory").fill(words)
    press(question, "Compare")
    press(question, grade)


def due(page: Page) -> Locator:
    return page.get_by_role("region", name="Questions that are due")


# Recall


def test_a_question_is_answered_compared_graded_and_returns_days_later(page: Page, site: str) -> None:
    visit(page, site, "2026-03-27T22:00:00+01:00")
    question = recall(page)
    model = question.get_by_text("Write the physics down as a model")
    expect(due(page)).to_have_count(0)
    expect(question).to_have_attribute("data-state", "new")
    expect(model).to_be_hidden()
    press(question, "Answer from memory")
    own = question.get_by_role("textbox")
    expect(own).to_be_focused()
    press(question, "Compare")
    expect(question.get_by_role("status")).to_contain_text("Write a few words first.")
    expect(model).to_be_hidden()
    own.fill("Differentiate <b>everything</b>.")
    press(question, "Compare")
    expect(model).to_be_visible()
    expect(own).to_have_value("Differentiate <b>everything</b>.")
    expect(own).not_to_be_editable()
    expect(question.locator("summary")).to_be_focused()
    grades = question.get_by_role("group", name="How well did you know it?").get_by_role("button")
    assert [text.split()[0] for text in grades.all_inner_texts()] == ["Again", "Hard", "Good", "Easy"]
    press(question, "Good")
    expect(question.get_by_role("status")).to_have_text(
        re.compile(r"Good\. Returns in 2 days, on Sunday,? 29 March 2026\.")
    )
    expect(question.get_by_role("button", name="Answer from memory")).to_be_focused()
    expect(model).to_be_hidden()

    visit(page, site, "2026-03-28T23:59:00+01:00")  # the last minute before
    expect(question).to_have_attribute("data-state", "waiting")
    expect(due(page)).to_have_count(0)

    visit(page, site, "2026-03-29T00:01:00+01:00")  # of a day on which clocks are put forward
    expect(question).to_have_attribute("data-state", "due")
    expect(due(page)).to_be_visible()
    due(page).get_by_role("link", name="The principle").click()
    expect(question.get_by_role("textbox")).to_be_focused()
    expect(question.get_by_role("textbox")).to_be_in_viewport()
    question.get_by_role("textbox").fill("Again.")
    press(question, "Compare")
    expect(question).to_contain_text("“Differentiate <b>everything</b>.”")  # what was written last time, as text
    press(question, "Again")
    expect(question.get_by_role("status")).to_contain_text("tomorrow, Monday")
    expect(due(page)).to_have_count(0)


def test_due_questions_lead_from_one_to_the_next(page: Page, site: str) -> None:
    visit(page, site, "2026-03-01T12:00:00+01:00")
    answer(recall(page, "unit"), "kg/m", "Good")
    answer(recall(page, "claim"), "It is theirs.", "Hard")
    visit(page, site, "2026-03-20T12:00:00+01:00")
    expect(due(page).get_by_role("link")).to_have_count(2)
    answer(recall(page, "unit"), "kg/m", "Easy")
    expect(due(page).get_by_role("link")).to_have_count(1)
    recall(page, "unit").get_by_role("status").get_by_role("link", name="The claim").click()
    expect(recall(page, "claim").get_by_role("textbox")).to_be_focused()


def test_a_day_that_begins_while_the_page_is_open_is_noticed_on_the_way_back(page: Page, site: str) -> None:
    visit(page, site, "2026-03-01T23:00:00+01:00")
    answer(recall(page), "One.", "Again")
    page.clock.set_fixed_time(datetime.datetime.fromisoformat("2026-03-02T07:00:00+01:00"))
    page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    expect(due(page)).to_be_visible()
    expect(recall(page)).to_have_attribute("data-state", "due")


def test_two_tabs_know_of_each_other_and_leave_what_is_being_written(page: Page, site: str) -> None:
    visit(page, site, "2026-03-01T12:00:00+01:00")
    other = visit(page.context.new_page(), site, "2026-03-01T12:00:00+01:00")
    press(recall(page, "unit"), "Answer from memory")
    recall(page, "unit").get_by_role("textbox").fill("In the middle of it")
    answer(recall(other), "One.", "Easy")
    answer(recall(other, "unit"), "kg/m", "Good")
    expect(recall(page)).to_have_attribute("data-state", "waiting")
    expect(recall(page, "unit").get_by_role("textbox")).to_have_value("In the middle of it")
    press(recall(page, "unit"), "Compare")
    press(recall(page, "unit"), "Hard")
    facts = "JSON.parse(localStorage.getItem('ferro-bench/progress/1/structure-as-differentiation'))"
    assert page.evaluate(f"{facts}.flatMap((fact) => fact.grade ?? [])") == [4, 3, 2]


def test_a_browser_that_refuses_to_store_is_told_of_and_works_for_the_visit(page: Page, site: str) -> None:
    page.add_init_script(BLOCKED_STORAGE)
    visit(page, site, "2026-03-01T12:00:00+01:00")
    expect(page.locator("ferro-deck").get_by_role("alert")).to_contain_text("counts for this visit only")
    answer(recall(page), "One.", "Easy")
    expect(recall(page).get_by_role("status")).to_contain_text("Returns in 8 days")
    expect(recall(page).get_by_role("status")).to_contain_text("counts for this visit only")
    expect(recall(page)).to_have_attribute("data-state", "waiting")


def test_all_questions_go_into_a_deck_for_anki(page: Page, site: str, tmp_path: Path) -> None:
    visit(page, site, "2026-03-01T12:00:00+01:00")
    with page.expect_download() as download:
        press(page.locator("ferro-deck"), "Download for Anki")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "structure-as-differentiation-anki.txt"
    lines = file.read_text("utf-8").splitlines()
    assert lines[:2] == ["#separator:tab", "#html:true"]
    rows = list(csv.reader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    assert len(rows) == page.locator("ferro-recall").count()
    for front, back, deck, tags in rows:
        assert front.startswith("<p>")
        assert back.startswith("<p>")
        assert not re.search(r"ferro-\w|<button|<textarea|data-", front + back)
        assert deck == "Structure as differentiation, at scale"
        assert tags == "ferro-bench structure-as-differentiation"
    assert any("<math" in front for front, *_ in rows)


def test_the_coming_days_go_into_a_calendar(page: Page, site: str, tmp_path: Path) -> None:
    visit(page, site, "2026-03-01T12:00:00+01:00")
    deck = page.locator("ferro-deck")
    press(deck, "Download for a calendar")
    expect(deck.get_by_role("status")).to_have_text("No question has a day yet. Answer one first.")
    answer(recall(page), "One.", "Good")
    answer(recall(page, "unit"), "kg/m", "Good")
    answer(recall(page, "claim"), "Theirs.", "Easy")
    expect(deck).to_contain_text(
        re.compile(r"answered 3 of the \d+ questions on this page\. The next is due in 2 days")
    )
    with page.expect_download() as download:
        press(deck, "Download for a calendar")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "structure-as-differentiation.ics"
    text = file.read_bytes().decode().replace("\r\n ", "")
    assert re.findall(r"DTSTART;VALUE=DATE:(\d+)\r\n", text) == ["20260303", "20260309"]
    assert "SUMMARY:Recall 2 questions: Structure as differentiation\\, at scale\r\n" in text
    assert f"URL:{site}\r\n" in text


# Predict


def test_a_prediction_is_committed_to_explained_and_met_again(page: Page, site: str) -> None:
    visit(page, site, "2026-03-01T12:00:00+01:00")
    predict = page.locator("ferro-predict")
    follows = predict.get_by_text("conserves momentum for every input")
    choices = predict.get_by_role("group", name="Your prediction").get_by_role("radio")
    expect(choices).to_have_count(4)
    expect(follows).to_be_hidden()
    press(predict, "Commit")
    expect(predict.get_by_role("status")).to_have_text("Choose one first.")
    choices.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # in a form that commits
    expect(predict).to_have_attribute("data-state", "committed")
    expect(predict.get_by_role("status")).to_contain_text("Today you predicted: “No: whoever predicts")
    expect(predict.get_by_role("status")).to_contain_text("That is not right.")
    expect(choices).to_have_count(0)
    expect(follows).to_be_visible()
    expect(predict.locator("details[data-choice] p")).to_have_count(4)
    for reasoning in predict.locator("details[data-choice] p").all():
        expect(reasoning).to_be_visible()
    assert [mark for mark in predict.locator(".predict-mark").all_inner_texts() if "your prediction" in mark] == [
        "✗ not right, your prediction"
    ]
    expect(predict.locator("[data-right] .predict-mark")).to_have_text("✓ right")

    visit(page, site, "2026-03-05T12:00:00+01:00")
    expect(predict.get_by_role("status")).to_contain_text(
        re.compile(r"On Sunday,? 1 March 2026 you predicted: “No: whoever")
    )
    expect(follows).to_be_visible()
    question = recall(page, "momentum")
    press(question, "Answer from memory")
    question.get_by_role("textbox").fill("It can.")
    press(question, "Compare")
    expect(question).to_contain_text(
        "You predicted: “No: whoever predicts collisions well has momentum somewhere inside.”"
    )


# Without any of it


def test_without_javascript_the_questions_and_their_answers_are_read(open_page: Open, site: str) -> None:
    page = open_page(site, java_script_enabled=False)
    expect(due(page)).to_have_count(0)
    question = recall(page)
    expect(question.get_by_text("What principle do the three efforts share?")).to_be_visible()
    model = question.get_by_text("Write the physics down as a model")
    expect(model).to_be_hidden()
    question.get_by_text("Model answer").click()
    expect(model).to_be_visible()
    predict = page.locator("ferro-predict")
    predict.get_by_text("Yes: nothing in it enforces the law.").click()
    expect(predict.get_by_text("none of them has to")).to_be_visible()
    predict.get_by_text("What would enforce it").click()
    expect(predict.get_by_text("conserves momentum for every input")).to_be_visible()


def test_on_paper_every_answer_is_there_and_nothing_to_press(page: Page, site: str) -> None:
    visit(page, site, "2026-03-01T12:00:00+01:00")
    press(recall(page), "Answer from memory")
    page.emulate_media(media="print")
    for element in page.locator("ferro-recall, ferro-predict").all():
        for details in element.locator("details").all():
            expect(details.locator("summary + *")).to_be_visible()
        expect(element.get_by_role("button")).to_have_count(0)
        expect(element.get_by_role("textbox")).to_have_count(0)
    expect(page.locator("ferro-deck")).to_be_hidden()
