"""Files of web servers: read by ranges where the server can, of one version, and downloaded where it cannot."""

from __future__ import annotations

import hashlib
import http.server
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.storage.ranged import opening, remote_object

pytest.importorskip("obstore")

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "x": rs.Tensor("float32", (700,))})
ROWS = 2000  # of 2.8 KB: six blocks


@dataclass
class WebServer:
    """A server that answers for ranges, or does not.

    Attributes:
        files: what it has, by path.
        ranges: whether it answers for a part of a file.
        etag: "strong", "weak", "none".
        sent: how many bytes it has sent, and `whole` how many files as a whole.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    etag: str = "strong"
    sent: int = 0
    whole: int = 0


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "indexes"))
    opening._objects.clear()
    remote_object._arrived.forget()
    state = WebServer()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            content = state.files.get(unquote(self.path.partition("?")[0]))
            if content is None:
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            if self.headers.get("If-Match", etag) != etag:
                self.send_response(412)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if state.ranges else None
            begin, end = (int(asked[1]), min(int(asked[2]) + 1, len(content))) if asked else (0, len(content))
            self.send_response(206 if asked else 200)
            if asked:
                self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
            if state.etag != "none":
                self.send_header("ETag", etag if state.etag == "strong" else f"W/{etag}")
            self.send_header("Content-Length", str(end - begin))
            self.end_headers()
            if self.command == "GET":
                state.sent += end - begin
                state.whole += asked is None
                self.wfile.write(content[begin:end])

        do_HEAD = do_GET  # noqa: N815 - the name that http.server wants

        def log_message(self, *_: Any) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    state.url = f"http://127.0.0.1:{listening.server_port}"
    threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True).start()
    yield state
    listening.shutdown()
    listening.server_close()


def records(tmp_path: Path, first: int = 0) -> bytes:
    numbers = np.arange(first, first + ROWS)
    with rs.RecordWriter(tmp_path / "made.tfrecord", sync=False) as writer:
        writer.write_columns({"n": numbers, "x": np.zeros((ROWS, 700), "float32")}, SCHEMA)
    return (tmp_path / "made.tfrecord").read_bytes()


def test_a_file_is_read_by_ranges(server: WebServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server.files["/data/my file.tfrecord"] = records(tmp_path)
    url = f"{server.url}/data/my%20file.tfrecord"
    ds = rs.open(url, schema=SCHEMA)
    assert ds.files == (url,)
    numbers = [n for batch in ds.shuffle(seed=1).batch(100) for n in batch["n"].tolist()]
    assert sorted(numbers) == list(range(ROWS))
    assert server.whole == 0
    assert "downloaded" not in capfd.readouterr().err
    before = server.sent
    assert ds[1234]["n"] == 1234
    assert server.sent == before  # it is in the cache


def test_one_record_needs_no_whole_file_once_there_is_an_index(
    server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["/a.tfrecord"] = records(tmp_path)
    url = f"{server.url}/a.tfrecord"
    assert len(rs.open(url, schema=SCHEMA)) == ROWS  # the index is built by reading all of it once
    remote_object._arrived.forget()
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "empty"))
    opening._objects.clear()
    server.sent = 0
    assert rs.open(url, schema=SCHEMA)[7]["n"] == 7
    assert 0 < server.sent <= 2 << 20


def test_a_file_that_is_replaced_is_an_error_and_no_mixture(server: WebServer, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    server.files["/a.tfrecord"] = records(tmp_path)
    ds = rs.open(f"{server.url}/a.tfrecord", schema=SCHEMA)
    assert ds[0]["n"] == 0
    server.files["/a.tfrecord"] = records(tmp_path, first=10_000)
    remote_object._arrived.forget()
    with pytest.raises(rs.ChangedFileError, match="changed while it was in use"):
        ds[ROWS - 1]
    assert rs.open(f"{server.url}/a.tfrecord", schema=SCHEMA)[0]["n"] == 10_000


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("no ranges", "does not answer for parts"),
        ("a weak ETag", "does not answer for parts"),
        ("no ETag", "does not answer for parts"),
        ("a query", "contains a query or a password"),
    ],
)
def test_other_files_are_downloaded_which_is_said(
    server: WebServer, tmp_path: Path, capfd: pytest.CaptureFixture[str], what: str, reason: str
) -> None:
    pytest.importorskip("aiohttp")
    server.files["/a.tfrecord"] = records(tmp_path)
    server.ranges = what != "no ranges"
    server.etag = {"a weak ETag": "weak", "no ETag": "none"}.get(what, "strong")
    url = f"{server.url}/a.tfrecord" + ("?token=secret" if what == "a query" else "")
    ds = rs.open(url, schema=SCHEMA)
    assert [int(row["n"]) for row in ds] == list(range(ROWS))
    assert not ds.files[0].startswith("http")
    said = capfd.readouterr().err
    assert "downloaded as a whole" in said
    assert reason in said
    assert "secret" not in said


def test_a_missing_file_is_said(server: WebServer) -> None:
    pytest.importorskip("aiohttp")
    with pytest.raises(FileNotFoundError):
        rs.open(f"{server.url}/b.tfrecord")
