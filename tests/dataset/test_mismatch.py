"""What is stored does not match the schema: the error says what, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.dataset import inference
from tests.dataset.numbered_rows import SCHEMA, row, write


def mismatch(path: Path, schema: rs.Schema, how: str, compression: str | None = None) -> rs.SchemaMismatchError:
    with rs.RecordWriter(path, compression) as writer:
        for n in range(10):
            writer.write_example({"image": b"x", "label": n, "box": [0.5] * (4 if n < 6 else 5)})
    with pytest.raises(rs.SchemaMismatchError) as caught:
        WAYS[how](rs.open(path, schema=schema))
    return caught.value


WAYS: dict[str, Callable[[rs.Dataset], object]] = {
    "row": lambda ds: ds[7],
    "rows": lambda ds: ds[[1, 7]],
    "batches": lambda ds: list(ds.batch(4, threads=2)),
    "iteration": list,
}


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("how", WAYS)
def test_a_missing_feature_with_a_suggestion(how: str, compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    error = mismatch(path, rs.Schema({"lable": rs.Scalar("int64")}), how, compression)
    assert error.problem == "Feature 'lable' is missing. Did you mean 'label'?"
    assert "'box', 'image', 'label'" in str(error)
    assert "optional=True" in str(error)
    check_place(error, path, how, first=0)


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("how", WAYS)
def test_another_kind(how: str, compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    error = mismatch(path, rs.Schema({"label": rs.Scalar("float32")}), how, compression)
    assert "a different kind of value" in error.problem
    assert (error.found, error.expected) == ("an int64 list", "a float list")
    check_place(error, path, how, first=0)


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("how", WAYS)
def test_another_number_of_values(how: str, compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    error = mismatch(path, rs.Schema({"box": rs.Tensor("float32", (4,))}), how, compression)
    assert "a different number of values" in error.problem
    assert (error.found, error.expected) == ("5 values", "4 values")
    assert "(None,)" in str(error)
    check_place(error, path, how, first=6)


def check_place(error: rs.SchemaMismatchError, path: Path, how: str, *, first: int) -> None:
    """The error names the file and the record's number in it, whichever way led there."""
    expected = {"row": 7, "rows": 7 if first else 1}.get(how, first)
    assert error.path == str(path)
    assert error.record == expected
    assert error.feature is not None


def test_the_number_in_an_error_is_that_of_its_file(tmp_path: Path):
    write(tmp_path / "a-00000-of-00002", 0, 5)
    with rs.RecordWriter(tmp_path / "a-00001-of-00002") as writer:
        writer.write_rows([row(5)], SCHEMA)
        writer.write_example({"n": 6})
    with pytest.raises(rs.SchemaMismatchError, match="'name' is missing") as caught:
        rs.open(tmp_path, schema=SCHEMA)[6]
    assert (caught.value.path, caught.value.record) == (str(tmp_path / "a-00001-of-00002"), 1)


def test_another_size_in_bytes(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"pixels": b"1234"})
        writer.write_example({"pixels": b"12345"})
    with pytest.raises(rs.SchemaMismatchError, match="a different size in bytes") as caught:
        list(rs.open(path, schema=rs.Schema({"pixels": rs.Tensor("uint8", (2, 2))})))
    assert (caught.value.found, caught.value.expected, caught.value.record) == ("5 bytes", "4 bytes", 1)


def test_text_that_is_not_utf8(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"name": b"fine"})
        writer.write_example({"name": b"\xff"})
    ds = rs.open(path, schema=rs.Schema({"name": rs.Text()}))
    assert ds[0]["name"] == "fine"
    with pytest.raises(rs.SchemaMismatchError, match="not UTF-8") as caught:
        ds[1]
    assert "Bytes instead of Text" in str(caught.value)


def test_a_schema_that_was_inferred_from_a_part_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(inference, "_SAMPLED_BYTES", 1)
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(20_000):
            writer.write_example({"n": [n] if n < 19_000 else [n, n]})
    ds = rs.open(path)
    for attempt in (lambda: list(ds.batch(1000)), lambda: ds[19_500]):
        with pytest.raises(rs.SchemaMismatchError, match=r"inferred from the first \d+ records") as caught:
            attempt()
        assert "infer_schema" in str(caught.value)


@pytest.mark.parametrize("shape", [(1 << 61,), (1 << 62,), (1 << 31, 1 << 31)])
def test_a_shape_that_no_record_can_hold_is_refused(shape: tuple[int, ...]) -> None:
    # Times the rows of a batch it would be 2^64: nothing would be allocated, and absent rows are filled with zeros.
    with pytest.raises(rs.SchemaError, match="No record can hold values of this shape"):
        rs.Tensor("float32", shape, optional=True)
