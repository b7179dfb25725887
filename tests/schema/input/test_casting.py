"""What is a lossless cast and what is refused, value by value and dtype by dtype.

Every case is tried in each form that a value can come in, so that no container is a way around the rules.
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import pathlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsmith.errors import EncodeError
from recordsmith.schema import Scalar, Tensor
from recordsmith.schema.input.casting import cast_exactly, describe_dtype, describe_value

NAN, INF = float("nan"), float("inf")

ACCEPTED: list[tuple[str, Any, Any]] = [
    ("float32", 1, 1.0),
    ("float32", 0.1, np.float32(0.1)),  # ordinary rounding
    ("float32", 1e-300, 0.0),
    ("float32", -0.0, -0.0),
    ("float32", NAN, NAN),
    ("float32", -INF, -INF),
    ("float32", True, 1.0),
    ("float32", 2**24, 2.0**24),
    ("float32", 2**25, 2.0**25),
    ("float32", 2**127, 2.0**127),
    ("float32", -(2**63), -(2.0**63)),
    ("float32", np.float16(0.5), 0.5),
    ("float32", 3.4e38, np.float32(3.4e38)),
    ("float64", 1e300, 1e300),
    ("float64", 2**53, 2.0**53),
    ("float64", 2**62, 2.0**62),
    ("float16", 65504, 65504.0),
    ("float16", 0.1, np.float16(0.1)),
    ("int64", 2**63 - 1, 2**63 - 1),
    ("int64", -(2**63), -(2**63)),
    ("int64", 2.0, 2),
    ("int64", -(2.0**63), -(2**63)),
    ("int64", np.uint64(5), 5),
    ("int64", False, 0),
    ("uint8", 255, 255),
    ("uint8", 255.0, 255),
    ("int8", -128, -128),
    ("uint64", 2**64 - 1, 2**64 - 1),
    ("uint64", 2.0**63, 2**63),
    ("bool", True, True),
    ("bool", 1, True),
    ("bool", 0.0, False),
    ("bool", np.bool_(1), True),
    ("complex64", 1 + 2j, 1 + 2j),
    ("complex64", 1, 1 + 0j),
    ("complex128", 1e300, 1e300 + 0j),
    ("float32", decimal.Decimal("0.5"), 0.5),
    ("float64", decimal.Decimal("Infinity"), INF),
    ("int64", decimal.Decimal(2**53 + 1), 2**53 + 1),
    ("uint8", decimal.Decimal("255.00"), 255),
]

REFUSED: list[tuple[str, Any]] = [
    ("float32", 1e300),
    ("float32", -1e39),
    ("float32", 2**24 + 1),
    ("float32", 2**63 - 1),
    ("float32", 10**400),
    ("float32", 1j),
    ("float16", 1e5),
    ("float16", 65520),
    ("float16", 2049),
    ("float64", 2**53 + 1),
    ("float64", 2**64 + 1),
    ("int64", 2**63),
    ("int64", -(2**63) - 1),
    ("int64", 2**64),
    ("int64", 10**400),
    ("int64", 1.5),
    ("int64", NAN),
    ("int64", INF),
    ("int64", 2.0**63),
    ("int64", 1 + 0j),
    ("int32", 2**31),
    ("uint8", 256),
    ("uint8", -1),
    ("uint8", -0.5),
    ("uint8", 255.5),
    ("uint64", -1),
    ("uint64", 2.0**64),
    ("bool", 2),
    ("bool", 0.5),
    ("bool", NAN),
    ("complex64", 1e300),
    ("complex64", 1e300j),
    ("complex64", 2**24 + 1),
    ("float32", decimal.Decimal("0.1")),
    ("float64", decimal.Decimal("0.1")),
    ("int64", decimal.Decimal("1.5")),
    ("int64", decimal.Decimal("NaN")),
    ("uint8", decimal.Decimal(256)),
    ("float64", decimal.Decimal("1e999999")),
]

NO_NUMBERS: list[tuple[Any, str]] = [
    ("1", "int()"),
    (b"1", "Text or Bytes"),
    (np.str_("1"), "float()"),
    (np.bytes_(b"1"), "float()"),
    (dt.datetime(2024, 1, 1), "isoformat"),  # noqa: DTZ001 - a naive one is as wrong as any
    (dt.date(2024, 1, 1), "timestamp"),
    (dt.timedelta(1), "number"),
    (np.datetime64("2024-01-01"), "number"),
    (np.timedelta64(1, "s"), "number"),
    (pathlib.Path("a"), "Read the file"),
    (fractions.Fraction(1, 2), "Give numbers"),
    ({"a": 1}, "Give numbers"),
    (object(), "Give numbers"),
]


def forms(dtype: Any, value: Any) -> list[tuple[Any, Any, Any]]:
    """Every way to give the value: a feature, what it is given, and the row the error should name."""
    ok = 1
    objects = np.array([ok, value, ok], object)
    given: list[tuple[Any, Any, Any]] = [
        (Scalar(dtype), [ok, value, ok], 1),
        (Scalar(dtype, optional=True), [None, ok, value], 2),
        (Scalar(dtype), objects, 1),
        (Tensor(dtype, (2,)), [[ok, ok], [ok, value]], 1),
        (Tensor(dtype, (2,), optional=True), [None, [value, ok]], 1),
        (Tensor(dtype, (None,)), [[ok, ok], [], [ok, value]], 2),
        (Tensor(dtype, (None, 1)), [[[ok], [ok]], [], [[ok], [value]]], 2),
        (Tensor(dtype, (None,), optional=True), [None, np.array([ok, value], object)], 1),
    ]
    if type(value) in (int, float, complex, bool) or isinstance(value, np.generic):
        single = np.asarray(value)
        if single.dtype.kind in "biufc":
            two = np.stack([single, single])
            given += [
                (Scalar(dtype), two, 0),
                (Scalar(dtype), two.astype(two.dtype.newbyteorder()), 0),
                (Scalar(dtype, optional=True), np.ma.array(two, mask=[True, False]), 1),
                (Tensor(dtype, (1,)), two.reshape(2, 1), 0),
                (Tensor(dtype, (None,)), [single.reshape(1)[:0], single.reshape(1)], 1),
            ]
    return given


@pytest.mark.parametrize(("dtype", "value", "stored"), ACCEPTED)
def test_lossless_casts_are_made(dtype: Any, value: Any, stored: Any, through_core: Any) -> None:
    for feature, column, row in forms(dtype, value):
        assembled = feature.assemble(through_core(feature, feature.column_to_parts(column)))
        values = np.ravel(feature.row(assembled, row))
        assert values.dtype == dtype
        wanted = np.array(stored, dtype).tolist()
        assert any(repr(one) == repr(wanted) for one in values.tolist()), (feature, column)
    canonical = Scalar(dtype, storage="bytes").value_to_canonical(value)
    assert canonical == np.array(stored, dtype).tobytes()


@pytest.mark.parametrize(("dtype", "value"), REFUSED)
def test_lossy_casts_are_refused(dtype: Any, value: Any) -> None:
    for feature, column, row in forms(dtype, value):
        with pytest.raises(EncodeError, match="does not fit") as caught:
            feature.column_to_parts(column)
        assert caught.value.row == row, (feature, column)
        assert caught.value.expected == describe_dtype(np.dtype(dtype))
        assert caught.value.found
        assert caught.value.advice
    with pytest.raises(EncodeError, match="does not fit"):
        Scalar(dtype).value_to_canonical(value)


@pytest.mark.parametrize(("value", "advice"), NO_NUMBERS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "complex64"])
def test_what_is_no_number_is_refused_in_words(dtype: Any, value: Any, advice: str) -> None:
    for feature, column, row in forms(dtype, value):
        with pytest.raises(EncodeError, match="not a number") as caught:
            feature.column_to_parts(column)
        assert caught.value.row == row, (feature, column)
        assert advice in str(caught.value.advice)
    with pytest.raises(EncodeError, match="not a number"):
        Scalar(dtype).value_to_canonical(value)


@pytest.mark.parametrize("array", [np.array(["1", "2"]), np.array([b"1"]), np.array(["2024-01-01"], "M8[s]")])
def test_arrays_that_hold_no_numbers(array: Any) -> None:
    with pytest.raises(EncodeError, match="not a number") as caught:
        Scalar("float32").column_to_parts(array)
    assert caught.value.row == 0
    with pytest.raises(EncodeError, match="not a number"):
        Scalar("float32").column_to_parts(np.zeros(2, [("a", "f4")]))


def test_a_gap_inside_a_row_is_refused() -> None:
    for shape in ((2,), (None,)):
        with pytest.raises(EncodeError, match="not a number") as caught:
            Tensor("float32", shape, optional=True).column_to_parts([[1, 2], [None, 1]])
        assert caught.value.row == 1
        assert "whole" in str(caught.value.advice)


def test_large_integers_beside_floats_keep_their_digits(through_core: Any) -> None:
    # numpy makes float64 of such a list, in which 2**53 + 1 is 2**53.
    feature = Scalar("int64")
    column = feature.assemble(through_core(feature, feature.column_to_parts([2**53 + 1, 1.0, -1])))
    assert column.tolist() == [2**53 + 1, 1, -1]
    feature = Scalar("uint64")
    column = feature.assemble(through_core(feature, feature.column_to_parts([2**64 - 1, 1.0, 0])))
    assert column.tolist() == [2**64 - 1, 1, 0]
    cases: list[tuple[Any, list[Any], int]] = [
        ("int64", [-1, 2**63], 1),
        ("int64", [10**400, 1.5], 0),
        ("float32", [0.5, 2**24 + 1], 1),
        ("float64", [0.5, 2**53 + 1], 1),
    ]
    for dtype, rows, wrong in cases:
        for values in (rows, [np.float32(1), *rows]):
            with pytest.raises(EncodeError) as caught:
                Scalar(dtype).column_to_parts(values)
            assert caught.value.row == wrong + len(values) - len(rows)
    assert Scalar("float32").column_to_parts([1e10, 0.5])[0][0].tolist() == [1e10, 0.5]


@given(
    st.sampled_from(list("?bhiqBHIQefdFD")),
    st.sampled_from(list("?bhiqBHIQefdFD")),
    st.lists(
        st.integers(-(2**64), 2**64)
        | st.sampled_from([2**n + d for n in (7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64) for d in (-1, 0, 1)])
        | st.floats(),
        min_size=1,
        max_size=5,
    ),
)
def test_casts_agree_with_exact_arithmetic(source: str, target: str, numbers: list[Any]) -> None:
    """Compare with Python's own numbers, which lose nothing."""
    with np.errstate(all="ignore"):
        try:
            array = np.array(numbers, object).astype(source)
        except (OverflowError, ValueError, DeprecationWarning):  # the last is numpy 1's word for the first
            return
    dtype = np.dtype(target)

    def fits(value: Any) -> bool:
        if dtype.kind == "c":
            parts = [value.real, value.imag] if isinstance(value, complex) else [value]
            return all(fits_real(part, np.dtype("f4" if dtype.itemsize == 8 else "f8")) for part in parts)
        return not isinstance(value, complex) and fits_real(value, dtype)

    def fits_real(value: Any, kind: np.dtype[Any]) -> bool:
        if kind.kind == "b":
            return bool(value in (0, 1))
        if kind.kind in "iu":
            whole = isinstance(value, int) or (np.isfinite(value) and value == int(value))
            return bool(whole and np.iinfo(kind).min <= int(value) <= np.iinfo(kind).max)
        if not np.isfinite(float(value)):
            return True
        with np.errstate(all="ignore"):
            rounded = kind.type(value)
        return bool(np.isfinite(rounded)) and (isinstance(value, float) or float(rounded) == value)

    misfit = next((n for n, value in enumerate(array.tolist()) if not fits(value)), None)
    if misfit is not None:
        with pytest.raises(EncodeError) as caught:
            cast_exactly(array, dtype, int)
        assert caught.value.row == misfit
        return
    cast = cast_exactly(array, dtype, int)
    assert cast.dtype == dtype
    assert cast.flags.c_contiguous
    with np.errstate(all="ignore"):
        assert np.array_equal(cast, array.astype(dtype), equal_nan=dtype.kind in "fc")


def test_descriptions() -> None:
    assert describe_dtype(np.dtype("bool")) == "bool, or 0 or 1"
    assert "255" in describe_dtype(np.dtype("uint8"))
    assert "16777216" in describe_dtype(np.dtype("float32"))
    assert describe_dtype(np.dtype("complex64")) == "complex64"
    assert describe_value(None) == "None"
    assert describe_value(np.float32(1.5)) == "1.5 (float32)"
    assert describe_value(np.array(3)) == "3 (int64)"
    assert describe_value("x" * 1000).endswith("... (str of length 1000)")
    assert len(describe_value(b"x" * 10**8)) < 100
    assert len(describe_value({"x": "y" * 1000})) < 100
