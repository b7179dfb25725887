"""TFRecords as a source: by number where files are whole, from the start where they are compressed or damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.making.sources import tfrecord_files
from tests.formats.loaded_rows import stored_rows

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "v": rs.Tensor("float32", (None,)), "s": rs.Text(optional=True)})


def written(path: Path, count: int, first: int = 0, compression: str | None = None) -> Path:
    rows: Any = (
        {"n": n, "v": [n / 2] * (n % 4), **({"s": f"row {n}"} if n % 2 else {})} for n in range(first, first + count)
    )
    with rs.RecordWriter(path, compression) as writer:
        writer.write_rows(rows, SCHEMA)
    return path


def expected(numbers: Any) -> list[dict[str, Any]]:
    return [{"n": n, "v": [n / 2] * (n % 4), "s": f"row {n}" if n % 2 else None} for n in numbers]


@pytest.fixture
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfrecord_files, "_CHUNK_ROWS", 7)


@pytest.mark.source("tfrecords", keeps="all features of records, whatever the compression")
@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize("compression", [None, "gzip", "zlib"])
def test_records_come_back_whatever_the_compression(compression, tmp_path):
    for number in range(2):
        written(tmp_path / f"part-{number}.tfrecord", 20, number * 20, compression)
    source = rs.sources.tfrecords(tmp_path)
    assert source.schema() == SCHEMA
    assert source.row_count == 40
    assert source.sequential is (compression is not None)
    stored = stored_rows(source)
    assert stored.chunks == 6
    assert stored.rows == expected(range(40))
    assert stored.places[39] == f"{tmp_path}/part-1.tfrecord, record 19"
    if compression is None:
        assert sum(chunk.source_bytes for chunk in source.chunks()) == source.size_bytes


@pytest.mark.usefixtures("_small_chunks")
def test_a_record_whose_data_changed_is_refused_alone(tmp_path):
    path = written(tmp_path / "data.tfrecord", 20)
    with rs.RecordReader(path) as reader:
        for _ in range(9):
            next(reader)
        offset = reader.offset
    data = bytearray(path.read_bytes())
    data[offset + 14] ^= 0xFF
    path.write_bytes(data)
    stored = stored_rows(rs.sources.tfrecords(path))
    assert stored.rows == expected(n for n in range(20) if n != 9)
    (reject,) = stored.rejects
    assert (reject.source, reject.row) == (f"{path}, record 9", 9)
    assert "checksum" in reject.reason


@pytest.mark.usefixtures("_small_chunks")
def test_behind_damage_the_next_sound_record_is_found(tmp_path):
    path = written(tmp_path / "data.tfrecord", 20)
    with rs.RecordReader(path) as reader:
        for _ in range(9):
            next(reader)
        offset = reader.offset
    data = bytearray(path.read_bytes())
    data[offset + 1] ^= 0xFF  # of the length
    path.write_bytes(data)
    source = rs.sources.tfrecords(path)
    assert source.sequential
    assert source.row_count is None
    stored = stored_rows(source)
    assert stored.rows == expected(n for n in range(20) if n != 9)
    assert [reject.source for reject in stored.rejects] == [f"{path}, record 9"]


def test_a_file_that_was_cut_gives_what_is_there(tmp_path):
    path = written(tmp_path / "data.tfrecord", 20)
    path.write_bytes(path.read_bytes()[:-5])
    stored = stored_rows(rs.sources.tfrecords(path))
    assert stored.rows == expected(range(19))
    assert [reject.source for reject in stored.rejects] == [f"{path}, record 19"]


def test_records_that_do_not_fit_the_schema_are_refused(tmp_path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        for value in (1, 2, "three", 4):
            writer.write_example({"n": value})
        writer.write(b"no example at all")
    stored = stored_rows(rs.sources.tfrecords(path, schema=rs.Schema({"n": rs.Scalar("int64")})))
    assert stored.column("n") == [1, 2, 4]
    assert stored.places[2] == f"{path}, record 3"
    assert [(reject.row, reject.feature) for reject in stored.rejects] == [(2, "n"), (4, None)]


def test_sequence_examples(tmp_path):
    schema = rs.Schema({"id": rs.Scalar("int64"), "frames": rs.Steps(rs.Text())})
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_rows([{"id": n, "frames": ["f"] * n} for n in range(5)], schema)
    source = rs.sources.tfrecords(path)
    assert source.schema() == schema
    assert stored_rows(source).column("frames") == [["f"] * n for n in range(5)]


def test_one_split(tmp_path):
    written(tmp_path / "d-train.tfrecord-00000-of-00001", 3)
    written(tmp_path / "d-test.tfrecord-00000-of-00001", 2)
    assert rs.sources.tfrecords(tmp_path, split="test").row_count == 2
    with pytest.raises(rs.RecordsmithError, match="Did you mean 'train'"):
        rs.sources.tfrecords(tmp_path, split="trian")


def test_the_label_is_the_only_label_of_the_schema(tmp_path):
    schema = rs.Schema({"n": rs.Label(20), "v": rs.Tensor("float32", (None,)), "s": rs.Text(optional=True)})
    path = written(tmp_path / "data.tfrecord", 3)
    assert rs.sources.tfrecords(path, schema=schema).label == "n"
    assert rs.sources.tfrecords(path).label is None


def test_what_is_no_tfrecord_is_an_error(tmp_path):
    path = tmp_path / "data.tfrecord"
    path.write_bytes(b"nothing of the kind, but long enough to look at")
    with pytest.raises(rs.NotTFRecordError):
        rs.sources.tfrecords(path).schema()
