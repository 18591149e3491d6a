"""Who may import whom, read from the sources, so that the drawing in the design cannot drift from the code."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ferro_bench
from ferro_bench import benches

PACKAGE = Path(ferro_bench.__file__).parent
SITE = Path(__file__).parents[2] / "site"

# Python ----------------------------------------------------------------------------------------------------------

LAYERS = [
    {"gradient"},
    {"dataset", "plant", "quantity", "control", "panel"},
    {"solvers", "rollout", "compiled", "loss", "optimizer"},
    {"problem", "uncertainty"},
    {"identify"},
    {"verdict", "table", "drag"},
    {"bench", "exercise", "cell", "figure"},
    {"benches", "exercises"},
    {"throughput", "own", "project", "figures"},
    {"session", "__main__"},
    {"__init__"},  # the public names
]
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}
WITHIN_A_LAYER = {
    ("rollout", "solvers"),  # both repeat a solver's step
    ("compiled", "solvers"),
    ("exercise", "cell"),  # an answer is a cell's outcome
}
FORBIDDEN = {"js", "pyodide", "pyodide_js", "micropip", "time", "threading", "asyncio"}

MODULES = sorted(PACKAGE.rglob("*.py"))
every_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))


def unit(parts: tuple[str, ...]) -> str:
    """The name in `LAYERS` of a module: a subpackage counts as one."""
    return parts[0] if parts else "__init__"


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Every module that a module imports, as absolute parts."""
    package = ("ferro_bench", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            # `from . import ops` names modules, `from .ops import Linear` names what is in one.
            yield from ((*base, alias.name) for alias in node.names) if base == ("ferro_bench",) else [base]


@every_module
def test_a_module_imports_only_from_layers_below_its_own(path: Path) -> None:
    relative = path.relative_to(PACKAGE).with_suffix("")
    mine = unit(relative.parts)
    assert mine in LEVEL, f"{mine} needs a place in the design's drawing"
    for parts in imports(path):
        if parts[0] != "ferro_bench" or unit(parts[1:]) == mine:
            continue
        other = unit(parts[1:])
        assert LEVEL[other] < LEVEL[mine] or (mine, other) in WITHIN_A_LAYER, f"{mine} imports {other}"


@every_module
def test_a_module_needs_numpy_and_the_standard_library_at_most(path: Path) -> None:
    outside = {parts[0] for parts in imports(path)} - {"ferro_bench"}
    assert outside <= sys.stdlib_module_names | {"numpy"}
    assert not outside & FORBIDDEN


@every_module
def test_nothing_is_imported_behind_the_sources_back(path: Path) -> None:
    names = {node.id for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)}
    assert "__import__" not in names
    assert "importlib" not in names or path in {
        PACKAGE / name / "__init__.py" for name in ("benches", "exercises", "figures")
    }


@every_module
def test_only_the_terminal_prints(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prints = any(isinstance(node, ast.Name) and node.id == "print" for node in ast.walk(tree))
    writes = any(isinstance(node, ast.Attribute) and node.attr in {"stdout", "stderr"} for node in ast.walk(tree))
    assert (prints or writes) == (path.name == "__main__.py")


def test_the_readers_above_see_what_is_there() -> None:
    """Were they blind, the tests above would pass on anything."""
    assert ("ferro_bench", "plant") in set(imports(PACKAGE / "benches" / "friction.py"))
    assert ("ferro_bench", "benches") in set(imports(PACKAGE / "session.py"))
    assert ("ferro_bench", "gradient", "tape") in set(imports(PACKAGE / "gradient" / "check.py"))
    assert ("numpy",) in set(imports(PACKAGE / "gradient" / "ops.py"))


# JavaScript ------------------------------------------------------------------------------------------------------

# As drawn in docs/architecture.md.
ARROWS = {
    *(("main", part) for part in ("pool", "cells", "own", "store", "elements")),
    *(("elements", part) for part in ("client", "editor", "own", "plot", "recall", "recording", "store")),
    *(("worker", part) for part in ("download", "output", "protocol")),
    ("prerender", "elements"),
    ("own", "client"),
    ("cells", "client"),
    ("pool", "client"),
    ("client", "protocol"),
}
SCRIPTS = sorted(SITE.rglob("*.js"))


def code(script: Path) -> str:
    """The source without its comments; types that they import do not run."""
    source = re.sub(r"/\*.*?\*/", "", script.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"(?m)(^|\s)//.*$", "", source)


def part(script: Path) -> str:
    """A folder of scripts, or a script that lies beside them."""
    return script.relative_to(SITE).parts[0].removesuffix(".js")


def arrows() -> set[tuple[str, str]]:
    """Which part of the site imports which other."""
    specifier = r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.[^"']+)["']"""
    found = {
        (part(script), part((script.parent / target).resolve()))
        for script in SCRIPTS
        for target in re.findall(specifier, code(script))
    }
    return {(here, there) for here, there in found if here != there}


def test_javascript_follows_the_drawing() -> None:
    assert arrows() == ARROWS


def test_only_the_worker_knows_pyodide_and_no_script_knows_a_bench() -> None:
    for script in SCRIPTS:
        words = set(re.findall(r"[a-z]+", code(script).lower()))
        assert "pyodide" not in words or script.name == "worker.js", script
        assert not words & set(benches.names()), script
