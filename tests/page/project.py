"""The learner's own project as a person meets it: by the names that the design promises."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.page.bench import START_UP


class Project:
    """The ``<ferro-project>`` on a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.element = page.locator("ferro-project")
        self.status = self.element.get_by_role("status")
        self.alert = self.element.get_by_role("alert")

    def button(self, name: str) -> Locator:
        return self.element.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        self.button(name).click()

    def give(self, name: str, content: str | bytes) -> None:
        """Choose a file of that content."""
        raw = content.encode() if isinstance(content, str) else content
        self.element.locator("input[type=file]").set_input_files(
            {"name": name, "mimeType": "text/csv", "buffer": raw},
        )

    def field(self, key: str) -> Locator:
        return self.element.locator(f'[data-key="{key}"]')

    def refusal(self, field: str) -> Locator:
        return self.element.locator(f'[data-field="{field}"] .project-refusal')

    def expect_state(self, *states: str, timeout: float = START_UP) -> None:
        expect(self.element).to_have_attribute("data-state", re.compile(f"^({'|'.join(states)})$"), timeout=timeout)

    def fit(self) -> None:
        """Fit, to the end."""
        self.press("Fit")
        self.expect_state("fitted", "not-yet", "failed")

    def download(self, button: str) -> tuple[str, str]:
        """The name and the text of what a button saves."""
        with self.page.expect_download() as saved:
            self.press(button)
        return saved.value.suggested_filename, Path(saved.value.path()).read_text("utf-8")
