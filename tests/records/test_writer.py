"""RecordWriter: what it writes, what it counts, and what it refuses."""

from __future__ import annotations

import contextlib
import gzip
import os
import stat
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.made_records import file_bytes

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text(optional=True)})


def test_bytes_are_framed_as_the_format_says(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    payloads = [b"foo", b"", b"bar", bytes(range(256)) * 20]
    with rs.RecordWriter(path) as writer:
        for payload in payloads:
            writer.write(payload)
    assert path.read_bytes() == file_bytes(payloads)


def test_bytearrays_and_memoryviews_are_bytes_too(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write(bytearray(b"foo"))
        writer.write(memoryview(b"xbarx")[1:-1])
        writer.write(memoryview(b"a-b-c")[::2])
        writer.write(np.arange(3, dtype=np.int16).data)
    assert list(rs.RecordReader(path)) == [b"foo", b"bar", b"abc", np.arange(3, dtype=np.int16).tobytes()]


def test_a_file_without_records_is_an_empty_file(tmp_path: Path):
    for compression in (None, "gzip", "zlib"):
        path = tmp_path / f"empty-{compression}"
        rs.RecordWriter(path, compression).close()
        assert list(rs.RecordReader(path)) == []
        assert (path.stat().st_size == 0) == (compression is None)


@pytest.mark.parametrize("compression", [None, "gzip", "zlib"])
@pytest.mark.parametrize("size", [0, 1, 1000, (1 << 20) - 16, (1 << 20) - 15, 1 << 20, 5_000_000])
def test_records_around_the_buffers_size(size: int, compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    large = np.random.default_rng(size).bytes(size)
    payloads = [b"before", large, b"between", large[: size // 3], b"after"]
    with rs.RecordWriter(path, compression, level=1) as writer:
        for payload in payloads:
            writer.write(payload)
    assert list(rs.RecordReader(path)) == payloads


def test_rows_columns_examples_and_bytes_may_follow_each_other(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_rows([{"n": 0, "name": "a"}], SCHEMA)
        writer.write_columns({"n": [1, 2], "name": ["b", None]}, SCHEMA)
        writer.write_example({"n": 3, "name": "d"})
        writer.write(rs.encode_example({"n": 4}))
        writer.write_rows(({"n": n} for n in range(5, 7)), SCHEMA)
    rows = list(rs.open(path, schema=SCHEMA))
    assert [int(row["n"]) for row in rows] == list(range(7))
    assert [row["name"] for row in rows] == ["a", "b", None, "d", None, None, None]


@pytest.mark.parametrize("count", [1023, 1024, 1025, 5000])
def test_rows_in_any_number(count: int, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_rows(({"n": n, "name": str(n)} for n in range(count)), SCHEMA)
        assert writer.records == count
    assert [int(row["n"]) for row in rs.open(path)] == list(range(count))


def test_records_and_bytes_are_counted(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    writer = rs.RecordWriter(path, "gzip")
    assert (writer.records, writer.bytes) == (0, 0)
    writer.write(b"12345")
    assert (writer.records, writer.bytes) == (1, 21)
    writer.write_columns({"n": range(10)}, SCHEMA)
    assert writer.records == 11
    writer.close()
    payloads = list(rs.RecordReader(path))
    assert (writer.records, writer.bytes) == (11, len(file_bytes(payloads)))  # before compression
    assert writer.path == str(path)


@pytest.mark.parametrize("level", range(1, 10))
@pytest.mark.parametrize("compression", ["gzip", "zlib"])
def test_compression_levels(compression: str, level: int, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    payloads = [b"over and over " * 100] * 50
    with rs.RecordWriter(path, compression, level=level) as writer:
        for payload in payloads:
            writer.write(payload)
    content = path.read_bytes()
    assert (gzip.decompress if compression == "gzip" else zlib.decompress)(content) == file_bytes(payloads)
    assert len(content) < len(file_bytes(payloads)) / 20


@pytest.mark.parametrize("level", [0, 10, -1, True, "6", 5.5, None])
def test_a_level_that_does_not_exist(level: Any, tmp_path: Path):
    with pytest.raises(rs.RecordsmithError, match="from 1 to 9"):
        rs.RecordWriter(tmp_path / "data.tfrecord", "gzip", level=level)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["GZIP", "Gzip", "gz", "gzip"])
def test_compression_names_are_tensorflows_too(name: str, tmp_path: Path):
    with rs.RecordWriter(tmp_path / "data.tfrecord", name) as writer:
        writer.write(b"foo")
    assert rs.RecordReader(tmp_path / "data.tfrecord").compression == "gzip"


def test_the_file_has_the_usual_rights(tmp_path: Path):
    before = os.umask(0o027)
    try:
        rs.RecordWriter(tmp_path / "data.tfrecord").close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "data.tfrecord").stat().st_mode) == 0o640


# --- wrong use ---


def test_a_closed_writer(tmp_path: Path):
    writer = rs.RecordWriter(tmp_path / "data.tfrecord")
    writer.write(b"foo")
    writer.close()
    writer.close()
    attempts = [
        lambda: writer.write(b"bar"),
        lambda: writer.write_example({"n": 1}),
        lambda: writer.write_rows([{"n": 1}], SCHEMA),
        lambda: writer.write_columns({"n": [1]}, SCHEMA),
        writer.flush,
    ]
    for attempt in attempts:
        with pytest.raises(rs.RecordsmithError, match="The writer is closed"):
            attempt()
    assert list(rs.RecordReader(tmp_path / "data.tfrecord")) == [b"foo"]


@pytest.mark.parametrize("payload", ["text", 5, None, [1, 2], {"n": 1}, np.arange(3), 1.5])
def test_a_payload_that_is_not_bytes(payload: Any, tmp_path: Path):
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        with pytest.raises(TypeError, match=rf"must be bytes, not {type(payload).__name__}.*write_example"):
            writer.write(payload)
        assert writer.records == 0


def test_a_missing_folder(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="does not exist") as caught:
        rs.RecordWriter(tmp_path / "no" / "such" / "data.tfrecord")
    assert caught.value.filename == str(tmp_path / "no" / "such")
    assert "os.makedirs" in caught.value.__notes__[0]


def test_a_folder_as_target(tmp_path: Path):
    with pytest.raises(IsADirectoryError, match="not a file"):
        rs.RecordWriter(tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        rs.RecordWriter(tmp_path / "data.tfrecord")


@pytest.mark.parametrize(("name", "error"), [("", OSError), ("a\0b", ValueError), (5, TypeError), (None, TypeError)])
def test_a_name_that_cannot_be(name: Any, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        rs.RecordWriter(name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a" * 255, "漢" * 85, "é" * 127, "with space", "üñï", "a\udcff", ".hidden", "-o"])
def test_any_name_that_a_file_may_have(name: str, tmp_path: Path):
    path = tmp_path / name
    with rs.RecordWriter(path) as writer:
        writer.write(b"foo")
    assert os.listdir(tmp_path) == [name]
    assert list(rs.RecordReader(path)) == [b"foo"]


def test_a_target_that_is_no_file_is_refused(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises((OSError, rs.RecordsmithError)):
        rs.RecordWriter(pipe).close()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


# --- rows and columns that do not fit ---


def test_rows_before_one_that_does_not_fit_are_written_whole(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        with pytest.raises(rs.EncodeError) as caught:
            writer.write_rows([{"n": n} if n != 7 else {"n": "seven"} for n in range(10)], SCHEMA)
        assert (caught.value.row, caught.value.feature) == (7, "n")
        assert writer.records == 7
        writer.write_rows([{"n": 100}], SCHEMA)
    assert [int(row["n"]) for row in rs.open(path, schema=SCHEMA)] == [*range(7), 100]


@pytest.mark.parametrize("bad", [1023, 1024, 2500])
def test_the_row_in_an_error_counts_over_the_whole_call(bad: int, tmp_path: Path):
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer, pytest.raises(rs.EncodeError) as caught:
        writer.write_rows(({"n": n} if n != bad else {"n": None} for n in range(3000)), SCHEMA)
    assert caught.value.row == bad


def test_columns_are_written_whole_or_not_at_all(tmp_path: Path):
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        with pytest.raises(rs.EncodeError) as caught:
            writer.write_columns({"n": [1, 2, 3], "name": ["a", None, 5]}, SCHEMA)
        assert (caught.value.row, caught.value.feature) == (2, "name")
        assert (writer.records, writer.bytes) == (0, 0)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([1, 2], "A row must be a mapping"),
        ({"n": [1, 2]}, "To write columns, use write_columns"),
        ([{"m": 1}], "The row has no value 'n'"),
        ([{"N": 1}], "Did you mean 'N'"),
        ([{"n": 1, "nam": "a"}], "Did you mean 'name'"),
        ([{"n": None}], "required feature has no value"),
        ([{"n": 2**63}], "does not fit the feature's type"),
        ([{"n": 1.5}], "does not fit the feature's type"),
        ([{"n": "1"}], "not a number"),
        ([{"n": [1, 2]}], "where:    row 0, feature 'n'"),
        ([{"n": 1, "name": b"\xff"}], "row 0, feature 'name'"),
        ([{"n": 1, "name": 5}], "not a string"),
    ],
)
def test_rows_that_do_not_fit(rows: Any, said: str, tmp_path: Path):
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        with pytest.raises(rs.EncodeError) as caught:
            writer.write_rows(rows, SCHEMA)
        assert said in str(caught.value)
        assert writer.records == 0


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([[1, 2]], "Columns must be given by name"),
        ({"n": [1, 2], "name": ["a"]}, "differ in length"),
        ({"name": ["a"]}, "column for the feature 'n' is missing"),
        ({"n": [1], "nmae": ["a"]}, "Did you mean 'name'"),
        ({"n": 5}, "must have a length"),
        ({"n": [1.5]}, "row 0, feature 'n'"),
        ({"n": np.array([[1, 2]])}, "feature 'n'"),
    ],
)
def test_columns_that_do_not_fit(columns: Any, said: str, tmp_path: Path):
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        with pytest.raises(rs.EncodeError) as caught:
            writer.write_columns(columns, SCHEMA)
        assert said in str(caught.value)
        assert writer.records == 0


def test_what_a_row_looks_at_may_raise(tmp_path: Path):
    class Trap:
        def __array__(self, *_: object, **__: object) -> Any:
            raise RuntimeError("boom")

    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        with contextlib.suppress(rs.EncodeError), pytest.raises(RuntimeError, match="boom"):
            writer.write_rows([{"n": Trap()}], SCHEMA)
        assert writer.records == 0
