"""cast=True: what becomes of numbers that do not fit, and what is refused all the same."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import recordsmith as rs
from recordsmith.errors import EncodeError

NAN, INF = float("nan"), float("inf")
D = decimal.Decimal

CASTS: list[tuple[str, Any, Any]] = [
    ("int64", 1.5, 1),
    ("int64", -1.9, -1),
    ("int64", 2**63, 2**63 - 1),
    ("int64", -(2**63) - 1, -(2**63)),
    ("int64", 10**400, 2**63 - 1),
    ("int64", 1e300, 2**63 - 1),
    ("int64", 2.0**63, 2**63 - 1),
    ("int64", -INF, -(2**63)),
    ("int64", np.uint64(2**64 - 1), 2**63 - 1),
    ("int64", 2.5 + 1j, 2),
    ("int64", D("1.9"), 1),
    ("int64", D(10) ** 30, 2**63 - 1),
    ("int64", D("-Infinity"), -(2**63)),
    ("int64", D("1e999999999"), 2**63 - 1),
    ("uint64", 2.0**64, 2**64 - 1),
    ("uint64", -1, 0),
    ("uint8", 300, 255),
    ("uint8", -1, 0),
    ("uint8", -0.5, 0),
    ("uint8", 255.5, 255),
    ("int8", np.float16(200), 127),
    ("bool", 2, True),
    ("bool", 0.5, True),
    ("bool", -0.0, False),
    ("float32", 1e300, INF),
    ("float32", -1e300, -INF),
    ("float32", 10**400, INF),
    ("float32", 2**24 + 1, 2.0**24),
    ("float32", 1 + 2j, 1.0),
    ("float32", D("0.1"), float(np.float32(0.1))),
    ("float32", D("1e999999999"), INF),
    ("float16", 65520, INF),
    ("float64", 2**53 + 1, 2.0**53),
    ("float64", D("0.1"), 0.1),
    ("complex64", 1e300, complex(INF, 0)),
]


@pytest.mark.parametrize(("dtype", "value", "expected"), CASTS, ids=str)
def test_a_number_becomes_the_nearest(dtype: Any, value: Any, expected: Any) -> None:
    feature = rs.Scalar(dtype, storage="bytes")
    for column in ([value], np.array([value], object), np.array([value]), [1, value][1:]):
        stored = feature.column_to_parts(column, 1, cast=True)[0][0].view(dtype)
        assert stored.reshape(()).item() == expected
    assert np.frombuffer(feature.value_to_canonical(value, cast=True), dtype).item() == expected
    ragged = rs.Tensor(dtype, (None,), storage="bytes")
    assert np.frombuffer(ragged.value_to_canonical([value, 1], cast=True), dtype)[0].item() == expected


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
@pytest.mark.parametrize("value", [NAN, np.float32(NAN), D("NaN"), complex(NAN, 0)], ids=repr)
def test_nan_is_no_integer(dtype: Any, value: Any) -> None:
    for column in ([0, value], np.array([0, value])):
        with pytest.raises(EncodeError, match="NaN") as caught:
            rs.Scalar(dtype).column_to_parts(column, 2, cast=True)
        assert caught.value.row == 1


@pytest.mark.parametrize(
    "value", ["1", b"1", None, np.datetime64("2024-01-01"), object(), [1]], ids=lambda value: type(value).__name__
)
def test_a_cast_makes_no_numbers_of_other_things(value: Any) -> None:
    with pytest.raises(EncodeError):
        rs.Scalar("int64").value_to_canonical(value, cast=True)


def test_a_cast_makes_no_strings() -> None:
    for value in (1, 1.5, [1]):
        with pytest.raises(EncodeError):
            rs.Text().value_to_canonical(value, cast=True)
        with pytest.raises(EncodeError):
            rs.Bytes().value_to_canonical(value, cast=True)


def test_lists_of_wide_integers() -> None:
    feature = rs.Scalar("uint64", storage="list")
    with pytest.raises(EncodeError, match="does not fit"):
        feature.value_to_canonical(2**63)
    assert feature.value_to_canonical(2**63, cast=True).tolist() == [2**63 - 1]


def test_constraints_hold_after_the_cast() -> None:
    with pytest.raises(EncodeError, match="'max'"):
        rs.Scalar("uint8", max=100).value_to_canonical(300, cast=True)


def test_writers_pass_it_on(tmp_path: Path) -> None:
    plain = rs.Schema({"n": rs.Scalar("uint8"), "x": rs.Scalar("float32")})
    checked = rs.Schema({**plain, "label": rs.Label(3), "s": rs.Steps(rs.Scalar("int64"))})
    extra = {"label": 1.5, "s": [0.5]}
    for schema, row in ((plain, {"n": 300, "x": 1e300}), (checked, {"n": 300, "x": 1e300, **extra})):
        with rs.RecordWriter(tmp_path / "data") as writer:
            with pytest.raises(EncodeError, match="cast=True"):
                writer.write_rows([row], schema)
            with pytest.raises(EncodeError, match="cast=True"):
                writer.write_columns({name: [value] for name, value in row.items()}, schema)
            writer.write_rows([row], schema, cast=True)
            writer.write_columns({name: [value] for name, value in row.items()}, schema, cast=True)
            with pytest.raises(EncodeError, match="cast=True"):
                writer.write_rows([row], schema)
        for read in rs.open(tmp_path / "data", schema=schema):
            assert (int(read["n"]), float(read["x"])) == (255, INF)
            if "s" in read:
                assert (int(read["label"]), read["s"].tolist()) == (1, [0])


NUMBERS = ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64"]


@given(
    hnp.arrays(st.sampled_from(NUMBERS), st.integers(0, 4)),
    st.sampled_from(NUMBERS),
)
def test_a_cast_is_what_exact_arithmetic_says(array: Any, dtype: Any) -> None:
    kind = np.dtype(dtype)
    feature = rs.Scalar(dtype, storage="bytes")
    if kind.kind in "iu" and array.dtype.kind == "f" and np.isnan(array).any():
        with pytest.raises(EncodeError, match="NaN"):
            feature.column_to_parts(array, cast=True)
        return
    got = feature.column_to_parts(array, cast=True)[0][0].reshape(-1).view(dtype).tolist()
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            assert np.array_equal(got, array.astype(dtype), equal_nan=True)
        return
    limits = np.iinfo(dtype)
    for given_value, result in zip(array.tolist(), got, strict=True):
        if given_value in (INF, -INF):
            assert result == (limits.max if given_value > 0 else limits.min)
        else:
            assert result == max(limits.min, min(limits.max, int(given_value)))
