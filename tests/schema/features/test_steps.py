"""Steps: a column in a column."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.errors import EncodeError, SchemaError
from recordsmith.schema import Bytes, Feature, Scalar, Schema, Steps, Tensor, Text

CASES: list[tuple[Feature, list[Any]]] = [
    (Scalar("float32"), [[1.5, 2.5], [], [3.5]]),
    (Scalar("uint8"), [[1, 2], [], [3]]),
    (Scalar("bool"), [[True], [False, True], []]),
    (Tensor("int64", (2,)), [[[1, 2], [3, 4]], [], [[5, 6]]]),
    (Tensor("uint8", (2, 1)), [[[[1], [2]]], [], [[[3], [4]], [[5], [6]]]]),
    (Tensor("int64", (None,)), [[[1, 2], []], [], [[3]]]),
    (Tensor("int16", (None, 2)), [[[[1, 2]], []], [], [[[3, 4], [5, 6]]]]),
    (Text(), [["a", "né"], [], [""]]),
    (Bytes(), [[b"a", b"\xff"], [], [b""]]),
    (Text((2,)), [[["a", "b"]], [], [["c", "d"], ["e", "f"]]]),
    (Bytes((None,)), [[[b"a"], []], [], [[b"b", b"c"]]]),
    (Text((1,)), [[["a"]], [], [["b"], ["c"]]]),
]


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("feature", "rows"), CASES, ids=lambda value: repr(value)[:40])
@pytest.mark.parametrize("optional", [False, True])
def test_round_trip(feature: Feature, rows: list[Any], optional: bool, through_core: Any) -> None:  # noqa: FBT001
    steps = Steps(feature, optional=optional)
    given = [*rows, None] if optional else rows
    column = steps.assemble(through_core(steps, steps.column_to_parts(given, len(given))))
    assert column.to_list() == given
    assert [plain(steps.row(column, n)) for n in range(len(given))] == given
    # What came out can go in again: as it is, as rows, and as objects.
    for form in (column, [column[n] for n in range(len(given))], tuple(given)):
        again = steps.assemble(through_core(steps, steps.column_to_parts(form, len(given))))
        assert again == column
    assert steps.column_to_parts([], 0)[0][3].tolist() == [0]  # type: ignore[misc]
    canonical = steps.value_to_canonical(rows[0])
    assert len(canonical) == len(rows[0])
    assert all(
        np.array_equal(one, feature.value_to_canonical(step)) for one, step in zip(canonical, rows[0], strict=True)
    )
    assert steps.value_to_canonical([]) == []


def test_plan() -> None:
    (column,) = Steps(Tensor("uint8", (2, 3)), optional=True).plan("frames")
    assert (column.key, column.kind, column.count, column.row_bytes) == ("frames", "bytes", 1, 6)
    assert (column.presence, column.steps) == ("optional", True)


def test_arrays_with_a_step_axis_are_not_copied() -> None:
    array = np.zeros((3, 4, 2), np.float32)
    steps = Steps(Tensor("float32", (2,)))
    ((values, offsets, present, step_offsets),) = steps.column_to_parts(array, 3)  # type: ignore[misc]
    assert np.shares_memory(values, array)
    assert (offsets, present, step_offsets.tolist()) == (None, None, [0, 4, 8, 12])
    ragged = Ragged(np.zeros((5, 2), np.float32), [0, 2, 5])
    ((values, _, _, _),) = steps.column_to_parts(ragged)  # type: ignore[misc]
    assert np.shares_memory(values, ragged.values)
    shaped = Ragged(np.zeros(10, np.float32), [0, 4, 10], row_shape=(None, 2))
    ((values, _, _, step_offsets),) = steps.column_to_parts(shaped)  # type: ignore[misc]
    assert np.shares_memory(values, shaped.values)
    assert step_offsets.tolist() == [0, 2, 5]


def test_masked_rows(through_core: Any) -> None:
    steps = Steps(Scalar("int64"), optional=True)
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[True, True], [False, False]])
    assert steps.assemble(through_core(steps, steps.column_to_parts(masked))).to_list() == [None, [3, 4]]


@pytest.mark.parametrize(
    ("feature", "rows", "row", "said"),
    [
        (Scalar("uint8"), [[1], [2, 300]], 1, "Step 1: A value does not fit"),
        (Scalar("uint8"), [[], [], [1, 2, "a"]], 2, "Step 2: A value is not a number"),
        (Text(), [["a"], ["b", 3]], 1, "Step 1: A value is not a string"),
        (Text(), [["a"], "abc"], 1, "must be a list of steps"),
        (Text(), ["a"], 0, "must be a list of steps"),
        (Scalar("int64"), [[1], 2], 1, "must be a list of steps"),
        (Scalar("int64"), np.arange(3), 0, "must be a list of steps"),
        (Text(), ByteColumn(b"ab", [0, 1, 2]), 0, "must be a list of steps"),
        (Scalar("int64"), [[1, None]], 0, "Step 1 has no value"),
        (Scalar("int64"), [[1], None], 1, "A required feature has no value"),
        (Tensor("int64", (2,)), [[[1, 2]], [[1, 2], [3]]], 1, "Step 1: A row has the wrong shape"),
        (Scalar("float32"), {"a": 1}, None, "as a column"),
    ],
)
def test_errors_name_the_record_and_the_step(feature: Feature, rows: Any, row: int | None, said: str) -> None:
    with pytest.raises(EncodeError, match=said) as caught:
        Steps(feature).column_to_parts(rows)
    assert caught.value.row == row


def test_the_length_is_checked() -> None:
    with pytest.raises(EncodeError, match="wrong length"):
        Steps(Text()).column_to_parts([["a"]], 2)


def test_single_values_name_the_step() -> None:
    with pytest.raises(EncodeError, match="Step 1: A value is not a number") as caught:
        Steps(Scalar("int64")).value_to_canonical([1, "a"])
    assert caught.value.row is None
    with pytest.raises(EncodeError, match="list of steps"):
        Steps(Text()).value_to_canonical("abc")
    assert Steps(Text(), optional=True).value_to_canonical(None) is None


def test_declaring() -> None:
    with pytest.raises(SchemaError, match="optional=True on Steps"):
        Steps(Scalar("int64", optional=True))
    with pytest.raises(SchemaError, match="optional=True on Steps"):
        Steps(Text(default="a"))
    with pytest.raises(SchemaError, match="feature of a single step"):
        Steps(Steps(Text()))
    with pytest.raises(SchemaError, match="feature of a single step"):
        Steps("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Steps(Text(), default=[])  # type: ignore[call-arg]


def test_repr_json_and_pickle() -> None:
    steps = Steps(Tensor("uint8", (None, 2)), optional=True, description="frames")
    assert repr(steps) == "Steps(Tensor('uint8', (None, 2)), optional=True, description='frames')"
    assert pickle.loads(pickle.dumps(steps)) == steps
    schema = Schema({"a": steps, "b": Steps(Text())})
    assert Schema.from_json(schema.to_json()) == schema
    with pytest.raises(SchemaError, match="feature of one step"):
        Steps.from_json({"feature": {"type": "steps"}})
    with pytest.raises(SchemaError, match="feature of one step"):
        Steps.from_json({"feature": 3})
