"""Serves the built page and opens it in Chromium; what goes wrong leaves a screenshot, the console and the page."""

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from building.browser import find
from building.commands import ROOT
from building.serve import server

DIST = ROOT / "dist"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # As root, which CI often is, Chromium's own sandbox does not start.
        chromium = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Serve a folder for the rest of the session; return its address."""
    running = []

    def start(folder: Path) -> str:
        serving = server(folder, 0)
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        running.append(serving)
        return f"http://127.0.0.1:{serving.server_port}/"

    yield start
    for serving in running:
        serving.shutdown()
        serving.server_close()


@pytest.fixture(scope="session")
def site(serve: Callable[[Path], str]) -> str:
    """The address of the built page."""
    assert (DIST / "index.html").is_file(), "Build the site first: make build."
    return serve(DIST)


@pytest.fixture
def broken_site(tmp_path: Path, serve: Callable[[Path], str]) -> Callable[..., str]:
    """The built page with one kind of file removed or replaced; return its address."""

    def spoil(pattern: str, content: bytes | None = None) -> str:
        copy = tmp_path / "dist"
        shutil.copytree(DIST, copy)
        (target,) = copy.glob(pattern)
        target.unlink() if content is None else target.write_bytes(content)
        return serve(copy)

    return spoil


class _Opener:
    """Opens addresses, each in a fresh profile. ``page.console`` collects errors, ``page.requested`` every address."""

    opened: ClassVar[list["_Opener"]] = []

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    def __enter__(self) -> "_Opener":
        self.opened.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        self.opened.remove(self)
        for context in self._contexts:
            context.close()

    def __call__(self, address: str, **options: Any) -> Page:
        context = self._browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        self._contexts.append(context)
        page: Any = context.new_page()
        page.console, page.requested = [], []
        page.on("console", lambda message: message.type == "error" and page.console.append(message.text))
        page.on("pageerror", lambda error: page.console.append(str(error)))
        page.on("request", lambda made: page.requested.append(made.url))
        page.goto(address)
        return page

    def keep_evidence(self, name: str) -> None:
        folder = ROOT / "test-results" / re.sub(r"\W+", "-", name)
        folder.mkdir(parents=True, exist_ok=True)
        for context in self._contexts:
            for page in context.pages:
                page.screenshot(path=folder / "page.png", full_page=True)
                (folder / "console.txt").write_text("\n".join(getattr(page, "console", [])), "utf-8")
                (folder / "page.html").write_text(page.content(), "utf-8")


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open an address in a fresh profile, for one test."""
    with _Opener(browser) as opener:
        yield opener


@pytest.fixture(scope="module")
def open_for_module(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open an address in a profile that a module's tests share."""
    with _Opener(browser) as opener:
        yield opener


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.when == "call" and report.failed:
        for opener in _Opener.opened:
            opener.keep_evidence(item.name)
    return report
