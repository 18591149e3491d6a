"""The guide for authors is true: its examples build, train and grade, and slips are told as it says."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from building.commands import ROOT

GUIDE = (ROOT / "docs" / "authoring.md").read_text("utf-8")
EXAMPLES = re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
BENCH, EXERCISE = "incubator", "balance"
BENCH_MODULE, EXERCISE_MODULE = (
    f"src/ferro_bench/benches/{BENCH}.py",
    f"src/ferro_bench/exercises/{EXERCISE}.py",
)
SLIPS = re.findall(r"^\| `(<.+>)` \| `(.+)` \|$", GUIDE, re.MULTILINE)

# A build needs these; the sweeps need the tests of the package and the settings of the tools.
SOURCES = ("src", "site", "building", "tests/unit", "build.py", "lesson.html", "pyproject.toml", "runtime.toml")
SOURCES += ("package.json", "README.md", "LICENSE")
DOWNLOADED = ("node_modules", ".cache")


def copy(folder: Path) -> Path:
    """The repository as an author has it before the change; what was downloaded is shared."""
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    for name in DOWNLOADED:
        (folder / name).symlink_to(ROOT / name)
    return folder


def python(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy, with the package that lies there."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def write_into_lesson(folder: Path, text: str) -> int:
    """Put text at the end of the lesson's main part; return the number of its first line."""
    lesson = folder / "lesson.html"
    before, end, after = lesson.read_text("utf-8").partition("</main>\n")
    assert end
    lesson.write_text(before + text + end + after, "utf-8")
    return before.count("\n") + 1


def refused(folder: Path) -> list[str]:
    """Build, and return the lines in which the build says why it did not."""
    done = python(folder, "build.py")
    assert done.returncode == 1, done.stdout
    assert not (folder / "dist" / "index.html").exists()
    return done.stderr.splitlines()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which an author has done what the guide says."""
    folder = copy(tmp_path_factory.mktemp("authored"))
    for path, text in EXAMPLES:
        if path == "lesson.html":
            write_into_lesson(folder, text)
        else:
            assert not (folder / path).exists(), "the guide's example has to be a new one"
            (folder / path).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def dist(written: Path) -> Path:
    """What is built from it."""
    done = python(written, "build.py")
    assert done.returncode == 0, done.stderr
    return written / "dist"


@pytest.fixture(scope="module")
def page(dist: Path) -> str:
    return (dist / "index.html").read_text("utf-8")


def inside(page: str, tag: str) -> str:
    """What the build has put into the element with that start tag."""
    found = re.findall(rf"<{tag}>(.*?)</{tag.split()[0]}>", page, re.DOTALL)
    assert len(found) == 1, f"<{tag}> is on the page {len(found)} times"
    return found[0]


def description(markup: str) -> dict[str, Any]:
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', markup, re.DOTALL)
    return json.loads(data)


# The examples


def test_the_guide_has_one_complete_example_of_each() -> None:
    assert [path for path, _ in EXAMPLES] == [BENCH_MODULE, "lesson.html", EXERCISE_MODULE, "lesson.html"]


def test_the_bench_is_on_the_page_with_its_pictures_and_a_recorded_run_that_passes(page: str, dist: Path) -> None:
    markup = inside(page, f'ferro-bench name="{BENCH}"')
    described = description(markup)
    assert described["bench"] == BENCH
    assert markup.count("<svg ") == len(described["panels"]) > 0
    for control in described["controls"]:
        assert control["name"] in markup
    run = json.loads((dist / described["recording"]).read_text("utf-8"))
    assert run["advanced"][-1]["result"]["state"] == "passed"


def test_what_the_prose_quotes_of_the_bench_is_filled_in(page: str) -> None:
    values = description(inside(page, f'ferro-bench name="{BENCH}"'))["values"]
    quoted = re.findall(rf'<ferro-value bench="{BENCH}" name="(\w+)">(.*?)</ferro-value>', page)
    assert quoted
    for name, text in quoted:
        assert text == values[name]
    listing = inside(page, f'ferro-source name="ferro_bench.benches.{BENCH}.rates"')
    assert '<span class="py-nf">rates</span>' in listing
    (example,) = re.findall(r"<ferro-math display>(.*)</ferro-math>", dict(EXAMPLES[:2])["lesson.html"])
    assert example not in page
    assert "<mi>P</mi>" in page


def test_the_exercise_is_on_the_page_with_its_cell(page: str) -> None:
    markup = inside(page, f'ferro-exercise name="{EXERCISE}"')
    described = description(markup)
    assert described["exercise"] == EXERCISE
    (cell,) = re.findall(r"<textarea\b[^>]*>(.*?)</textarea>", markup, re.DOTALL)
    assert html.unescape(cell) == described["starter"]
    assert described["title"] in markup
    assert described["checks"] and described["hints"]


def test_the_wheel_that_the_tab_loads_has_both(dist: Path) -> None:
    (wheel,) = dist.glob("runtime-*/ferro_bench-*.whl")
    files = set(zipfile.ZipFile(wheel).namelist())
    assert {path.removeprefix("src/") for path in (BENCH_MODULE, EXERCISE_MODULE)} <= files


def test_the_sweeps_find_the_examples_and_hold(written: Path) -> None:
    sweeps = [f"tests/unit/test_{name}.py" for name in ("benches", "exercises", "imports")]
    chosen = f"{BENCH} or {EXERCISE} or no_script_knows_a_bench"
    swept = python(written, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist", *sweeps, "-k", chosen)
    assert swept.returncode == 0, swept.stdout
    passed = re.findall(r"::(.+?) PASSED", swept.stdout)
    assert {
        f"test_the_defaults_train_to_a_pass[{BENCH}]",
        f"test_the_start_does_not_pass[{BENCH}]",
        f"test_the_starter_runs_and_does_not_pass[{EXERCISE}]",
        f"test_the_solution_passes_and_the_words_say_on_what[0-{EXERCISE}]",
        f"test_a_module_imports_only_from_layers_below_its_own[benches/{BENCH}.py]",
        f"test_a_module_imports_only_from_layers_below_its_own[exercises/{EXERCISE}.py]",
    } <= set(passed)
    recognised = [test for test in passed if test.startswith("test_a_wrong_answer_gets_its_own_hint[0-")]
    assert len(recognised) == dict(EXAMPLES)[EXERCISE_MODULE].count("WrongAnswer(") > 0


@pytest.mark.parametrize("tool", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_the_examples_pass_what_every_source_has_to(written: Path, tool: list[str]) -> None:
    done = python(written, "-m", *tool, BENCH_MODULE, EXERCISE_MODULE)
    assert done.returncode == 0, done.stdout


# What is refused


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Each of the guide's slips, and what the build says of the line in which it stands."""
    folder = copy(tmp_path_factory.mktemp("slips"))
    first = write_into_lesson(folder, "".join(f"{slip}\n" for slip, _ in SLIPS))
    problems = refused(folder)
    assert len(problems) == len(SLIPS), problems
    said = dict(problem.split(": ", 1) for problem in problems)
    return {slip: said.get(f"lesson.html:{line}", "") for line, (slip, _) in enumerate(SLIPS, first)}


@pytest.mark.parametrize(("slip", "sentence"), SLIPS)
def test_a_slip_is_told_as_the_guide_says(told: dict[str, str], slip: str, sentence: str) -> None:
    assert re.fullmatch(".+".join(map(re.escape, sentence.split("…"))), told[slip]), told[slip]


def test_the_guide_lists_the_elements_that_there_are(told: dict[str, str]) -> None:
    elements = told["<ferro-quiz></ferro-quiz>"].partition("; there is ")[2].split(", ")
    listed = re.findall(r"^\| `<(ferro-\w+)[^|]*` \| [^`]", GUIDE, re.MULTILINE)
    assert sorted(listed) == sorted(elements)


def test_an_exercise_whose_module_is_gone_is_told_in_the_line_of_its_tag(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    tag = '<ferro-exercise name="training"></ferro-exercise>'
    (line,) = (n for n, text in enumerate((folder / "lesson.html").read_text("utf-8").splitlines(), 1) if tag in text)
    (folder / "src" / "ferro_bench" / "exercises" / "training.py").unlink()
    (told,) = refused(folder)
    assert told.startswith(f"lesson.html:{line}: there is no exercise 'training'; there is plant, rollout, loss")
