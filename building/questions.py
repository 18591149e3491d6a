"""Whether a question in the lesson has all that it needs: `<ferro-recall>` and `<ferro-predict>`.

Both begin with a heading and the question. What may not be seen at once stands in a `<details>`: the model answer, or a
choice with its reasoning and what follows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

HEADINGS = {"h2", "h3", "h4"}


@dataclass
class Details:
    """One `<details>` right inside a question: its attributes, and what can be read in it."""

    given: dict[str, str | None]
    summary: str = ""
    text: str = ""


@dataclass
class Question:
    """A question's parts, gathered while it is being read."""

    tag: str
    given: dict[str, str | None]
    line: int
    heading: str = ""
    text: str = ""
    details: list[Details] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)  # elements that decide where a text belongs

    def start(self, tag: str, given: dict[str, str | None]) -> None:
        """An element begins in it."""
        if tag == "details" and "details" not in self._open:
            self.details.append(Details(given))
        if tag in HEADINGS | {"details", "summary"}:
            self._open.append(tag)

    def end(self, tag: str) -> None:
        """An element ends in it."""
        if tag in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(tag) :]

    def read(self, text: str) -> None:
        """A text in it."""
        if "summary" in self._open and self.details:
            self.details[-1].summary += text.strip()
        elif "details" in self._open:
            self.details[-1].text += text.strip()
        elif self._open:
            self.heading += text.strip()
        else:
            self.text += text.strip()

    def problems(self) -> Iterator[str]:
        """What is missing or too much, in sentences."""
        what = f"the <{self.tag}> {self.given.get('name')!r}"
        if not self.heading:
            yield f"{what} has no heading, by which lists name it"
        if not self.text:
            yield f"{what} has no question before its answer"
        if any(not details.summary or not details.text for details in self.details):
            yield f"{what} has a <details> without a <summary> or without a text after it"
        yield from (self._problems_of_choices(what) if self.tag == "ferro-predict" else self._problems_of_answer(what))

    def _problems_of_answer(self, what: str) -> Iterator[str]:
        if len(self.details) != 1:
            yield f"{what} has {len(self.details)} <details>; one holds the model answer"

    def _problems_of_choices(self, what: str) -> Iterator[str]:
        choices = [details.given for details in self.details if "data-choice" in details.given]
        names = {given["data-choice"] for given in choices}
        if not 2 <= len(choices) <= 4:
            yield f'{what} has {len(choices)} <details data-choice="…">; two to four are the choices'
        elif len(names) < len(choices) or not all(names):
            yield f"{what} has choices that share a name or have none"
        if sum("data-right" in given for given in choices) != 1:
            yield f"{what} needs the attribute data-right on exactly one choice"
        if len(self.details) - len(choices) != 1:
            yield f"{what} needs one <details> without data-choice, for what follows"
