"""What a reader meets when something on the way is missing, blocked, damaged or wrong."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from building.commands import ROOT
from tests.page.bench import Bench

Open = Callable[..., Page]
DIST = ROOT / "dist"
WITHIN = 10_000  # milliseconds in which a fault has to be named

RUNTIME_FILES = sorted(path.name for path in DIST.glob("runtime-*/*") if not path.name.startswith("micropip-"))


def expect_failure(page: Page, *named: str) -> None:
    alert = page.locator("ferro-runtime").first.get_by_role("alert")
    for words in named:
        expect(alert).to_contain_text(words, timeout=WITHIN)
    expect(page.locator("html")).to_have_attribute("data-runtime", "failed")
    expect(page.get_by_role("button", name="Retry").first).to_be_visible()
    expect(page.get_by_role("heading", name="Challenge", exact=True)).to_be_visible()


@pytest.mark.parametrize("name", RUNTIME_FILES)
def test_a_missing_runtime_file_is_named(open_page: Open, broken_site: Callable[..., str], name: str) -> None:
    page = open_page(broken_site(f"runtime-*/{name}"))
    expect_failure(page, name, "404")


@pytest.mark.parametrize("name", RUNTIME_FILES)
def test_a_web_page_in_place_of_a_file_is_named(open_page: Open, broken_site: Callable[..., str], name: str) -> None:
    page = open_page(broken_site(f"runtime-*/{name}", b"<!doctype html><title>Not here</title>"))
    expect_failure(page, name, "damaged")


def test_a_missing_worker_script_is_named(open_page: Open, broken_site: Callable[..., str]) -> None:
    page = open_page(broken_site("assets/worker-*.js"))
    expect_failure(page, "worker-")


def test_a_worker_script_of_the_wrong_type_is_named(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    page.route("**/worker-*.js", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(site)
    expect_failure(page, "worker-")


def test_a_missing_main_script_is_said_without_any_script(open_page: Open, broken_site: Callable[..., str]) -> None:
    page = open_page(broken_site("assets/main-*.js"))
    note = page.locator(".script-missing").first
    expect(note).to_be_hidden()
    expect(note).to_be_visible(timeout=WITHIN)
    expect(note.get_by_role("link", name="Retry")).to_be_visible()
    expect(page.locator("ferro-bench svg").first).to_be_visible()


def test_a_blocked_file_is_named(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    page.route("**/python_stdlib.zip", lambda route: route.abort("blockedbyclient"))
    page.goto(site)
    expect_failure(page, "python_stdlib.zip", "block")


def test_a_stalled_transfer_is_named(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    page.route("**/numpy-*.whl", lambda route: None)  # never answered
    page.goto(site)
    expect(page.locator("ferro-runtime").first.get_by_role("alert")).to_contain_text("stalled", timeout=WITHIN + 5000)
    expect_failure(page, "numpy-")


def test_wrong_types_for_every_file_do_not_matter(open_page: Open, site: str) -> None:
    page = open_page("about:blank")

    def mistype(route):
        response = route.fetch()
        route.fulfill(response=response, headers=response.headers | {"content-type": "application/octet-stream"})

    page.route("**/runtime-*/**", mistype)
    page.goto(site)
    bench = Bench(page)
    bench.press("Train")
    bench.expect_state("passed")


def test_retry_starts_python_once_the_file_is_back(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    page.route("**/numpy-*.whl", lambda route: route.fulfill(status=404))
    page.goto(site)
    expect_failure(page, "numpy-", "404")
    page.unroute("**/numpy-*.whl")
    page.get_by_role("button", name="Retry").first.click()
    bench = Bench(page)
    bench.wait_ready()
    bench.press("Train")
    bench.expect_state("passed")


def test_train_after_a_failure_says_why(open_page: Open, broken_site: Callable[..., str]) -> None:
    page = open_page(broken_site("runtime-*/pyodide.asm.wasm"))
    bench = Bench(page)
    bench.press("Train")
    bench.expect_state("failed")
    expect(bench.status).to_contain_text("pyodide.asm.wasm")


def test_without_webassembly_the_reason_and_the_recorded_run_are_there(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    worker_source = "delete globalThis.WebAssembly;"

    def without_webassembly(route):
        response = route.fetch()
        route.fulfill(response=response, body=worker_source + response.text())

    page.route("**/worker-*.js", without_webassembly)
    page.goto(site)
    expect_failure(page, "WebAssembly", "Lockdown Mode")
    bench = Bench(page)
    bench.press("Play the recorded run")
    bench.expect_state("passed")
    expect(bench.status).to_contain_text("Recorded when this page was built")
    assert bench.value("iteration") == "38"


def test_the_recorded_run_shows_the_settings_that_it_was_recorded_with(
    open_page: Open, broken_site: Callable[..., str]
) -> None:
    page = open_page(broken_site("runtime-*/pyodide.asm.wasm"), reduced_motion="reduce")
    expect_failure(page, "pyodide.asm.wasm")
    bench = Bench(page)
    bench.set("start value of c", "2")
    bench.set("learning rate", "abc")
    bench.press("Play the recorded run")
    bench.expect_state("passed")
    assert (bench.field("start value of c").input_value(), bench.field("learning rate").input_value()) == (
        "0.2",
        "0.35",
    )
    expect(bench.field("learning rate")).to_be_disabled()
    bench.press("Train")  # once more, from the beginning
    bench.expect_state("passed")


def test_a_recorded_run_that_is_missing_is_named(open_page: Open, broken_site: Callable[..., str]) -> None:
    page = open_page(broken_site("runtime-*/pyodide.asm.wasm"))
    expect_failure(page, "pyodide.asm.wasm")
    page.route("**/friction-run-*.json", lambda route: route.fulfill(status=404))
    bench = Bench(page)
    bench.press("Play the recorded run")
    bench.expect_state("failed")
    expect(bench.status).to_contain_text("recorded run could not be fetched")


def test_after_a_recorded_run_python_takes_over_when_it_is_there(open_page: Open, site: str) -> None:
    page = open_page("about:blank", reduced_motion="reduce")
    page.route("**/numpy-*.whl", lambda route: route.fulfill(status=404))
    page.goto(site)
    expect_failure(page, "numpy-")
    bench = Bench(page)
    bench.press("Play the recorded run")
    bench.expect_state("passed")
    page.unroute("**/numpy-*.whl")
    page.get_by_role("button", name="Retry").first.click()
    expect(page.locator("ferro-runtime").first).to_be_focused()  # the pressed button is gone
    bench.wait_ready()
    bench.expect_state("idle")
    bench.set("start value of c", "0.5")
    bench.press("Train")
    bench.expect_state("passed")
    expect(bench.status).not_to_contain_text("Recorded")
