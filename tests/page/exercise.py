"""An exercise as a person meets it: by the names that the design promises."""

import re

from playwright.sync_api import Locator, Page, expect

from ferro_bench import exercises
from tests.page.bench import START_UP


class Exercise:
    """One ``<ferro-exercise>`` on a page."""

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self.name = name
        self.element = page.locator(f'ferro-exercise[name="{name}"]')
        self.status = self.element.get_by_role("status")
        self.output = self.element.locator(".exercise-output")
        self.editor = self.element.get_by_role("textbox")

    @property
    def solution(self) -> str:
        return exercises.load(self.name).solution

    @property
    def starter(self) -> str:
        return exercises.load(self.name).starter

    @property
    def text(self) -> str:
        return str(self.element.evaluate("element => element.source"))

    def write(self, text: str) -> None:
        """Put a text in place of what is in the cell, as if it were pasted."""
        self.editor.focus()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(text)

    def button(self, name: str) -> Locator:
        return self.element.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        self.button(name).click()

    def expect_state(self, *states: str) -> None:
        pattern = re.compile(f"^({'|'.join(states)})$")
        expect(self.element).to_have_attribute("data-state", pattern, timeout=START_UP)

    def run(self, text: str) -> None:
        """Run a text to its end."""
        self.write(text)
        self.press("Run")
        self.expect_state("idle", "stopped")

    def checks(self, result: str) -> Locator:
        """The rows of the last verdict with that result."""
        return self.element.get_by_role("table").get_by_role("row").filter(has_text=result)
