"""Fetches the pinned runtime and freezes the lock that Pyodide reads in the page.

`runtime.toml` names every file, its sha256 and the sources it may come from, best first. The sha256 alone
decides whether bytes are accepted, so any source will do that answers: Pyodide's CDN, or a package whose
registry the local npm or pip knows how to reach. What was verified is cached under its own name and verified
again on every use.
"""

import hashlib
import io
import json
import shutil
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
from pyodide_lock import PyodideLockSpec
from pyodide_lock.utils import add_wheels_to_spec
from remotezip import RemoteIOError, RemoteZip

from building.commands import ROOT, CommandError, run

PINS = ROOT / "runtime.toml"
CACHE = ROOT / ".cache"

# Seconds. A source out of reach must fail over quickly; one that answers may take its time over the bytes.
CONNECT, READ = 4, 30


class RuntimeUnavailable(Exception):
    """A file of the runtime is neither cached nor to be had; the message says what to do."""


def fetch_runtime(cache: Path, destination: Path, pins: Path = PINS) -> dict[str, Path]:
    """Put every file that `pins` names into `destination`, verified, and return where each is, by name.

    Files that `cache` already holds are not downloaded again; a damaged one is. Raises RuntimeUnavailable.
    """
    wanted = tomllib.loads(pins.read_text("utf-8"))
    sources = {name: _source(name, entry) for name, entry in wanted["sources"].items()}
    silent: dict[str, str] = {}
    cache.mkdir(parents=True, exist_ok=True)
    destination.mkdir(parents=True, exist_ok=True)
    placed = {}
    for name, pin in wanted["files"].items():
        kept = cache / name
        if not (kept.is_file() and _sha256(kept.read_bytes()) == pin["sha256"]):
            chosen = {source: sources[source] for source in pin["sources"]}
            _write_whole(kept, _fetch(name, pin["sha256"], chosen, silent, cache))
        placed[name] = Path(shutil.copyfile(kept, destination / name))
    return placed


def freeze_lock(official: Path, wheels: Sequence[Path], frozen: Path) -> None:
    """Write to `frozen` a lock that lists exactly `wheels`, each with the sha256 of its bytes as they are.

    A wheel that Pyodide's `official` lock knows keeps what is said of it there; the others are described by
    their own metadata. The wheels have to lie beside the lock when it is served. Raises ValueError where one
    of them depends on a package that is not among them.
    """
    lock = PyodideLockSpec.from_json(official)
    known = {package.file_name: package for package in lock.packages.values()}
    lock.packages = {}
    for wheel in wheels:
        if package := known.get(wheel.name):
            package.sha256 = _sha256(wheel.read_bytes())
            lock.packages[package.name] = package
    for wheel in wheels:
        if wheel.name not in known:
            lock = add_wheels_to_spec(lock, [wheel], ignore_missing_dependencies=True)
    for package in lock.packages.values():
        if missing := sorted(set(package.depends) - lock.packages.keys()):
            raise ValueError(f"{package.file_name} needs {', '.join(missing)}, which the frozen lock would not list")
    lock.to_json(frozen, indent=1)


def _fetch(name: str, sha256: str, sources: Mapping[str, "Source"], silent: dict[str, str], cache: Path) -> bytes:
    """Return the right bytes from the first source that has them; note in `silent` sources out of reach."""
    answers = []
    for label, source in sources.items():
        try:
            if label in silent:
                raise FileNotFoundError(silent[label])
            content = source.read(name)
        except (ConnectionError, CommandError) as error:
            silent[label] = " ".join(str(error).split())
            answers.append(f"{label}: {silent[label]}")
        except FileNotFoundError as error:
            answers.append(f"{label}: {error}")
        else:
            if (found := _sha256(content)) == sha256:
                return content
            answers.append(f"{label}: answered with other bytes (sha256 {found})")
    raise RuntimeUnavailable(
        f"{name} could not be fetched. Tried " + "; ".join(answers) + ". Try again with a network that reaches one of"
        f" them, or put the file by hand into {cache} under its name (its sha256 must be {sha256})."
    )


# Sources --------------------------------------------------------------------------------------------------


class Source(Protocol):
    """Where files may come from."""

    def read(self, name: str) -> bytes:
        """Return the file's bytes, unverified.

        Raises FileNotFoundError where the source lacks this file, ConnectionError or CommandError where it is out of
        use.
        """


@dataclass(frozen=True)
class Web:
    """A plain web address with `{name}` in it."""

    address: str

    def read(self, name: str) -> bytes:
        """See Source."""
        try:
            answer = requests.get(self.address.format(name=name), timeout=(CONNECT, READ))
        except requests.RequestException as error:
            raise ConnectionError(f"did not answer ({type(error).__name__})") from error
        if not answer.ok:
            raise FileNotFoundError(f"answered {answer.status_code} {answer.reason}")
        return answer.content


@dataclass(frozen=True)
class Npm:
    """A package of the npm registry, obtained with npm itself so that the local set-up is honoured."""

    package: str
    sha256: str

    def read(self, name: str) -> bytes:
        """See Source."""
        try:
            with tarfile.open(fileobj=io.BytesIO(self._tarball)) as tarball:
                member = tarball.extractfile(f"package/{name}")
                if member is None:
                    raise KeyError(name)
                return member.read()
        except KeyError:
            raise FileNotFoundError(f"{self.package} does not contain it") from None

    @cached_property
    def _tarball(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            run("npm", "pack", self.package, "--ignore-scripts", "--pack-destination", folder)
            content = next(Path(folder).iterdir()).read_bytes()
        if (found := _sha256(content)) != self.sha256:
            raise ConnectionError(f"{self.package} is not the pinned package (sha256 {found})")
        return content


@dataclass(frozen=True)
class PyPI:
    """Members of a wheel, read by range from where pip, as it is set up here, finds that wheel."""

    package: str
    folder: str

    def read(self, name: str) -> bytes:
        """See Source."""
        try:
            with self._open() as wheel:
                return wheel.read(f"{self.folder}/{name}")
        except KeyError:
            raise FileNotFoundError(f"{self.package} does not contain it") from None
        except (RemoteIOError, requests.RequestException, zipfile.BadZipFile) as error:
            raise ConnectionError(f"{self.package} could not be read ({type(error).__name__})") from error

    def _open(self) -> zipfile.ZipFile:
        if urlsplit(self._address).scheme == "file":
            return zipfile.ZipFile(url2pathname(urlsplit(self._address).path))
        wheel: zipfile.ZipFile = RemoteZip(self._address, timeout=(CONNECT, READ))
        return wheel

    @cached_property
    def _address(self) -> str:
        # A dry run, so neither the package's Python version nor what it depends on matters.
        look_up = ["install", "--dry-run", "--ignore-installed", "--no-deps", "--ignore-requires-python"]
        report = json.loads(run(sys.executable, "-m", "pip", *look_up, "--quiet", "--report", "-", self.package))
        return str(report["install"][0]["download_info"]["url"])


def _source(name: str, entry: Mapping[str, Any]) -> Source:
    match entry:
        case {"web": address}:
            return Web(address)
        case {"npm": package, "sha256": sha256}:
            return Npm(package, sha256)
        case {"pypi": package, "folder": folder}:
            return PyPI(package, folder)
    raise ValueError(f"runtime.toml: source {name} is neither web, npm nor pypi: {dict(entry)}")


# Files ---------------------------------------------------------------------------------------


def _write_whole(path: Path, content: bytes) -> None:
    """Write by renaming, so that an interrupted download never leaves half a file under the real name."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
