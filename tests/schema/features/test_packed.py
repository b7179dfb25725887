"""Packed: several arrays in one byte string."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError

BLOB = rs.Packed({"pixels": ("uint8", (2, 3)), "label": ("int64", ()), "flag": ("bool", ())})
PIXELS = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
BYTES = [PIXELS[n].tobytes() + np.array(n + 7, "<i8").tobytes() + bytes([n]) for n in range(2)]
ROWS = [{"pixels": PIXELS[n], "label": n + 7, "flag": bool(n)} for n in range(2)]
STRUCTURED = np.array(
    [(PIXELS[n], n + 7, bool(n)) for n in range(2)], [("pixels", "u1", (2, 3)), ("label", ">i4"), ("flag", "?")]
)


def test_its_layout_is_that_of_the_parts_one_after_the_other() -> None:
    assert BLOB.size == 2 * 3 + 8 + 1
    assert BLOB.plan("blob")[0].row_bytes == BLOB.size
    assert BLOB.plan("blob")[0].key == "blob"


@pytest.mark.parametrize(
    "column",
    [
        BYTES,
        ROWS,
        [ROWS[0], BYTES[1]],
        [bytearray(BYTES[0]), memoryview(BYTES[1])],
        {"pixels": PIXELS, "label": [7, 8], "flag": [0, 1]},
        {"flag": np.array([False, True]), "label": np.array([7.0, 8.0]), "pixels": PIXELS.tolist()},
        STRUCTURED,
        list(STRUCTURED),
        rs.PackedColumn(STRUCTURED),
        rs.ByteColumn(b"".join(BYTES), [0, BLOB.size, 2 * BLOB.size]),
        [{"flag": 0, "label": 7, "pixels": PIXELS[0].tolist()}, ROWS[1]],
    ],
    ids=lambda column: type(column[0] if isinstance(column, list) else column).__name__,
)
def test_all_forms_mean_the_same(column: Any) -> None:
    assert BLOB.rows_in(column) == 2
    assert BLOB.column_to_parts(column, 2)[0][0].tobytes() == b"".join(BYTES)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (BYTES[0][:-1], "size of the parts"),
        (b"", "size of the parts"),
        ({**ROWS[0], "label": 0.5}, "Part 'label': A value does not fit"),
        ({**ROWS[0], "pixels": PIXELS}, "Part 'pixels': A row has the wrong shape"),
        ({**ROWS[0], "label": None}, "Part 'label': A required feature has no value"),
        ({**ROWS[0], "lable": 1}, "Did you mean 'label'"),
        ({"pixels": PIXELS[0], "label": 1}, "'flag' is missing"),
        ("text", "not a packed row"),
        (PIXELS[0], "not a packed row"),
        (5, "not a packed row"),
        (None, "required"),
    ],
    ids=str,
)
def test_what_is_no_row_is_refused(value: Any, problem: str) -> None:
    with pytest.raises(EncodeError, match=problem) as caught:
        BLOB.column_to_parts([BYTES[0], ROWS[0], value])
    assert caught.value.row == 2
    with pytest.raises(EncodeError, match=problem) as caught:
        BLOB.value_to_canonical(value)
    assert caught.value.row is None


def test_columns_of_parts_are_checked() -> None:
    columns = {"pixels": PIXELS, "label": [7, 8], "flag": [0, 1]}
    with pytest.raises(EncodeError, match="differ in length"):
        BLOB.column_to_parts({**columns, "flag": [0]})
    with pytest.raises(EncodeError, match="'flag' is missing"):
        BLOB.column_to_parts({"pixels": PIXELS, "label": [7, 8]})
    with pytest.raises(EncodeError, match="Part 'label'") as caught:
        BLOB.column_to_parts({**columns, "label": [7, 2**63]})
    assert caught.value.row == 1
    stored = BLOB.column_to_parts({**columns, "label": [7, 2**63]}, cast=True)
    assert BLOB.assemble([(stored[0][0], None, None, None)])["label"].tolist() == [7, 2**63 - 1]


@pytest.mark.parametrize(
    "parts",
    [
        {},
        [("a", "int64", ())],
        {"a": "int64"},
        {"a": ("int64",)},
        {"a": ("object", ())},
        {"a": ("int64", (None,))},
        {"a": ("int64", 3)},
        {"": ("int64", ())},
        {1: ("int64", ())},
    ],
    ids=str,
)
def test_declarations_that_cannot_work(parts: Any) -> None:
    with pytest.raises(SchemaError):
        rs.Packed(parts)


def test_the_order_of_the_parts_is_part_of_it() -> None:
    one = rs.Packed({"a": ("uint8", ()), "b": ("uint8", (2,))})
    other = rs.Packed({"b": ("uint8", (2,)), "a": ("uint8", ())})
    assert one != other
    assert rs.Packed.from_json({"parts": one.to_json()["parts"]}) == one
    assert one.value_to_canonical({"a": 1, "b": [2, 3]}) == b"\x01\x02\x03"
    assert other.value_to_canonical({"a": 1, "b": [2, 3]}) == b"\x02\x03\x01"
    for settings in ({"parts": 5}, {"parts": [["a"]]}, {"parts": one.to_json()["parts"], "default": "?"}):
        with pytest.raises(SchemaError, match="cannot be read"):
            rs.Packed.from_json(settings)


def test_optional_and_default(through_core: Any) -> None:
    optional = rs.Packed(BLOB.parts, optional=True)
    column = optional.assemble(through_core(optional, optional.column_to_parts([ROWS[0], None])))
    assert optional.row(column, 1) is None
    assert column["label"].tolist() == [7, 0]
    assert column[1:].to_list() == [None]
    again = optional.assemble(through_core(optional, optional.column_to_parts(column)))
    assert again == column
    default = rs.Packed(BLOB.parts, default=ROWS[1])
    assert default.default == BYTES[1]
    assert rs.Schema.from_json(rs.Schema({"x": default}).to_json())["x"] == default
    column = default.assemble(through_core(default, default.column_to_parts([None])))
    assert column[0]["label"] == 8


def test_through_a_file(tmp_path: Path) -> None:
    schema = rs.Schema({"blob": BLOB, "n": rs.Scalar("int64")})
    columns = {"pixels": PIXELS, "label": [7, 8], "flag": [0, 1]}
    with rs.RecordWriter(tmp_path / "data") as writer:
        writer.write_rows([{"blob": row, "n": 0} for row in ROWS], schema)
        writer.write_columns({"blob": columns, "n": [1, 2]}, schema)
        with pytest.raises(EncodeError, match="differ in length"):
            writer.write_columns({"blob": columns, "n": [1, 2, 3]}, schema)
    data = rs.open(tmp_path / "data", schema=schema)
    row = data[3]["blob"]
    assert (row["pixels"].tolist(), row["label"], row["flag"]) == (PIXELS[1].tolist(), 8, True)
    assert (row["pixels"].dtype, row["label"].dtype, row["flag"].dtype) == (np.uint8, np.int64, np.bool_)
    (batch,) = data.batch(10)
    assert np.array_equal(batch["blob"]["pixels"], np.concatenate([PIXELS, PIXELS]))
    assert batch["blob"]["pixels"].flags.c_contiguous
    with rs.RecordWriter(tmp_path / "again") as writer:
        writer.write_columns(batch, schema)
    assert [one["blob"]["label"] for one in rs.open(tmp_path / "again", schema=schema)] == [7, 8, 7, 8]


def test_a_blob_of_another_size_is_told(tmp_path: Path) -> None:
    with rs.RecordWriter(tmp_path / "data") as writer:
        writer.write_example({"blob": BYTES[0]})
    other = rs.Schema({"blob": rs.Packed({"pixels": ("uint8", (2, 3)), "label": ("int32", ())})})
    with pytest.raises(SchemaMismatchError, match="blob") as caught:
        rs.open(tmp_path / "data", schema=other)[0]
    assert "15" in str(caught.value.found)
    assert "10" in str(caught.value.expected)


def test_stored_bools_are_checked() -> None:
    values = np.frombuffer(BYTES[0][:-1] + b"\x02", np.uint8).reshape(1, -1)
    with pytest.raises(SchemaMismatchError, match="flag"):
        BLOB.assemble([(values, None, None, None)])


class TestColumn:
    column = rs.PackedColumn(STRUCTURED)

    def test_it_is_read_by_row_and_by_part(self) -> None:
        assert len(self.column) == 2
        assert self.column[-1]["label"] == 8
        assert self.column["label"].dtype == np.int32
        assert self.column[[1]].to_list() == [{"pixels": PIXELS[1].tolist(), "label": 8, "flag": True}]
        assert self.column[::-1]["label"].tolist() == [8, 7]
        assert [row["label"] for row in self.column if row] == [7, 8]
        assert self.column == pickle.loads(pickle.dumps(self.column))
        assert self.column != self.column[::-1]
        assert repr(self.column) == "PackedColumn(2 rows of pixels: uint8 (2, 3), label: >i4 (), flag: bool ())"
        with pytest.raises(KeyError, match="Did you mean 'label'"):
            self.column["lable"]
        with pytest.raises(IndexError):
            self.column[2]

    def test_it_becomes_arrow(self) -> None:
        gaps = rs.PackedColumn(STRUCTURED, present=[True, False])
        assert gaps.to_arrow().to_pylist() == gaps.to_list()
        optional = rs.Packed(BLOB.parts, optional=True)
        stored, _, present = optional.column_to_parts(gaps.to_arrow(), 2)[0][:3]
        assert present is not None
        assert (stored[0].tobytes(), present.tolist()) == (BYTES[0], [True, False])
        with pytest.raises(EncodeError, match="required"):
            BLOB.column_to_parts(gaps.to_arrow())

    def test_what_does_not_fit_together_is_refused(self) -> None:
        with pytest.raises(ValueError, match="structured"):
            rs.PackedColumn(PIXELS)
        with pytest.raises(ValueError, match="present"):
            rs.PackedColumn(STRUCTURED, present=[True])
