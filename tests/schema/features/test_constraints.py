"""Constraints: declared in the schema, kept when writing, looked for when reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.errors import EncodeError, SchemaError
from recordsmith.schema import Feature, Violation

NAN, INF = float("nan"), float("inf")

# (feature, what it takes, [what it refuses, and for which constraint])
CASES: list[tuple[Feature, list[Any], list[tuple[Any, str]]]] = [
    (rs.Scalar("float32", min=0, max=1), [0, 1, 0.5], [(-0.1, "min"), (1.5, "max"), (NAN, "min"), (INF, "max")]),
    (rs.Scalar("float32", max=0.1), [0.1, -INF], [(0.11, "max")]),
    (rs.Scalar("float16", min=-1e300, max=1e300), [0, -60000], [(NAN, "min")]),
    (rs.Scalar("int64", min=0.5), [1], [(0, "min")]),
    (rs.Scalar("int64", max=2**63 - 1, min=-(2**63)), [2**63 - 1, -(2**63)], []),
    (rs.Scalar("uint8", min=-5, max=300), [0, 255], []),
    (rs.Scalar("uint64", max=2**63), [2**63], [(2**63 + 1, "max")]),
    (rs.Scalar("float64", finite=True), [1e300], [(NAN, "finite"), (-INF, "finite")]),
    (rs.Scalar("complex64", finite=True), [1j], [(complex(0, INF), "finite")]),
    (rs.Scalar("int64", finite=True), [1], []),
    (rs.Scalar("int64", one_of=[1, 2, 5]), [1, 5], [(3, "one_of")]),
    (rs.Scalar("float32", one_of=[0.1, 0.5]), [0.1, 0.5], [(0.2, "one_of"), (NAN, "one_of")]),
    (rs.Scalar("bool", one_of=[True]), [True, 1], [(False, "one_of")]),
    (rs.Tensor("int64", (2,), min=0), [[0, 1]], [([0, -1], "min")]),
    (rs.Tensor("uint8", (2, 2), max=9, storage="list"), [[[1, 2], [3, 9]]], [([[1, 2], [3, 10]], "max")]),
    (rs.Tensor("float32", (None,), finite=True), [[], [1.0]], [([1, NAN], "finite")]),
    (
        rs.Tensor("int64", (None,), min_length=1, max_length=2),
        [[1], [1, 2]],
        [([], "min_length"), ([1] * 3, "max_length")],
    ),
    (rs.Tensor("int16", (None, 2), max_length=1), [[[1, 2]], []], [([[1, 2], [3, 4]], "max_length")]),
    (rs.Tensor("int16", (2, None), max_length=1), [[[1], [2]]], [([[1, 2], [3, 4]], "max_length")]),
    (rs.Text(min_length=1, max_length=3), ["abc", "äöü"], [("", "min_length"), ("äöüß", "max_length")]),
    (rs.Bytes(min_length=2, max_length=3), [b"ab"], [(b"a", "min_length"), ("äö".encode(), "max_length")]),
    (rs.Text(one_of=["a", "bc"]), ["a", "bc"], [("b", "one_of"), ("", "one_of")]),
    (rs.Bytes(one_of=[b"a", b"\xff"]), [b"\xff"], [(b"b", "one_of")]),
    (
        rs.Text((None,), max_length=2, one_of=["a"]),
        [[], ["a", "a"]],
        [(["a"] * 3, "max_length"), (["a", "b"], "one_of")],
    ),
    (rs.Text((2,), one_of=["a"]), [["a", "a"]], [(["a", "b"], "one_of")]),
    (rs.Text((1,), one_of=["a"]), [["a"]], [(["b"], "one_of")]),
]


def with_optional(feature: Feature) -> Feature:
    settings = {name: value for name, value in feature.to_json().items() if name != "type"}
    return type(feature).from_json({**settings, "optional": True})


@pytest.mark.parametrize(
    ("feature", "good", "bad"), CASES, ids=lambda case: repr(case) if isinstance(case, Feature) else ""
)
def test_values_are_held_to_them(
    feature: Feature, good: list[Any], bad: list[tuple[Any, str]], through_core: Any
) -> None:
    feature.column_to_parts(good)
    for value in good:
        assert feature.value_to_canonical(value) is not None
    optional = with_optional(feature)
    optional.column_to_parts([None, *good, None])
    free = unconstrained(feature)
    for value, constraint in bad:
        for one, rows, row in (
            (feature, [*good, value], len(good)),
            (optional, [None, *good, value, None], len(good) + 1),
        ):
            with pytest.raises(EncodeError, match=f"constraint '{constraint}'") as caught:
                one.column_to_parts(rows)
            assert caught.value.row == row
            assert caught.value.found
            assert caught.value.expected
        with pytest.raises(EncodeError, match=constraint):
            feature.value_to_canonical(value)
        # `violations` finds what others stored: in whole columns, in slices, and with absent rows.
        column = free.assemble(through_core(free, free.column_to_parts([value, *good, value, *good])))
        assert [(found.row, found.constraint) for found in feature.violations(column)] == [
            (0, constraint),
            (len(good) + 1, constraint),
        ]
        assert [found.row for found in feature.violations(column[1:])] == [len(good)]
        gaps = with_optional(free)
        column = gaps.assemble(through_core(gaps, gaps.column_to_parts([None, *good, value, None])))
        assert [found.row for found in feature.violations(column)] == [len(good) + 1]
    for rows in (good, []):
        column = optional.assemble(through_core(optional, optional.column_to_parts(rows)))
        assert optional.violations(column) == []
        column = feature.assemble(through_core(feature, feature.column_to_parts(rows)))
        assert feature.violations(column) == []


def unconstrained(feature: Feature) -> Feature:
    limits = ("min", "max", "one_of", "finite", "min_length", "max_length", "type")
    return type(feature).from_json({key: value for key, value in feature.to_json().items() if key not in limits})


@pytest.mark.parametrize("feature", [case[0] for case in CASES], ids=repr)
def test_they_are_kept_with_the_schema(feature: Feature, tmp_path: Path) -> None:
    schema = rs.Schema({"x": feature})
    schema.save(tmp_path / "schema.json")
    assert rs.Schema.load(tmp_path / "schema.json") == schema
    names = {name: getattr(rs, name) for name in rs.__all__}
    assert eval(repr(feature), names) == feature
    assert unconstrained(feature) != feature


@pytest.mark.parametrize(
    ("kind", "arguments", "settings"),
    [
        (rs.Scalar, ("int64",), {"min": 2, "max": 1}),
        (rs.Scalar, ("int64",), {"min": "1"}),
        (rs.Scalar, ("int64",), {"min": True}),
        (rs.Scalar, ("float32",), {"max": NAN}),
        (rs.Scalar, ("float32",), {"max": INF}),
        (rs.Scalar, ("float32",), {"max": 10**400}),
        (rs.Scalar, ("bool",), {"max": 1}),
        (rs.Scalar, ("complex64",), {"min": 1}),
        (rs.Scalar, ("uint8",), {"one_of": [256]}),
        (rs.Scalar, ("uint8",), {"one_of": ["a"]}),
        (rs.Scalar, ("uint8",), {"one_of": []}),
        (rs.Scalar, ("uint8",), {"one_of": 3}),
        (rs.Scalar, ("float32",), {"one_of": [NAN]}),
        (rs.Scalar, ("float32",), {"finite": 1}),
        (rs.Scalar, ("float32",), {"min": 0, "default": -1}),
        (rs.Tensor, ("int64", (2,)), {"min_length": 1}),
        (rs.Tensor, ("int64", (None,)), {"min_length": -1}),
        (rs.Tensor, ("int64", (None,)), {"min_length": 2, "max_length": 1}),
        (rs.Text, ((2,),), {"max_length": 1}),
        (rs.Text, (), {"max_length": 1.5}),
        (rs.Text, (), {"one_of": "ab"}),
        (rs.Text, (), {"one_of": [b"a"]}),
        (rs.Bytes, (), {"one_of": ["a"]}),
        (rs.Text, (), {"one_of": ["a"], "default": "b"}),
    ],
    ids=str,
)
def test_constraints_that_cannot_work(kind: Any, arguments: Any, settings: Any) -> None:
    with pytest.raises(SchemaError):
        kind(*arguments, **settings)


def test_steps_and_schema() -> None:
    schema = rs.Schema({"s": rs.Steps(rs.Scalar("int64", max=9)), "t": rs.Text(max_length=2), "n": rs.Scalar("int64")})
    with pytest.raises(EncodeError, match=r"Step 1: .*'max'") as caught:
        schema.columns_to_parts({"s": [[1], [2, 10]], "t": ["a", "b"], "n": [1, 2]})
    assert (caught.value.row, caught.value.feature) == (1, "s")
    batch = {
        "s": rs.Ragged(np.array([99, 1, 10, 11, 3]), [1, 2, 4, 5]),
        "t": rs.ByteColumn(b"abcde", [0, 2, 5, 5], text=True),
        "n": np.arange(3),
    }
    assert schema.violations(batch) == {
        "s": [Violation(1, "max", "step 0: 10 (int64)", "at most 9")],
        "t": [Violation(1, "max_length", "3 characters", "at most 2 characters")],
    }


def test_rows_and_columns_are_written_under_them(tmp_path: Path) -> None:
    schema = rs.Schema({"x": rs.Scalar("float32", min=0), "name": rs.Text(max_length=3)})
    with rs.RecordWriter(tmp_path / "data") as writer:
        writer.write_rows([{"x": 1, "name": "a"}], schema)
        for rows, row, feature in (
            ([{"x": 1, "name": "a"}, {"x": -1, "name": "a"}], 1, "x"),
            ([{"x": 1, "name": "long"}], 0, "name"),
        ):
            with pytest.raises(EncodeError, match="constraint") as caught:
                writer.write_rows(rows, schema)
            assert (caught.value.row, caught.value.feature) == (row, feature)
            with pytest.raises(EncodeError, match="constraint") as caught:
                writer.write_columns({name: [one[name] for one in rows] for name in schema}, schema)
            assert (caught.value.row, caught.value.feature) == (row, feature)
        assert writer.records == 2
    assert "at least 0" in str(caught.value.expected) or "at most 3" in str(caught.value.expected)
