"""What is under a writer's final name is whole, whatever happens; and every failing write is an error."""

from __future__ import annotations

import errno
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.records.shards import files_in
from tests.made_records import file_bytes
from tests.mounted_disk import make_read_only, mounted_disk

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text(optional=True)})
OLD = file_bytes([b"old"])


@pytest.fixture(params=["new", "old"], ids=["where nothing was", "over an older file"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "data.tfrecord"
    if request.param == "old":
        path.write_bytes(OLD)
    return path


def nothing_happened(path: Path) -> bool:
    """Nothing but the older file, if there was one."""
    return (not path.exists() or path.read_bytes() == OLD) and set(os.listdir(path.parent)) <= {path.name}


# --- breaking off ---


class Interruption(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, Interruption])
def test_an_exception_leaves_nothing(error: type[BaseException], target: Path):
    def break_off(writer: rs.RecordWriter) -> None:
        writer.write(b"new")
        writer.flush()
        assert not target.exists() or target.read_bytes() == OLD
        raise error

    with pytest.raises(error), rs.RecordWriter(target) as writer:
        break_off(writer)
    assert nothing_happened(target)


def test_rows_that_break_off_leave_nothing(target: Path):
    def rows() -> Iterator[dict[str, Any]]:
        for n in range(5000):
            yield {"n": n}
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"), rs.RecordWriter(target) as writer:
        writer.write_rows(rows(), SCHEMA)
    assert nothing_happened(target)


def test_the_final_name_appears_at_the_end(target: Path):
    with rs.RecordWriter(target) as writer:
        for _ in range(3):
            writer.write(bytes(1_000_000))
            writer.flush()
            assert not target.exists() or target.read_bytes() == OLD
    assert rs.open(target).verify() == 3
    assert os.listdir(target.parent) == [target.name]


def test_discard(target: Path):
    writer = rs.RecordWriter(target)
    writer.write(b"new")
    writer.discard()
    assert nothing_happened(target)
    assert (writer.records, writer.bytes) == (1, 19)
    writer.discard()
    writer.close()
    assert nothing_happened(target)


KILLED = """
import os, signal, sys
import recordsmith as rs

path, point, how = sys.argv[1:]
end = {"kill": lambda: os.kill(os.getpid(), signal.SIGKILL), "exit": lambda: os._exit(1)}[how]
schema = rs.Schema({"n": rs.Scalar("int64")})
writer = rs.RecordWriter(path, "gzip" if point == "compressed" else None)
if point == "opened":
    end()
writer.write(b"new" * 1000)
if point == "written":
    end()
writer.flush()
if point == "flushed":
    end()
for _ in range(100):
    writer.write(bytes(50_000))
writer.write_columns({"n": range(50_000)}, schema)
if point in ("long written", "compressed"):
    end()
if point == "among rows":
    writer.write_rows(({"n": n} if n < 40_000 else end() for n in range(50_000)), schema)
import recordsmith.records.writer
recordsmith.records.writer.put_in_place = lambda *args, **settings: end()
writer.close()
"""


@pytest.mark.parametrize("how", ["kill", "exit"])
@pytest.mark.parametrize(
    "point", ["opened", "written", "flushed", "long written", "compressed", "among rows", "before the rename"]
)
def test_a_killed_process_leaves_nothing_under_the_final_name(point: str, how: str, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    for content in (None, OLD):
        if content is not None:
            path.write_bytes(content)
        ended = subprocess.run([sys.executable, "-c", KILLED, str(path), point, how], check=False)
        assert ended.returncode == (-9 if how == "kill" else 1)
        assert (path.read_bytes() if path.exists() else None) == content
        # What is left over is hidden, and nobody takes it for data.
        left = [name for name in os.listdir(tmp_path) if name != path.name]
        assert all(name.startswith(".") and name.endswith(".partial") for name in left)
        assert files_in(str(tmp_path)) == ([] if content is None else [str(path)])
    # And a later writer is not disturbed by it.
    with rs.RecordWriter(path) as writer:
        writer.write(b"new")
    assert list(rs.RecordReader(path)) == [b"new"]


def test_a_writer_that_is_not_closed_warns_and_leaves_nothing(target: Path):
    writers = [rs.RecordWriter(target)]
    writers[0].write(b"new")
    with pytest.warns(ResourceWarning, match=r"was not closed.*with statement"):
        writers.clear()
    assert nothing_happened(target)


def test_a_forked_process_cannot_use_the_writer_and_leaves_its_file_alone(tmp_path: Path):
    program = """
import os, sys, warnings
import recordsmith as rs
warnings.simplefilter("ignore")
writer = rs.RecordWriter(sys.argv[1])
writer.write(b"before")
child = os.fork()
if child == 0:
    refused = []
    for use in (lambda: writer.write(b"from the child"), writer.flush, writer.close):
        try:
            use()
        except rs.RecordsmithError as error:
            refused.append("in another process" in str(error))
    del writer
    os._exit(0 if refused == [True, True, True] else 1)
assert os.waitpid(child, 0)[1] == 0
writer.write(b"after")
writer.close()
"""
    path = tmp_path / "data.tfrecord"
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    assert list(rs.RecordReader(path)) == [b"before", b"after"]


def test_the_folder_may_change_before_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with rs.RecordWriter("data.tfrecord") as writer:
        writer.write(b"foo")
        monkeypatch.chdir(tmp_path / "elsewhere")
    assert list(rs.RecordReader(tmp_path / "data.tfrecord")) == [b"foo"]
    assert os.listdir(tmp_path / "elsewhere") == []


# --- several at once ---


def test_two_writers_of_one_name(tmp_path: Path):
    """Neither sees the other; the one that ends last is there, whole."""
    path = tmp_path / "data.tfrecord"
    first, second = rs.RecordWriter(path), rs.RecordWriter(path)
    for n in range(1000):
        first.write(b"first %d" % n)
        second.write(b"second %d" % n)
    second.close()
    assert list(rs.RecordReader(path)) == [b"second %d" % n for n in range(1000)]
    first.close()
    assert list(rs.RecordReader(path)) == [b"first %d" % n for n in range(1000)]
    assert os.listdir(tmp_path) == ["data.tfrecord"]


def write_many(path: str, who: int) -> None:
    for _ in range(5):
        with rs.RecordWriter(path, sync=False) as writer:
            for _ in range(200):
                writer.write(bytes([who]) * 1000)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_many_writers_of_one_name(kind: str, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    start: Any = threading.Thread if kind == "threads" else multiprocessing.get_context("spawn").Process
    workers = [start(target=write_many, args=(str(path), who)) for who in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    payloads = list(rs.RecordReader(path))
    assert len(payloads) == 200
    assert len(set(payloads)) == 1
    assert os.listdir(tmp_path) == ["data.tfrecord"]


# --- failing writes ---

FULL = """
import json, os, resource, signal, sys
import recordsmith as rs

path, way, limit, compression = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] or None
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
schema = rs.Schema({"n": rs.Scalar("int64"), "filler": rs.Bytes()})
data = [os.urandom(1000) for _ in range(3000)]
try:
    with rs.RecordWriter(path, compression, level=1) as writer:
        match way:
            case "bytes":
                for payload in data:
                    writer.write(payload)
            case "flushed":
                for payload in data:
                    writer.write(payload)
                    writer.flush()
            case "one":
                writer.write(b"".join(data))
            case "small":
                writer.write(b"".join(data[:20]))
            case "rows":
                writer.write_rows(({"n": n, "filler": payload} for n, payload in enumerate(data)), schema)
            case "columns":
                writer.write_columns({"n": range(len(data)), "filler": data}, schema)
            case "going on":
                for payload in data:
                    try:
                        writer.write(payload)
                    except OSError:
                        pass
except OSError as error:
    print(json.dumps([error.errno, str(error), getattr(error, "__notes__", [])]))
"""
WAYS_TO_WRITE = ["bytes", "flushed", "one", "small", "rows", "columns", "going on"]


@pytest.mark.parametrize("compression", ["", "gzip"])
@pytest.mark.parametrize("way", WAYS_TO_WRITE)
def test_a_file_that_may_not_grow_is_an_error_and_never_a_short_file(way: str, compression: str, target: Path):
    arguments = [str(target), way, "10000", compression]
    ended = subprocess.run([sys.executable, "-c", FULL, *arguments], capture_output=True, text=True, check=True)
    assert f"[{errno.EFBIG}, " in ended.stdout, "no error was raised"
    assert "ulimit -f" in ended.stdout
    assert nothing_happened(target)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted_disk(tmp_path / "tiny", "64k") as folder:
        yield folder


@pytest.mark.parametrize("compression", ["", "zlib"])
@pytest.mark.parametrize("way", [way for way in WAYS_TO_WRITE if way != "small"])
def test_a_full_disk_is_an_error_and_never_a_short_file(way: str, compression: str, tiny_disk: Path):
    target = tiny_disk / "data.tfrecord"
    target.write_bytes(OLD)
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(target), way, "0", compression], capture_output=True, text=True, check=True
    )
    assert f"[{errno.ENOSPC}, " in ended.stdout, "no error was raised"
    assert "Free some space" in ended.stdout
    assert nothing_happened(target)


def test_a_disk_that_may_not_be_written(tiny_disk: Path):
    target = tiny_disk / "data.tfrecord"
    target.write_bytes(OLD)
    make_read_only(tiny_disk)
    with pytest.raises(OSError, match="Read-only") as caught:
        rs.RecordWriter(target)
    assert caught.value.errno == errno.EROFS
    assert nothing_happened(target)


def test_the_rename_fails(tmp_path: Path):
    """Something else has taken the name meanwhile."""
    path = tmp_path / "data.tfrecord"
    writer = rs.RecordWriter(path)
    writer.write(b"foo")
    path.mkdir()
    with pytest.raises(OSError, match=r"data\.tfrecord"):
        writer.close()
    assert os.listdir(tmp_path) == ["data.tfrecord"]
    writer.close()  # it is closed already, and says nothing twice
