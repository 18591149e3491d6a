"""Serves a folder on this machine as any static host would: `python -m building.serve DIR PORT`."""

import errno
import sys
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Handler(SimpleHTTPRequestHandler):
    """Static files with the types browsers insist on, never served stale."""

    # Spelled out because the machine's own tables may lack or overrule them, and a wrong type stops Pyodide.
    extensions_map = {  # noqa: RUF012 (as the base class declares it)
        **SimpleHTTPRequestHandler.extensions_map,
        ".css": "text/css",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript",
        ".json": "application/json",
        ".mjs": "text/javascript",
        ".svg": "image/svg+xml",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
        ".zip": "application/zip",
    }

    def end_headers(self) -> None:
        """Add what makes a reload after a build show the new files."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file; a reader who leaves in the middle of it is no error."""
        with suppress(ConnectionError):
            super().copyfile(source, outputfile)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing of requests that went well; errors are logged on their own."""


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of `folder`, listening on this machine only; port 0 takes any free one.

    Raises OSError with one sentence as its text: no such folder, or the port can't be had.
    """
    if not folder.is_dir():
        raise OSError(f"{folder} is not a folder: build the site first (make build).")
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=str(folder)))
    except OverflowError:
        raise OSError(f"{port} is not a port: choose one from 1 to 65535.") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise OSError(
                f"Port {port} is taken: stop what uses it, or choose another (make serve PORT=8001)."
            ) from error
        raise OSError(f"Port {port} can't be used: {error.strerror}.") from error


def main(arguments: list[str]) -> int:
    """Serve until Ctrl-C and return the exit code."""
    match arguments:
        case [folder, port] if port.isdecimal():
            pass
        case _:
            print("Usage: python -m building.serve DIR PORT", file=sys.stderr)
            return 2
    try:
        serving = server(Path(folder), int(port))
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    with serving:
        try:
            print(f"Serving {folder} on http://127.0.0.1:{serving.server_port}/ (Ctrl-C stops)", flush=True)
            serving.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
