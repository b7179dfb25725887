"""Any column that encodes comes back as the same values and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.schema import Bytes, Feature, Scalar, Schema, Steps, Tensor, Text

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
IN_LISTS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float16", "float32")


@st.composite
def numeric_features(draw: st.DrawFn) -> tuple[Feature, Any]:
    """A feature of numbers, and a strategy for one row of it."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(1, 3), max_size=3))
    free = draw(st.none() | st.integers(0, len(shape) - 1)) if shape else None
    declared = tuple(None if axis == free else size for axis, size in enumerate(shape))
    storage: Any = draw(st.sampled_from([None, "bytes", *(["list"] if dtype in IN_LISTS else [])]))
    sizes = st.tuples(*(st.integers(0, 3) if axis == free else st.just(size) for axis, size in enumerate(shape)))
    row = sizes.flatmap(lambda size: hnp.arrays(dtype, size))
    feature = Scalar(dtype, storage=storage) if not shape and draw(st.booleans()) else None
    return feature or Tensor(dtype, declared, storage=storage), row


@st.composite
def string_features(draw: st.DrawFn) -> tuple[Feature, Any]:
    kind, value = draw(st.sampled_from([(Text, st.text(max_size=5)), (Bytes, st.binary(max_size=5))]))
    count: Any = draw(st.sampled_from(["one", 1, 2, None]))
    if count == "one":
        return kind(), value
    if count is None:
        return kind((None,)), st.lists(value, max_size=3)
    return kind((count,)), st.lists(value, min_size=count, max_size=count)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Feature, list[Any]]:
    feature, row = draw(numeric_features() | string_features())
    settings_of = {key: value for key, value in feature.to_json().items() if key != "type"}
    how = draw(st.sampled_from(["required", "optional", "default", "steps", "optional steps"]))
    if how == "default":
        feature = type(feature)(**{**arguments(feature), "default": draw(row)})
    elif how == "optional":
        feature = type(feature).from_json({**settings_of, "optional": True})
    elif how.endswith("steps"):
        feature, row = Steps(feature, optional=how == "optional steps"), st.lists(row, max_size=3)
    return feature, draw(st.lists(st.none() | row if feature.optional else row, max_size=6))


def arguments(feature: Feature) -> dict[str, Any]:
    names = ("dtype", "shape", "storage")
    return {name: getattr(feature, name) for name in names if hasattr(feature, name)}


def same(got: Any, wanted: Any) -> bool:
    if wanted is None:
        return got is None
    if isinstance(wanted, list):
        return len(got) == len(wanted) and all(same(a, b) for a, b in zip(got, wanted, strict=True))
    if isinstance(wanted, (str, bytes)):
        return bool(got == wanted and type(got) is type(wanted))
    return bool(got.dtype == wanted.dtype and got.shape == wanted.shape and got.tobytes() == wanted.tobytes())


@settings(max_examples=400, deadline=None)
@given(columns())
def test_a_column_comes_back_as_it_went_in(through_core: Any, case: tuple[Feature, list[Any]]) -> None:
    feature, rows = case
    parts = feature.column_to_parts(rows, len(rows))
    column = feature.assemble(through_core(feature, parts))
    assert len(column) == len(rows)
    default = feature.default
    for number, row in enumerate(rows):
        got = feature.row(column, number)
        if row is None and default is not None:
            expected = feature.value_to_canonical(default)
            given_back = feature.value_to_canonical(got)
            assert np.array_equal(expected, given_back, equal_nan=getattr(given_back, "dtype", None) == np.float32)
        else:
            assert same(got, row), (feature, row)

    # The column itself, its rows, and its slices can be written again, to the same parts.
    back = [feature.row(column, number) for number in range(len(rows))]
    for form in (column, back):
        again = feature.assemble(through_core(feature, feature.column_to_parts(form, len(rows))))
        assert all(same(feature.row(again, number), back[number]) for number in range(len(rows)))
    if isinstance(column, (Ragged, ByteColumn)):
        part = column[1:-1]
        cut = feature.assemble(through_core(feature, feature.column_to_parts(part, len(part))))
        assert len(cut) == max(0, len(rows) - 2)

    # One value at a time follows the same rules.
    for row in rows:
        canonical = feature.value_to_canonical(row)
        assert (canonical is None) == (row is None)

    schema = Schema({"x": feature})
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.columns_to_parts({"x": rows})[0] == len(rows)
