"""Label: classes by name and by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import recordsmith as rs
from recordsmith.errors import EncodeError, SchemaError
from recordsmith.schema import Violation

PETS = rs.Label(["cat", "dog", "bee"])


@pytest.mark.parametrize(
    "column",
    [
        ["dog", "cat", "bee"],
        [b"dog", b"cat", b"bee"],
        ["dog", 0, np.int8(2)],
        [1.0, False, 2],
        np.array(["dog", "cat", "bee"]),
        np.array([b"dog", b"cat", b"bee"]),
        np.array(["dog", "cat", "bee"], object),
        np.array([1, 0, 2], ">u2"),
        pa.array(["dog", "cat", "bee"]),
        pa.array(["dog", "cat", "bee"]).dictionary_encode(),
        pa.array([1, 0, 2], pa.uint8()),
        rs.ByteColumn(b"dogcatbee", [0, 3, 6, 9], text=True),
        [np.array("dog"), np.array(0), np.array(2)],
    ],
    ids=lambda column: f"{type(column).__name__}-{getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_names_and_numbers_are_stored_as_numbers(column: Any) -> None:
    numbers, _, present = PETS.column_to_parts(column, 3)[0][:3]
    assert numbers.tolist() == [1, 0, 2]
    assert numbers.dtype == np.int64
    assert present is None
    assert [PETS.value_to_canonical(value).tolist() for value in column] == [[1], [0], [2]]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("dgo", "Did you mean 'dog'"),
        (b"\xff", "no class with this name"),
        (3, "no class with this number"),
        (-1, "no class with this number"),
        (2**63, "does not fit"),
        (0.5, "does not fit"),
        (None, "required"),
        ([0], "shape"),
        (float("nan"), "does not fit"),
    ],
)
def test_what_is_no_class_is_refused(value: Any, problem: str) -> None:
    with pytest.raises(EncodeError, match=problem) as caught:
        PETS.column_to_parts([0, value], 2)
    assert caught.value.row == 1
    with pytest.raises(EncodeError, match=problem) as caught:
        PETS.value_to_canonical(value)
    assert caught.value.row is None


def test_a_cast_does_not_make_a_class() -> None:
    assert PETS.value_to_canonical(1.9, cast=True).tolist() == [1]
    with pytest.raises(EncodeError, match="no class"):
        PETS.value_to_canonical(300.5, cast=True)


@pytest.mark.parametrize("rows", [["dog", None], [None, 1], [None, None], []])
def test_optional_labels(rows: list[Any], through_core: Any) -> None:
    label = rs.Label(["cat", "dog"], optional=True)
    column = label.assemble(through_core(label, label.column_to_parts(rows)))
    assert [label.row(column, n) for n in range(len(rows))] == [None if row is None else 1 for row in rows]


def test_a_default_is_a_class() -> None:
    label = rs.Label(["cat", "dog"], default="dog")
    assert label.default == 1
    assert rs.Label.from_json({"names": ["cat", "dog"], "default": 1}) == label
    assert label.plan("label")[0].presence == "default"
    with pytest.raises(SchemaError, match="default does not fit"):
        rs.Label(["cat"], default="dog")


def test_classes_without_names_are_named_by_their_numbers() -> None:
    label = rs.Label(3)
    assert label.names == ("0", "1", "2")
    assert label == rs.Label(["0", "1", "2"])
    assert label.to_json() == {"type": "label", "names": 3}
    assert label.value_to_canonical("2").tolist() == [2]
    assert label.label_of(2) == "2"
    with pytest.raises(IndexError, match="numbered from 0 to 2"):
        label.label_of(-1)


@pytest.mark.parametrize("names", [0, -1, [], "cat", None, True, ["a", "a"], ["a", 1], [""], ["a\nb"], 1.5])
def test_names_that_cannot_work(names: Any) -> None:
    with pytest.raises(SchemaError):
        rs.Label(names)


def test_stored_numbers_outside_the_classes_are_violations() -> None:
    masked = np.ma.MaskedArray(np.array([0, 3, -1, 9]), mask=[False, False, False, True])
    assert rs.Label(3).violations(masked) == [
        Violation(1, "names", "3 (int64)", "a number from 0 to 2"),
        Violation(2, "names", "-1 (int64)", "a number from 0 to 2"),
    ]


def test_through_a_file(tmp_path: Path) -> None:
    schema = rs.Schema({"label": PETS, "steps": rs.Steps(PETS), "n": rs.Scalar("int64")})
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        writer.write_rows([{"label": "bee", "steps": ["cat", 1], "n": 1}, {"label": 0, "steps": [], "n": 2}], schema)
        writer.write_columns({"label": ["dog"], "steps": [["bee"]], "n": [3]}, schema)
    rows = list(rs.open(tmp_path / "data.tfrecord", schema=schema))
    assert [int(row["label"]) for row in rows] == [2, 0, 1]
    assert [row["steps"].tolist() for row in rows] == [[0, 1], [], [2]]


def test_the_first_wrong_row_is_named_and_those_before_it_are_written(tmp_path: Path) -> None:
    schema = rs.Schema({"n": rs.Scalar("int64"), "label": PETS})
    rows = [{"n": n, "label": "cat"} for n in range(300)]
    rows[290] = {"n": 290, "label": "cow"}
    rows[295] = {"n": 0.5, "label": "cat"}  # of an earlier feature, and a later row
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        with pytest.raises(EncodeError, match="no class") as caught:
            writer.write_rows(rows, schema)
        assert (caught.value.row, caught.value.feature) == (290, "label")
        assert writer.records == 290


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"n": 1, "lable": "cat"}, "Did you mean 'label'"),
        ({"n": 1}, "no value 'label'"),
        ({"n": 1, "label": "cat", "x": 1}, "'x'"),
        (5, "must be a mapping"),
    ],
)
def test_names_of_rows_are_checked(tmp_path: Path, row: Any, problem: str) -> None:
    schema = rs.Schema({"n": rs.Scalar("int64"), "label": PETS})
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        with pytest.raises(EncodeError, match=problem) as caught:
            writer.write_rows([{"n": 1, "label": "cat"}, row], schema)
        assert caught.value.row == 1
