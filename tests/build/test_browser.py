"""The tests' browser: which one is taken, and what is said when none can be had."""

import sys
from pathlib import Path

import pytest

from building import browser


def program(folder: Path, name: str, script: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an empty PATH, no CHROMIUM, and a Playwright that neither has nor gets a browser."""
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(browser, "_playwrights_own", lambda: None)
    monkeypatch.setattr(sys, "executable", str(program(tmp_path / "venv", "python", "exit 1")))


def test_chromium_in_the_environment_comes_before_the_path_and_the_path_before_playwright(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "_playwrights_own", lambda: tmp_path / "playwright")
    assert browser.find() == tmp_path / "playwright"
    chrome = program(tmp_path / "bin", "google-chrome")
    assert browser.find() == chrome
    chromium = program(tmp_path / "bin", "chromium")
    assert browser.find() == chromium
    monkeypatch.setenv("CHROMIUM", "/named")
    assert browser.find() == Path("/named")


def test_where_playwright_can_not_download_root_gets_the_systems_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)
    target = tmp_path / "bin" / "chromium"
    program(
        tmp_path / "bin",
        "apt-get",
        f'[ "$1" = update ] || {{ echo > "{target}"; /bin/chmod +x "{target}"; }}',
    )
    assert browser.main() == 0
    said = capsys.readouterr().out
    assert said.index("playwright install chromium") < said.index("apt-get update") < said.index("apt-get install")
    assert said.endswith(f"Tests will use {target}\n")


def test_without_any_way_it_is_one_sentence_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert browser.main() == 1
    assert capsys.readouterr().err == (
        "No Chromium could be installed: install one by hand, or set CHROMIUM to the path of one.\n"
    )


def test_a_chromium_variable_that_leads_nowhere_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    assert browser.main() == 1
    assert "CHROMIUM names /nowhere/chromium, which is not there" in capsys.readouterr().err
