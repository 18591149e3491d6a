"""A bench as a person or a screen reader meets it: by the names that the design promises."""

import re

from playwright.sync_api import Locator, Page, expect

START_UP = 60_000  # milliseconds; Python takes a few seconds, more on a busy machine


class Bench:
    """One ``<ferro-bench>`` on a page."""

    def __init__(self, page: Page, name: str = "friction") -> None:
        self.page = page
        self.element = page.locator(f'ferro-bench[name="{name}"]')
        self.status = self.element.get_by_role("status")

    def button(self, name: str) -> Locator:
        return self.element.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        self.button(name).click()

    def field(self, name: str) -> Locator:
        """The text field of a control."""
        return self.element.get_by_role("textbox", name=re.compile(name))

    def set(self, name: str, value: str) -> None:
        self.field(name).fill(value)
        self.field(name).press("Enter")

    def checks(self, result: str) -> Locator:
        """The rows of the verdict with that result."""
        return self.element.get_by_role("table", name="What PASS asks for").get_by_role("row").filter(has_text=result)

    def press_at_once(self, *names: str) -> None:
        """Press several buttons within one task, faster than any hand."""
        self.element.evaluate(
            """(element, names) => {
              for (const name of names)
                [...element.querySelectorAll("button")].find((button) => button.textContent === name).click();
            }""",
            list(names),
        )

    def expect_state(self, *states: str) -> None:
        expect(self.element).to_have_attribute("data-state", re.compile("|".join(states)), timeout=START_UP)

    def value(self, name: str) -> str:
        """A live number as it stands beside the panels."""
        return self.element.locator(f'ferro-value[name="{name}"]').inner_text()

    def wait_ready(self) -> None:
        expect(self.page.locator("html")).to_have_attribute("data-runtime", "ready", timeout=START_UP)

    def column(self, panel: int, column: int) -> list[float]:
        """One column of a panel's table, opened for the purpose."""
        place = self.element.locator("ferro-panel").nth(panel)
        details = place.locator("details")
        if details.get_attribute("open") is None:
            place.get_by_text("Show as table").click()
        cells = place.locator(f"tbody td:nth-child({column})").all_inner_texts()
        return [number(cell) for cell in cells if cell]


def number(text: str) -> float:
    """A number as the page writes it: with a real minus sign and a power of ten."""
    match = re.match(r"(−?[\d.,]+)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text)
    assert match, f"{text!r} does not begin with a number"
    exponent = (match[2] or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(match[1].replace("−", "-").replace(",", "")) * 10 ** int(exponent)
