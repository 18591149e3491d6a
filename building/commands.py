"""Runs the programs that the build is made with; the virtual environment's own come before the system's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 120


class CommandError(Exception):
    """A program is missing, took too long, or failed; the message says which, and what it said."""


def run(program: str | Path, *arguments: str | Path, given: str | None = None) -> str:
    """Return what a command printed. It runs at the repository's root, with `given` on its standard input.

    Raises CommandError.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    name = Path(program).name
    found = shutil.which(program, path=path)
    if found is None:
        raise CommandError(f"{name} is not installed")
    try:
        done = subprocess.run(
            [found, *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=ROOT,
            env={**os.environ, "PATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{name} did not finish in {SECONDS} s") from error
    if done.returncode:
        raise CommandError(f"{name} failed: {done.stderr.strip() or 'no reason given'}")
    return done.stdout
