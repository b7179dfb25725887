"""Files of a web server: fetched again when they have changed, never half, and never with secrets in messages."""

from __future__ import annotations

import hashlib
import http.server
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.storage.objects import without_secrets
from recordsmith.storage.remote_files import cache_folder

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

Make = Callable[[range], bytes]
SCHEMA = rs.Schema({"n": rs.Scalar("int64")})


@dataclass
class Served:
    """What the server gives, and what it was asked.

    Attributes:
        content: the file.
        headers: what tells its version.
        with_length: whether Content-Length is sent.
        fetched: how often the file was sent.
        before_sending: called with the number of the request, for the file to send.
    """

    url: str = ""
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    with_length: bool = True
    fetched: int = 0
    before_sending: Callable[[int, bytes], bytes] = lambda _, content: content


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))
    state = Served()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> bytes:
            if not self.path.startswith("/a.tfrecord"):
                self.send_error(404)
                return b""
            content = state.content
            if self.command == "GET" and state.with_length:
                state.fetched += 1
                content = state.before_sending(state.fetched, content)
            self.send_response(200)
            for name, value in state.headers.items():
                self.send_header(name, value)
            if state.with_length:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            return content

        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            content = self.answer()
            if not state.with_length:  # fsspec asks for the headers alone by GET too, and hangs up
                state.fetched += 1
                content = state.before_sending(state.fetched, content)
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/a.tfrecord"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def made(tmp_path: Path) -> Make:
    def make(numbers: range) -> bytes:
        with rs.RecordWriter(tmp_path / "made.tfrecord", sync=False) as writer:
            writer.write_columns({"n": np.array(numbers)}, SCHEMA)
        return (tmp_path / "made.tfrecord").read_bytes()

    return make


def serve(served: Served, content: bytes, header: str = "ETag") -> None:
    served.content = content
    served.headers = {header: hashlib.sha256(content).hexdigest()} if header else {}


def numbers(url: str) -> list[int]:
    return [int(row["n"]) for row in rs.open(url)]


@pytest.mark.parametrize("header", ["ETag", "Last-Modified"])
def test_it_is_fetched_again_only_if_it_has_changed(header: str, served: Served, made: Make) -> None:
    serve(served, made(range(200, 205)), header)
    assert numbers(served.url) == numbers(served.url) == list(range(200, 205))
    assert served.fetched == 1
    serve(served, made(range(300, 305)), header)  # of the same length
    assert numbers(served.url) == list(range(300, 305))
    assert served.fetched == 2


def test_without_a_version_it_is_fetched_again(served: Served, made: Make) -> None:
    serve(served, made(range(200, 205)), "")
    assert numbers(served.url) == list(range(200, 205))
    serve(served, made(range(300, 305)), "")
    assert numbers(served.url) == list(range(300, 305))


def test_a_file_that_changes_while_it_is_fetched_is_fetched_again(served: Served, made: Make) -> None:
    old, new = made(range(200, 205)), made(range(300, 305))
    serve(served, old)

    def change(request: int, content: bytes) -> bytes:
        serve(served, new)
        return old[:50] + new[50:] if request == 1 else content

    served.before_sending = change
    assert numbers(served.url) == list(range(300, 305))


def test_a_file_that_never_stands_still_is_refused(served: Served, made: Make) -> None:
    def change(request: int, _: bytes) -> bytes:
        serve(served, made(range(request, request + 5)))
        return served.content

    served.before_sending = change
    serve(served, made(range(5)))
    with pytest.raises(rs.RecordsmithError, match="changes each time"):
        rs.open(served.url)
    assert [path for path in cache_folder().rglob("*") if path.is_file()] == []


def test_a_body_that_was_cut_where_no_length_is_told_is_not_believed(served: Served, made: Make) -> None:
    whole = made(range(50))
    serve(served, whole)
    served.with_length = False
    cut = len(whole) // 50 * 20  # between two records
    served.before_sending = lambda request, content: content[:cut] if request <= 2 else content
    assert numbers(served.url) == list(range(50))
    before = served.fetched
    serve(served, whole)
    assert numbers(served.url) == list(range(50))
    assert served.fetched > before  # it was not taken from the cache


def test_a_copy_that_was_tampered_with_is_fetched_again(served: Served, made: Make) -> None:
    serve(served, made(range(5)))
    copy = Path(rs.open(served.url).files[0])
    copy.unlink()
    copy.write_bytes(made(range(5, 10)))
    assert numbers(served.url) == list(range(5))


def test_processes_take_turns(served: Served, made: Make) -> None:
    serve(served, made(range(5)))
    program = "import sys, recordsmith as rs; print(len(rs.open(sys.argv[1])))"
    started = [
        subprocess.Popen([sys.executable, "-c", program, served.url], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [process.communicate()[0] for process in started] == ["5\n"] * 3
    assert served.fetched == 1


def test_secrets_are_not_told(served: Served, made: Make) -> None:
    serve(served, made(range(5)))
    address = served.url.replace("://", "://me:geheim@") + "?token=geheim"
    assert numbers(address) == list(range(5))
    assert not [path for path in cache_folder().rglob("*") if "geheim" in path.name]
    for path in cache_folder().rglob("*"):
        if path.is_file():
            assert b"geheim" not in path.read_bytes()
    missing = address.replace("a.tfrecord", "b.tfrecord")
    with pytest.raises(FileNotFoundError) as refused:
        rs.open(missing)
    shown = f"{refused.value} {refused.value.__notes__ if hasattr(refused.value, '__notes__') else ''}"
    assert "geheim" not in shown
    assert "b.tfrecord" in shown


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://host/a", "https://host/a"),
        ("https://me:pass@host/a?b=c#d", "https://...@host/a?..."),
        ("got https://me@host:8/a?b=c, not found", "got https://...@host:8/a?... not found"),
        ("s3://bucket/a?.tfrecord", "s3://bucket/a?..."),
    ],
)
def test_addresses_without_secrets(address: str, shown: str) -> None:
    assert without_secrets(address) == shown
