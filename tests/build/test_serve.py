"""`make serve` gives browsers the types they insist on, and says in one sentence why it can't start."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from urllib.request import ProxyHandler, build_opener

import pytest

from building import serve

open_directly = build_opener(ProxyHandler({})).open


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with serve.server(tmp_path, 0) as serving:
        thread = Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield serving.server_port
        serving.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("index.html", "text/html; charset=utf-8"),
        ("a.js", "text/javascript"),
        ("a.mjs", "text/javascript"),
        ("a.wasm", "application/wasm"),
        ("a.json", "application/json"),
        ("a.whl", "application/zip"),
    ],
)
def test_every_kind_of_file_has_its_type_and_is_never_served_stale(
    tmp_path: Path, port: int, name: str, kind: str
) -> None:
    (tmp_path / name).write_bytes(b"content")
    with open_directly(f"http://127.0.0.1:{port}/{name}") as answer:
        assert answer.read() == b"content"
        assert answer.headers["Content-Type"] == kind
        assert answer.headers["Cache-Control"] == "no-cache"


def test_a_taken_port_is_one_sentence_and_exit_code_1(
    tmp_path: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve.main([str(tmp_path), str(port)]) == 1
    said = capsys.readouterr()
    assert said.err == f"Port {port} is taken: stop what uses it, or choose another (make serve PORT=8001).\n"
    assert said.out == ""


def test_a_missing_folder_is_one_sentence_and_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve.main([str(tmp_path / "dist"), "0"]) == 1
    assert capsys.readouterr().err == f"{tmp_path / 'dist'} is not a folder: build the site first (make build).\n"


@pytest.mark.parametrize("arguments", [[], ["."], [".", "eighty"], [".", "-1"]])
def test_wrong_arguments_show_how_to_call_it(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert serve.main(arguments) == 2
    assert capsys.readouterr().err.startswith("Usage: ")


def test_a_port_that_is_none_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve.main([str(tmp_path), "70000"]) == 1
    assert capsys.readouterr().err.startswith("70000 is not a port")


def test_it_prints_its_address_and_stops_on_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "building.serve", str(tmp_path), "0"]
    root = Path(serve.__file__).parent.parent
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root) as running:
        assert running.stdout is not None
        said = running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=10)
    assert said.startswith(f"Serving {tmp_path} on http://127.0.0.1:")
    assert said.endswith("/ (Ctrl-C stops)\n")
    assert running.returncode == 0
    assert errors == ""


def test_a_reader_who_leaves_in_the_middle_is_no_error(
    tmp_path: Path, port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "large.bin").write_bytes(bytes(20_000_000))
    with socket.create_connection(("127.0.0.1", port)) as reader:
        reader.sendall(b"GET /large.bin HTTP/1.0\r\n\r\n")
        reader.recv(1000)
    with open_directly(f"http://127.0.0.1:{port}/large.bin") as whole:  # by now the first transfer has broken off
        assert len(whole.read()) == 20_000_000
    assert "Traceback" not in capfd.readouterr().err
