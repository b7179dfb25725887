"""Any row and any column that encodes comes back as the same values and dtypes, of every feature type."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import recordsmith as rs
from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn, SparseRow
from recordsmith.images import encode_image
from recordsmith.schema import (
    Boxes,
    Bytes,
    Feature,
    Image,
    Label,
    Labels,
    Mask,
    Masks,
    Packed,
    Points,
    Scalar,
    Schema,
    Sparse,
    Steps,
    Tensor,
    Text,
)

DTYPES: tuple[Any, ...] = (
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
def shaped_features(draw: st.DrawFn) -> tuple[Feature, Any]:
    """A tensor in which several dimensions vary, and a strategy for one row of it."""
    dtype = draw(st.sampled_from(DTYPES))
    shape: Any = draw(st.permutations([None, None, *draw(st.lists(st.integers(1, 2), max_size=1))]))
    storage: Any = draw(st.sampled_from([None, "bytes", *(["list"] if dtype in IN_LISTS else [])]))
    sizes = st.tuples(*(st.integers(0, 3) if size is None else st.just(size) for size in shape))
    return Tensor(dtype, tuple(shape), storage=storage), sizes.flatmap(lambda size: hnp.arrays(dtype, size))


@st.composite
def sparse_features(draw: st.DrawFn) -> tuple[Feature, Any]:
    dtype, size = draw(st.sampled_from(["float32", "int64"])), draw(st.integers(1, 6))
    places = st.lists(st.integers(0, size - 1), unique=True, max_size=size).map(sorted)
    row = places.flatmap(
        lambda indices: hnp.arrays(dtype, len(indices)).map(
            lambda values: SparseRow(np.array(indices, np.int64), values)
        )
    )
    return Sparse(np.dtype(dtype), size), row


@st.composite
def packed_features(draw: st.DrawFn) -> tuple[Feature, Any]:
    parts = draw(
        st.dictionaries(
            st.sampled_from("abc"),
            st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(1, 2), max_size=2).map(tuple)),
            min_size=1,
        )
    )
    row = st.fixed_dictionaries({name: hnp.arrays(dtype, shape) for name, (dtype, shape) in parts.items()})
    return Packed(parts), row


@st.composite
def label_features(draw: st.DrawFn) -> tuple[Feature, Any]:
    names = draw(st.integers(1, 5) | st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, unique=True))
    feature = Label(names)
    return feature, st.integers(0, feature.size - 1).map(np.int64)


IMAGES = [
    encode_image(np.full((height, width, 3), 7, np.uint8), encoding)
    for height, width in ((1, 1), (2, 3))
    for encoding in ("png", "jpeg", "bmp")
]


def image_features() -> Any:
    return st.just((Image(), st.sampled_from(IMAGES)))


@st.composite
def boxes(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    count = draw(st.integers(0, 3))
    corners = np.sort(draw(hnp.arrays(np.float32, (2, count, 2), elements=st.floats(0, 1, width=32))), axis=0)
    return np.concatenate([corners[0], corners[1]], axis=1)


MASKS = [encode_image(np.full((2, 3, 1), value, np.uint8), "png") for value in (0, 1)]


@st.composite
def detection_features(draw: st.DrawFn) -> tuple[Feature, Any]:
    """Boxes, points, classes and masks, and a strategy for one row of them."""
    split = draw(st.booleans())
    count = st.integers(0, 3)
    points = count.flatmap(lambda n: hnp.arrays(np.float32, (n, 2, 2), elements=st.floats(-2, 2, width=32)))
    classes = count.flatmap(lambda n: hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    cases: list[tuple[Feature, Any]] = [
        (Boxes(split=split), boxes()),
        (Points(2, split=split), points),
        (Labels(["a", "b", "c"]), classes),
        (Mask(["a", "b"] if split else None), st.sampled_from(MASKS)),
        (Masks(), st.lists(st.sampled_from(MASKS), max_size=3)),
    ]
    found: tuple[Feature, Any] = draw(st.sampled_from(cases))
    return found


ANY_FEATURE = (
    *(numeric_features(), numeric_features(), string_features(), shaped_features(), sparse_features()),
    *(packed_features(), label_features(), image_features(), detection_features()),
)


NOT_IN_STEPS = (Packed, Boxes, Points, Labels, Mask, Masks)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Feature, list[Any]]:
    feature, row = draw(st.one_of(*ANY_FEATURE))
    settings_of = {key: value for key, value in feature.to_json().items() if key != "type"}
    how = draw(st.sampled_from(["required", "optional", "default", "steps", "optional steps"]))
    if how == "default":
        feature = type(feature)(**{**arguments(feature), "default": draw(row)})
    elif how == "optional":
        feature = type(feature).from_json({**settings_of, "optional": True})
    elif how.endswith("steps") and len(feature.plan("")) == 1 and not isinstance(feature, NOT_IN_STEPS):
        feature, row = Steps(feature, optional=how == "optional steps"), st.lists(row, max_size=3)
    return feature, draw(st.lists(st.none() | row if feature.optional else row, max_size=6))


def arguments(feature: Feature) -> dict[str, Any]:
    names = {
        Packed: ("parts",),
        Sparse: ("dtype", "size"),
        Label: ("names",),
        Image: (),
        Boxes: ("split",),
        Points: ("points", "split"),
        Labels: ("names",),
        Mask: ("names",),
        Masks: (),
    }.get(type(feature), ("dtype", "shape", "storage"))
    return {name: getattr(feature, name) for name in names if hasattr(feature, name)}


def same(got: Any, wanted: Any) -> bool:
    if wanted is None:
        return got is None
    if isinstance(wanted, dict):
        return got.keys() == wanted.keys() and all(same(got[name], value) for name, value in wanted.items())
    if isinstance(wanted, SparseRow):
        return all(same(a, b) for a, b in zip(got, wanted, strict=True))
    if isinstance(wanted, list):
        return len(got) == len(wanted) and all(same(a, b) for a, b in zip(got, wanted, strict=True))
    if isinstance(wanted, (str, bytes)):
        return bool(got == wanted and type(got) is type(wanted))
    return bool(got.dtype == wanted.dtype and got.shape == wanted.shape and got.tobytes() == wanted.tobytes())


def stored(feature: Feature, value: Any) -> list[Any]:
    """What a value is stored as, comparable."""
    canonical = feature.value_to_canonical(value)
    parts = canonical if isinstance(canonical, tuple) else [canonical]
    return [part.tobytes() if isinstance(part, np.ndarray) else part for part in parts]


@settings(max_examples=500, deadline=None)
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
            assert stored(feature, got) == stored(feature, default)
        else:
            assert same(got, row), (feature, row)

    # The column itself, its rows, and its slices can be written again, to the same parts.
    back = [feature.row(column, number) for number in range(len(rows))]
    for form in (column, back):
        again = feature.assemble(through_core(feature, feature.column_to_parts(form, len(rows))))
        assert all(same(feature.row(again, number), back[number]) for number in range(len(rows)))
    if isinstance(column, (Ragged, ByteColumn, ShapedColumn, SparseColumn, PackedColumn)):
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round_trip")


NUMBERS = count()


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b/c", "é"]), columns(), min_size=1))
def test_rows_and_columns_come_back_from_a_file(folder: Path, case: dict[str, tuple[Feature, list[Any]]]) -> None:
    rows = min(len(values) for _, values in case.values())
    schema = Schema({name: feature for name, (feature, _) in case.items()})
    columns_given = {name: values[:rows] for name, (_, values) in case.items()}
    rows_given = [{name: values[n] for name, values in columns_given.items()} for n in range(rows)]
    path = folder / f"{next(NUMBERS)}.tfrecord"
    with rs.RecordWriter(path, sync=False) as writer:
        writer.write_rows(rows_given, schema)
        writer.write_columns(columns_given, schema)
        for row in rows_given:
            writer.write_rows([{name: value for name, value in row.items() if value is not None}], schema)
    payloads = list(rs.RecordReader(path))
    assert payloads[:rows] == payloads[rows : 2 * rows] == payloads[2 * rows :]
    for row, wanted in zip(rs.open(path, schema=schema), [*rows_given, *rows_given, *rows_given], strict=True):
        for name, feature in schema.items():
            if wanted[name] is None and feature.default is not None:
                assert stored(feature, row[name]) == stored(feature, feature.default)
            else:
                assert same(row[name], wanted[name]), (name, feature, wanted[name], row[name])
    path.unlink()
