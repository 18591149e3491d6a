"""Finds the Chromium that the page tests drive; `python -m building.browser` installs one where none is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")

# Seconds. Where its host is out of reach Playwright retries for long; the system's package is then better.
DOWNLOAD, PACKAGE = 120, 300


def find() -> Path | None:
    """Return the browser: what CHROMIUM names, else the system's, else Playwright's own, else None."""
    if named := os.environ.get("CHROMIUM"):
        return Path(named)
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    return _playwrights_own()


def install() -> Path | None:
    """Install a browser by the first way that works here and return it, or None."""
    for command, seconds in _ways():
        print("No Chromium found; trying:", " ".join(command), flush=True)
        try:
            subprocess.run(command, timeout=seconds, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            print("That did not work:", error, flush=True)
        if found := find():
            return found
    return None


def _ways() -> list[tuple[list[str], int]]:
    ways = [([sys.executable, "-m", "playwright", "install", "chromium"], DOWNLOAD)]
    if shutil.which("apt-get") and os.geteuid() == 0:
        ways += [
            (["apt-get", "update", "-qq"], PACKAGE),
            (["apt-get", "install", "-y", "-qq", "chromium"], PACKAGE),
        ]
    return ways


def _playwrights_own() -> Path | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    return path if path.is_file() else None


def main() -> int:
    """Make sure that there is a browser and return the exit code."""
    found = find() or install()
    if found is None or not found.is_file():
        where = f"CHROMIUM names {found}, which is not there" if found else "No Chromium could be installed"
        print(f"{where}: install one by hand, or set CHROMIUM to the path of one.", file=sys.stderr)
        return 1
    print(f"Tests will use {found}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
