"""Renders `lesson.html` into the page: fills every custom element, checks every link, and refuses what would not work.

The source is not parsed into a tree and written out again; the text stays as its author wrote it, and only what has to
change is replaced in place. Every problem is collected with its line, so that an author sees them all at once.
"""

import ast
import html
import importlib
import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from building.assets import copy_hashed
from building.commands import ROOT
from building.questions import Question

Attributes = dict[str, str | None]

# Attributes by which a page fetches something, as opposed to a link that a reader may follow.
FETCHING = {"src", "srcset", "poster", "data", "background", "action", "formaction", "manifest", "ping", "imagesrcset"}
# Elements that the page's own scripts draw when the page is built.
FILLED = ("bench", "exercise", "figure", "project", "speed")
# Elements in which the author writes a question, unlike those that the build fills.
QUESTIONS = ("ferro-recall", "ferro-predict")
# Elements whose href a reader follows; on any other, such as link, base or an image in SVG, it is fetched.
FOLLOWED = {"a", "area"}
ELSEWHERE = re.compile(r"\s*(https?:|//)", re.IGNORECASE)
# In a script or a style: with its scheme, or without one in quotes or in url().
ADDRESS = re.compile(r"""(?:\b(?:https?|wss?)://|(?<=["'`])//|(?<=url\()//)[^\s"'`)]+""", re.IGNORECASE)


class LessonError(Exception):
    """The lesson cannot be built; the message lists each problem with file and line."""


@dataclass(frozen=True)
class Site:
    """What the lesson may refer to.

    Attributes:
        dist: where the site is being built.
        bundled: source path of each bundled asset -> its address.
        benches: name -> description, for every bench.
        markup: kind of element (bench, exercise, figure, project, speed) -> name -> HTML inside the element.
        config: what the page's scripts need to know of this build.
    """

    dist: Path
    bundled: Mapping[str, str]
    benches: Mapping[str, dict[str, Any]]
    markup: Mapping[str, Mapping[str, str]]
    config: Mapping[str, Any]


def render(lesson: Path, site: Site) -> str:
    """Return the finished page.

    Raises:
        LessonError: at an unknown element, bench, value or source name, a dead relative link, anything inline, or an
            address from which the built page would fetch from another host.
    """
    source = lesson.read_text("utf-8")
    reader = _Reader(source, lesson.name, site)
    reader.feed(source)
    reader.close()
    for line, anchor in reader.anchors:
        if anchor not in reader.ids:
            reader.problem(line, f"the link #{anchor} leads to no id on this page")
    for line, name in reader.recalled:
        if ("recall", name) not in reader.placed:
            reader.problem(line, f"there is no <ferro-recall name={name!r}> on this page")
    if reader.question:
        reader.problem(reader.question.line, f"this <{reader.question.tag}> is not closed")
    end_of_body = source.rfind("</body>")
    if end_of_body < 0:
        reader.problem(source.count("\n") + 1, "there is no </body>, where the build puts what the scripts need")
    if reader.problems:
        raise LessonError("\n".join(reader.problems))
    config = json.dumps(site.config, separators=(",", ":")).replace("<", "\\u003c")
    script = f'<script type="application/json" id="ferro-runtime-config">{config}</script>\n'
    page = source
    for begin, end, text in sorted([*reader.edits, (end_of_body, end_of_body, script)], reverse=True):
        page = page[:begin] + text + page[end:]
    return page


def check_sources(folder: Path) -> None:
    """Refuse scripts and styles that name another host.

    Raises:
        LessonError: with file and line of each address.
    """
    problems = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".js", ".css", ".svg"}:
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                # A namespace looks like an address and is never fetched.
                for address in ADDRESS.findall(line.replace("http://www.w3.org/", "")):
                    problems.append(f"{path.relative_to(folder.parent)}:{number}: {address} is on another host")
    if problems:
        raise LessonError("\n".join(problems))


class _Reader(HTMLParser):
    """Walks the source once, and notes what to replace and what is wrong."""

    def __init__(self, source: str, name: str, site: Site) -> None:
        super().__init__(convert_charrefs=False)
        self._name = name
        self._site = site
        self._source = source
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", source))]
        self._formula: tuple[int, Attributes] | None = None
        self.placed: set[tuple[str, str]] = set()
        self.recalled: list[tuple[int, str]] = []
        self.question: Question | None = None
        self.edits: list[tuple[int, int, str]] = []
        self.problems: list[str] = []
        self.ids: set[str] = set()
        self.anchors: list[tuple[int, str]] = []
        self._fill: dict[str, Callable[[Attributes], str]] = {
            **{f"ferro-{kind}": self._filled(kind) for kind in FILLED},
            **dict.fromkeys(("ferro-work", "ferro-due", "ferro-deck", "ferro-rail"), lambda given: ""),
            "ferro-value": self._value,
            "ferro-source": self._listing,
            "ferro-program": self._program,
        }

    def problem(self, line: int, sentence: str) -> None:
        self.problems.append(f"{self._name}:{line}: {sentence}")

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        line = self.getpos()[0]
        begin, end = self._offset(), self._offset() + len(self.get_starttag_text() or "")
        self._refuse_in_formula(tag)
        self._check(tag, given, line, begin, end)
        if identity := given.get("id"):
            self._take_id(identity, line)
        if self.question:
            self.question.start(tag, given)
        if tag == "ferro-math":
            self._formula = (end, given)
        elif fill := self._fill.get(tag):
            try:
                self.edits.append((end, end, fill(given)))
            except LookupError as error:
                self.problem(line, str(error.args[0]))
        elif tag in QUESTIONS:
            self._begin_question(tag, given, line, end)
        elif tag.startswith("ferro-"):
            known = [*self._fill, *QUESTIONS, "ferro-math"]
            self.problem(line, f"there is no element <{tag}>; there is {', '.join(known)}")

    def handle_endtag(self, tag: str) -> None:
        if self.question:
            self.question.end(tag)
            if tag == self.question.tag:
                self._end_question(self.question)
        if tag == "ferro-math" and self._formula:
            begin, given = self._formula
            self._formula = None
            end = self._offset()
            latex = html.unescape(self._source[begin:end])
            display = "block" if "display" in given else "inline"
            try:
                formula = convert(latex, display=display)
                if unknown := re.search(r"\\\w+", formula):  # a command that the converter does not know stays as it is
                    raise ValueError(f"there is no command {unknown[0]}")
                if display == "block":  # it scrolls where it is too wide, and so has to be reachable by keyboard
                    formula = formula.replace("<math ", '<math tabindex="0" ', 1)
                self.edits.append((begin, end, formula))
            except Exception as error:
                reason = str(error) or type(error).__name__
                self.problem(self.getpos()[0], f"the formula {' '.join(latex.split())} could not be read ({reason})")

        else:
            self._refuse_in_formula(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if self.question:
            self.question.read(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def _take_id(self, identity: str, line: int) -> None:
        if identity in self.ids:
            self.problem(line, f"the id {identity!r} is used twice")
        self.ids.add(identity)

    # Questions

    def _begin_question(self, tag: str, given: Attributes, line: int, end: int) -> None:
        kind, name = tag.removeprefix("ferro-"), given.get("name") or ""
        if self.question:
            self.problem(line, f"<{tag}> stands in a <{self.question.tag}> that is not closed")
        if not re.fullmatch("[a-z0-9-]+", name):
            self.problem(line, f"<{tag}> needs a name, of small letters, digits and hyphens")
        elif (kind, name) in self.placed:
            self.problem(line, f"the {kind} {name!r} stands on this page already; two would share their answers")
        elif "id" not in given:  # so that a link leads to it, by what is known of it
            self._take_id(f"{kind}-{name}", line)
            self.edits.append((end - 1, end - 1, f' id="{kind}-{name}"'))
        self.placed.add((kind, name))
        if recalled := given.get("recall"):
            self.recalled.append((line, recalled))
        self.question = Question(tag, given, line)

    def _end_question(self, question: Question) -> None:
        self.question = None
        for sentence in question.problems():
            self.problem(question.line, sentence)

    # Formulas

    def _refuse_in_formula(self, tag: str) -> None:
        if self._formula:
            self._formula = None
            self.problem(self.getpos()[0], f"there is <{tag}> in a formula: close that before, or write &lt; for <")

    # Links

    def _check(self, tag: str, given: Attributes, line: int, begin: int, end: int) -> None:
        if tag == "style" or (tag == "script" and "src" not in given):
            self.problem(line, f"an inline <{tag}> is refused by a strict policy; put it into a file under site/")
        for name, value in given.items():
            if name == "style" or name.startswith("on"):
                self.problem(line, f"the inline attribute {name} is refused by a strict policy")
            links = name in {"href", "xlink:href"}
            fetches = name in FETCHING or (links and tag not in FOLLOWED)
            if fetches and ELSEWHERE.match(value or ""):
                self.problem(line, f"{name}={value!r} would make the page fetch from another host")
            elif (fetches or links) and value is not None:
                self._follow(name, value, line, begin, end)

    def _follow(self, name: str, address: str, line: int, begin: int, end: int) -> None:
        if re.match(r"(https?|mailto):", address):
            return
        path, _, anchor = address.partition("#")
        if not path:
            if anchor:
                self.anchors.append((line, anchor))
            return
        if path in self._site.bundled:
            built = self._site.bundled[path]
        elif path.startswith("site/") and (ROOT / path).is_file():
            built = copy_hashed(ROOT / path, self._site.dist)
        elif self._is_in_site(path):
            return
        else:
            self.problem(line, f"the link {name}={address!r} leads nowhere")
            return
        written = re.search(rf'\s{name}\s*=\s*"({re.escape(address)})"', self._source[begin:end], re.IGNORECASE)
        if not written:
            self.problem(line, f"write {name}={address!r} in double quotes and plain characters")
            return
        self.edits.append((begin + written.start(1), begin + written.end(1), built))

    def _is_in_site(self, path: str) -> bool:
        dist = self._site.dist.resolve()
        target = (dist / path).resolve()
        return target.is_file() and target.is_relative_to(dist)

    # Elements

    def _filled(self, kind: str) -> Callable[[Attributes], str]:
        """What fills an element of a kind; one without a name bears its kind's."""

        def fill(given: Attributes) -> str:
            markup, name = self._site.markup.get(kind, {}), given.get("name")
            if kind in markup:
                name = kind
            if name is None or name not in markup:
                raise LookupError(f"there is no {kind} {name!r}; there is {', '.join(markup)}")
            if (kind, name) in self.placed:
                raise LookupError(f"the {kind} {name!r} stands on this page already; two would share ids and state")
            self.placed.add((kind, name))
            return markup[name]

        return fill

    def _value(self, given: Attributes) -> str:
        values = self._described(given.get("bench"))["values"]
        if given.get("name") not in values:
            raise LookupError(f"there is no value {given.get('name')!r} on this bench; there is {', '.join(values)}")
        return html.escape(values[given["name"]])

    def _described(self, name: str | None) -> Mapping[str, Any]:
        if name is None or name not in self._site.benches:
            raise LookupError(f"there is no bench {name!r}; there is {', '.join(self._site.benches)}")
        return self._site.benches[name]

    def _listing(self, given: Attributes) -> str:
        name = given.get("name") or ""
        try:
            code = _without_docstring(inspect.getsource(_find(name)))
        except TypeError:
            raise LookupError(f"{name!r} is a value, which has no source; name a function or a class") from None
        return _coloured(code)

    def _program(self, given: Attributes) -> str:
        """One function of a bench's compiled program."""
        source = self._described(given.get("bench"))["program"]
        parts = {part.name: part for part in ast.parse(source).body if isinstance(part, ast.FunctionDef)}
        if given.get("part") not in parts:
            raise LookupError(f"the program has no part {given.get('part')!r}; there is {', '.join(parts)}")
        return _coloured((ast.get_source_segment(source, parts[given["part"] or ""]) or "") + "\n")

    def _offset(self) -> int:
        line, column = self.getpos()
        return self._line_starts[line - 1] + column


def _coloured(code: str) -> str:
    coloured = highlight(code, PythonLexer(), HtmlFormatter(nowrap=True, classprefix="py-"))
    return f'<pre tabindex="0"><code>{coloured}</code></pre>'  # focusable, so that the keyboard can scroll it


def _without_docstring(code: str) -> str:
    """The text of one function or class without its docstring: the lesson's prose stands beside it."""
    (definition,) = ast.parse(code).body
    first = definition.body[0] if isinstance(definition, ast.FunctionDef | ast.ClassDef) else None
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        return code
    lines = code.splitlines(keepends=True)
    return "".join(lines[: first.lineno - 1] + lines[first.end_lineno :])


def _find(name: str) -> Any:
    """The function, class or module of a dotted name in the package."""
    module_name, _, attribute = name.rpartition(".")
    try:
        if not name.startswith("ferro_bench."):
            raise ImportError
        return getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError):
        raise LookupError(f"there is no source {name!r}; name a function as ferro_bench.module.function") from None
