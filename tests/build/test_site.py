"""What `make build` left in dist/: whole, consistent with itself, and the same bytes each time."""

import asyncio
import hashlib
import html
import importlib.util
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from building.commands import ROOT
from ferro_bench import Session, figures, names

DIST = ROOT / "dist"
SECTIONS = ["challenge", "model", "practice", "feedback", "retrieve", "mastery"]

pytestmark = pytest.mark.usefixtures("built")


class Page(HTMLParser):
    """The elements of a page, each with its attributes and, for scripts, its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attributes}))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            given = self.elements[-1][1]
            given["text"] = given.get("text", "") + data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [given for name, given in self.elements if name == tag]

    def values(self, *attributes: str) -> list[str]:
        return [given[name] for _, given in self.elements for name in attributes if name in given]


@pytest.fixture(scope="module")
def built() -> Path:
    if not (DIST / "index.html").is_file():
        pytest.fail("There is no dist/index.html: build the site first (make build).")
    return DIST


@pytest.fixture(scope="module")
def source(built: Path) -> str:
    return (built / "index.html").read_text("utf-8")


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


@pytest.fixture(scope="module")
def config(page: Page) -> dict[str, Any]:
    (script,) = [script for script in page.all("script") if script.get("id") == "ferro-runtime-config"]
    return json.loads(script["text"])


@pytest.fixture(scope="module")
def descriptions(page: Page) -> dict[str, dict[str, Any]]:
    """What the page knows of each bench on it, by name."""
    found = [json.loads(script["text"]) for script in page.all("script") if script.keys() == {"type", "text"}]
    return {described["bench"]: described for described in found if described.get("kind") == "description"}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Addresses


def test_the_page_refers_only_to_its_own_files(page: Page) -> None:
    addresses = [address for address in page.values("href", "src") if not urlsplit(address).scheme]
    files = [address for address in addresses if address and not address.startswith("#")]
    assert len(files) >= 3
    for address in files:
        assert not address.startswith("/"), "an absolute path fails where the site lies under a sub-path"
        assert (DIST / address).is_file(), address


def test_whatever_leaves_the_site_is_a_link_over_https(page: Page) -> None:
    outside = [
        (tag, value)
        for tag, given in page.elements
        for name, value in given.items()
        if name != "text" and name != "xmlns" and re.match(r"\s*(\w+:)?//", value)
    ]
    assert outside
    assert all(tag == "a" and address.startswith("https://") for tag, address in outside)


def test_every_link_of_the_lesson_is_on_the_page(page: Page) -> None:
    written = Page((ROOT / "lesson.html").read_text("utf-8"))
    links = [given["href"] for given in written.all("a")]
    assert any(link.startswith("https://") for link in links)
    links = [link for link in links if link.startswith(("https://", "#"))]
    assert set(links) <= {given["href"] for given in page.all("a")}


def test_ids_are_unique_and_every_reference_finds_one(page: Page) -> None:
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    anchors = {address[1:] for address in page.values("href") if address.startswith("#")} - {""}
    references = " ".join(page.values("for", "aria-labelledby", "aria-describedby")).split()
    assert anchors | set(references) <= set(ids)


def test_every_asset_bears_a_hash_in_its_name() -> None:
    assets = [path.name for path in (DIST / "assets").iterdir()]
    assert assets
    for name in assets:
        assert re.fullmatch(r"[a-z-]+-([0-9a-f]{8}|[0-9A-Z]{8})\.\w+", name), name
    assert {path.name for path in DIST.iterdir() if path.suffix} == {"index.html"}


def test_no_asset_is_left_over(source: str, config: dict[str, Any], descriptions: dict[str, Any]) -> None:
    named = {config["worker"], config["editor"], *(description["recording"] for description in descriptions.values())}
    for path in (DIST / "assets").iterdir():
        address = path.relative_to(DIST).as_posix()
        assert address in named or f'"{address}"' in source, address


# The page


def test_nothing_inline_but_data(page: Page) -> None:
    for script in page.all("script"):
        assert ("src" in script and "text" not in script) or script["type"] == "application/json"
    assert not page.all("style")
    for tag, given in page.elements:
        assert not [name for name in given if name == "style" or name.startswith("on")], (tag, given)


def test_the_lesson_has_its_sections_in_order(page: Page) -> None:
    ids = [section["id"] for section in page.all("section") if "id" in section]
    assert ids == [*SECTIONS, "reading"]


def test_every_element_of_the_lesson_is_filled(source: str) -> None:
    for name in ("ferro-bench", "ferro-value", "ferro-source", "ferro-math"):
        contents = re.findall(rf"<{name}\b[^>]*>(.*?)</{name}>", source, re.DOTALL)
        assert contents
        assert all(contents), f"a <{name}> is empty"
    for formula in re.findall(r"<ferro-math\b[^>]*>(.*?)</ferro-math>", source, re.DOTALL):
        assert formula.startswith("<math ")
        assert "\\" not in formula


def test_data_and_first_prediction_are_drawn_before_any_script(
    page: Page, source: str, descriptions: dict[str, dict[str, Any]]
) -> None:
    assert descriptions
    panels = sum(len(description["panels"]) for description in descriptions.values())
    assert len(page.all("svg")) == panels + sum(len(figures.load(name).draw().panels) for name in figures.names())
    lead = source.partition("<ferro-bench ")[2].partition("<svg ")[2].partition("</svg>")[0]
    assert 'role="img"' in lead.partition(">")[0]
    roles = set(re.findall(r'class="([\w -]*)"', lead))
    assert any("measured" in role for role in roles)
    assert any("predicted" in role for role in roles)


def test_live_numbers_are_those_of_the_description(source: str, descriptions: dict[str, dict[str, Any]]) -> None:
    shown = re.findall(r'<ferro-value bench="(\w+)" name="(\w+)">([^<]*)</ferro-value>', source)
    assert shown
    for bench, name, text in shown:
        assert text == descriptions[bench]["values"][name]


# The runtime


def test_the_config_describes_the_files_as_they_are(config: dict[str, Any]) -> None:
    assert (DIST / config["worker"]).is_file()
    assert re.fullmatch(r"runtime-[0-9a-f]{8}/", config["base"])
    for file in config["files"]:
        path = DIST / config["base"] / file["name"]
        assert (path.stat().st_size, sha256(path)) == (file["bytes"], file["sha256"]), file["name"]


def test_the_page_loads_all_it_needs_and_nothing_else(config: dict[str, Any]) -> None:
    folder = DIST / config["base"]
    listed = {file["name"] for file in config["files"]}
    assert {"pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"} < listed
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
    assert {lock["packages"][name]["file_name"] for name in config["packages"]} < listed
    assert {path.name for path in folder.iterdir()} - listed == {lock["packages"]["micropip"]["file_name"]}


def test_the_lock_lists_the_packages_as_they_are(config: dict[str, Any]) -> None:
    folder = DIST / config["base"]
    packages = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))["packages"]
    assert packages.keys() == {"numpy", "micropip", "ferro-bench"}
    for name, package in packages.items():
        assert package["name"] == name
        assert package["file_name"].startswith(f"{name.replace('-', '_')}-{package['version']}-")
        assert package["sha256"] == sha256(folder / package["file_name"])
    assert packages["ferro-bench"]["depends"] == ["numpy"]


# The recorded runs


def test_every_bench_is_on_the_page(descriptions: dict[str, Any]) -> None:
    assert sorted(descriptions) == sorted(names())


def test_every_figure_is_on_the_page_with_its_answer_in_words(page: Page, source: str) -> None:
    assert sorted(given["name"] for given in page.all("ferro-figure")) == figures.names()
    for name in figures.names():
        _, _, inside = source.partition(f'<ferro-figure name="{name}">')
        caption = html.unescape(inside.partition("</figcaption>")[0])
        assert figures.load(name).question in caption and figures.load(name).draw().caption in caption


@pytest.mark.parametrize("name", names())
def test_the_recorded_run_is_the_native_run(name: str, descriptions: dict[str, dict[str, Any]]) -> None:
    run = json.loads((DIST / descriptions[name]["recording"]).read_text("utf-8"))
    settings = {control["key"]: control["default"] for control in descriptions[name]["controls"]}
    session = Session()
    assert_close(run["opened"], ask(session, kind="open", run="again", bench=name, settings=settings))
    for advanced in run["advanced"]:
        assert_close(advanced, ask(session, kind="advance", run="again", steps=1))
    results = [advanced["result"] for advanced in run["advanced"]]
    assert results[:-1] == [None] * (len(results) - 1)
    assert results[-1]["state"] == "passed"
    assert results[-1]["sentence"].startswith("PASS")
    assert results[-1]["checks"]
    assert all(check["passed"] for check in results[-1]["checks"])


def ask(session: Session, **request: Any) -> Any:
    return json.loads(asyncio.run(session.answer(json.dumps(request))))


def assert_close(found: Any, expected: Any) -> None:
    """The same structure and words, and numbers that differ by 1e-6 at most."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_close(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
    else:
        assert found == expected


# The build


def test_another_build_in_another_place_gives_the_same_bytes(tmp_path: Path) -> None:
    again = tmp_path / "again"
    program = "import sys; from pathlib import Path; import build; build.main(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", program, again], cwd=ROOT, check=True, capture_output=True)
    assert files(again) == files(DIST), "dist/ is not what these sources give: make build"


def test_a_build_leaves_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("site_build", ROOT / "build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "dist" / "assets").mkdir(parents=True)
    (tmp_path / "dist" / "assets" / "main-OLD.js").touch()
    module.start_from_scratch(tmp_path / "dist")
    assert not list((tmp_path / "dist").iterdir())


def files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): sha256(path) for path in folder.rglob("*") if path.is_file()}
