"""Builds the site into `dist/`, from scratch: the package, the runtime that runs it, the scripts, and the lesson.

    python build.py

The result is a folder of static files with relative addresses; any web server can hold it, at any path.
"""

import hashlib
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from building import assets, descriptions, lesson
from building.commands import ROOT, CommandError, run
from building.runtime import CACHE, RuntimeUnavailable, fetch_runtime, freeze_lock

DIST = ROOT / "dist"
LESSON = ROOT / "lesson.html"
# Python packages that the page loads at its start; micropip lies beside them for a cell that imports it.
PACKAGES = ("numpy", "ferro-bench")
NOT_AT_START = "micropip-"


def main(dist: Path = DIST) -> None:
    """The build, step by step."""
    start_from_scratch(dist)
    lesson.check_sources(ROOT / "site")
    runtime = assemble_runtime(dist / "runtime")
    bundled = assets.bundle(dist)
    config = describe_runtime(runtime, bundled)
    benches = descriptions.describe_benches(dist)
    described = {"bench": benches, **descriptions.describe_others(dist)}
    bundled["ferro_bench.whl"] = next(runtime.glob("ferro_bench-*.whl")).relative_to(dist).as_posix()
    markup = {kind: descriptions.prerender(of_kind) for kind, of_kind in described.items()}
    site = lesson.Site(dist, bundled, benches, markup, config)
    (dist / "index.html").write_text(lesson.render(LESSON, site), "utf-8")
    report(dist)


def start_from_scratch(dist: Path) -> None:
    """Nothing of an earlier build may survive into this one."""
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()


def assemble_runtime(folder: Path) -> Path:
    """Gather Pyodide, NumPy, our own wheel and the lock that names them; return the folder under its hashed name."""
    fetched = fetch_runtime(CACHE, folder)
    # Not `python -m build`: run from here, that name would find this very file.
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    lock = fetched["pyodide-lock.json"]
    freeze_lock(lock, sorted(folder.glob("*.whl")), lock)
    return assets.hash_folder(folder)


def describe_runtime(folder: Path, bundled: Mapping[str, str]) -> dict[str, Any]:
    """What the page has to know to load the runtime and to check what arrives."""
    return {
        "worker": bundled["site/worker.js"],
        "editor": bundled["site/editor/codemirror.js"],
        "base": f"{folder.name}/",
        "packages": PACKAGES,
        "files": [
            {"name": path.name, "bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for path in sorted(folder.iterdir())
            if not path.name.startswith(NOT_AT_START)
        ],
    }


def report(dist: Path) -> None:
    """Say how big the site is."""
    sizes = [path.stat().st_size for path in dist.rglob("*") if path.is_file()]
    print(f"Built {dist.name}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB.")


if __name__ == "__main__":
    try:
        main()
    except (CommandError, RuntimeUnavailable, lesson.LessonError) as error:
        sys.exit(str(error))
