"""The pool of workers with Python itself, on a page that has nothing but the pool."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from building.commands import ROOT, run
from tests.page.bench import START_UP

Open = Callable[..., Page]
DIST = ROOT / "dist"

PAGE = """<!doctype html><title>Pool</title><link rel="icon" href="data:,">
<script type="module">
  import { Pool } from "./pool.js";
  const response = await fetch("index.html");
  const site = new DOMParser().parseFromString(await response.text(), "text/html");
  const config = JSON.parse(site.getElementById("ferro-runtime-config").textContent);
  const absolute = (path) => new URL(path, document.baseURI).href;
  window.pool = new Pool({ ...config, worker: absolute(config.worker), base: absolute(config.base) });
  window.rebuilt = [];
  pool.addEventListener("rebuilt", ({ detail }) => rebuilt.push(detail));
  window.settled = (promise) => promise.then((reply) => ({ reply }), ({ constructor, message }) =>
    ({ error: message, stopped: Object.getPrototypeOf(constructor).name !== "Error" }));
  pool.start();
</script>"""

DESCRIBE = '{ kind: "describe", bench: "friction" }'


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], str]) -> str:
    """A copy of the site with a page that has nothing but the pool."""
    copy = tmp_path_factory.mktemp("pool") / "dist"
    shutil.copytree(DIST, copy)
    esbuild = ROOT / "node_modules" / ".bin" / "esbuild"
    run(esbuild, ROOT / "site" / "pool.js", "--bundle", "--format=esm", "--log-level=warning", f"--outdir={copy}")
    (copy / "pool.html").write_text(PAGE, "utf-8")
    return f"{serve(copy)}pool.html"


@pytest.fixture(scope="module")
def page(address: str, open_for_module: Open) -> Page:
    """One page for all tests, its learner and its snapshot ready."""
    page = open_for_module(address)
    wait(page, "window.pool?.clean.status.state === 'ready'")
    page.evaluate("() => pool.prepare()")
    wait(page, "pool.snapshot === 'ready' || pool.snapshot === 'unusable'")
    return page


def wait(page: Page, condition: str) -> None:
    page.wait_for_function(f"() => {condition}", timeout=START_UP)


def ask(page: Page, code: str) -> Any:
    return page.evaluate(f"async () => settled({code})")


def test_the_snapshot_is_made_and_workers_start_from_it(page: Page) -> None:
    assert page.evaluate("() => pool.snapshot") == "ready"
    page.evaluate("() => pool.learner.end()")
    assert ask(page, f"pool.run({DESCRIBE})")["reply"]["kind"] == "description"
    assert page.evaluate("() => pool.snapshot") == "ready", "Python did not start from the snapshot"


def test_a_learner_trains_as_the_clean_worker_does(page: Page) -> None:
    seen = [
        page.evaluate(
            """async (role) => {
              const ask = (request) => role === "clean" ? pool.clean.ask(request) : pool.run(request);
              const { controls } = await ask({ kind: "describe", bench: "friction" });
              const settings = Object.fromEntries(controls.map((control) => [control.key, control.default]));
              await ask({ kind: "open", run: "a", bench: "friction", settings });
              return ask({ kind: "advance", run: "a", steps: 5 });
            }""",
            role,
        )
        for role in ("clean", "learner")
    ]
    assert seen[0] == seen[1]


def test_a_check_has_a_worker_of_its_own_that_ends_with_it(page: Page) -> None:
    assert ask(page, f"pool.check([{DESCRIBE}], 20000)")["reply"][0]["kind"] == "description"
    wait(page, "pool.grader.status.state === 'ready'")  # the next one waits
    assert page.evaluate("() => pool.grader.used") is False
    assert page.evaluate("() => pool.learner.status.state") == "ready"


def test_a_fault_names_what_python_raised_and_leaves_it_running(page: Page) -> None:
    assert ask(page, "pool.run({ kind: 'nonsense' })")["error"]
    assert ask(page, f"pool.run({DESCRIBE})")["reply"]


def test_stop_while_python_starts_cancels_the_question_alone(page: Page) -> None:
    stopped = ask(page, f"(pool.learner.end(), setTimeout(() => pool.stop('learner'), 50), pool.run({DESCRIBE}))")
    assert stopped == {"error": "Stopped.", "stopped": True}
    wait(page, "pool.learner.status.state === 'ready'")
    assert page.evaluate("() => pool.learner.used") is False
    assert page.evaluate("() => rebuilt") == []


def test_once_python_was_there_workers_start_without_the_server(page: Page) -> None:
    page.evaluate("() => pool.learner.end()")
    page.context.route("**/*", lambda route: route.abort("failed"))
    try:
        assert ask(page, f"pool.run({DESCRIBE})")["reply"]["kind"] == "description"
    finally:
        page.context.unroute_all()
    gone = [message for message in page.console if "Failed to load resource" in message]  # type: ignore[attr-defined]
    for message in gone:
        page.console.remove(message)  # type: ignore[attr-defined]


def test_nothing_went_wrong_on_the_way(page: Page) -> None:
    assert page.console == []  # type: ignore[attr-defined]
