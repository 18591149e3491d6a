"""Times the gradient inside the built site's own Python, in Chromium, against the adjoint by hand in JavaScript.

    python -m benchmarks.page [DIST]

It needs the built site and the Python of the tests, which has Playwright.
"""

import math
import sys
import tempfile
import threading
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from building.browser import find
from building.commands import ROOT
from building.serve import server

from .reference import AT, GRADIENT
from .timing import print_table

HERE = Path(__file__).resolve().parent
STEPS = [120, 1_200, 12_000]
SECONDS = 300
COMPILED = "compiled"
ASK = """task => new Promise((resolve, reject) => {
  const worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => data.error ? reject(new Error(data.error)) : resolve(data.results);
  worker.onerror = event => reject(new Error(event.message));
  worker.postMessage(task);
})"""


def main(dist: Path) -> None:
    """Print everything."""
    browser, results = measure(dist)
    print(f"Chromium {browser}, Python {results['python']} of the built page, in a worker.\n")
    print("One gradient of one rollout [ms: median (best), × by hand in JavaScript].\n")
    print_table("", {f"{timed['steps']:,} steps": cells(timed) for timed in results["gradients"]})
    first, *later = results["compiling"]
    print(f"Compiling a step: {1e3 * first:.3g} ms the first time, {1e3 * median(later):.3g} ms later (median).")
    print(f"Four parameters from 25,000 samples, compiling included: {results['fit']['seconds']:.3g} s.")
    print(f"WebAssembly memory in the end, which is its peak: {results['heap'] / 1e6:.0f} MB.")


def cells(timed: dict[str, Any]) -> dict[str, str]:
    """One column of the table, once all ways have said the same."""
    gradients, times = timed["gradients"], timed["times"]
    expected = GRADIENT if timed["steps"] == 120 else gradients[COMPILED]
    for name, gradient in gradients.items():
        assert math.isclose(gradient, expected, rel_tol=1e-7), (name, gradient, expected)
    base = times["by hand in JavaScript"]
    return {
        name: f"{median(own):.3g} ({min(own):.3g}), {median(a / b for a, b in zip(own, base, strict=True)):.3g}×"
        for name, own in times.items()
    }


def measure(dist: Path) -> tuple[str, dict[str, Any]]:
    """The browser's version, and what the worker answers."""
    (runtime,) = dist.glob("runtime-*")
    sources = {path.name: path.read_text("utf-8") for path in HERE.glob("*.py")}
    task = {"runtime": "runtime/", "sources": sources, "steps": STEPS, "at": AT}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for file in (HERE / "page").iterdir():
            (Path(folder) / file.name).symlink_to(file)
        (Path(folder) / "runtime").symlink_to(runtime.resolve())
        with server(Path(folder), 0) as serving:
            threading.Thread(target=serving.serve_forever, daemon=True).start()
            # As root, which containers often are, Chromium's own sandbox does not start.
            chromium = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox", "--disable-gpu"])
            page = chromium.new_page()
            page.set_default_timeout(1000 * SECONDS)
            page.goto(f"http://127.0.0.1:{serving.server_port}/")
            results = page.evaluate(ASK, task)
            version = chromium.version
            chromium.close()
            serving.shutdown()
    return version, results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
