"""Any row that encodes decodes to the same values and dtypes, through recordsmith and through TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import recordsmith as rs
from tests.schema.export.tensors import assert_rows_same, written
from tests.schema.test_round_trip import boxes

DTYPES: tuple[Any, ...] = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
NOT_LISTED = ("float64", "complex64", "complex128")

presences: st.SearchStrategy[dict[str, Any]] = st.sampled_from([{}, {}, {"optional": True}])
names = st.text("ab/ü 'é\"\n", min_size=1, max_size=5)
shapes = st.lists(st.one_of(st.none(), st.integers(1, 3)), max_size=3).map(tuple)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def numbers(feature: Any, shape: Any) -> st.SearchStrategy[Any]:
    dtype = feature.dtype
    if dtype.name == "uint64" and feature.stored_as == "list":
        elements: st.SearchStrategy[Any] = st.integers(0, 2**63 - 1)
    else:
        elements = hnp.from_dtype(dtype)
    return hnp.arrays(dtype, shape, elements=elements)


@st.composite
def number_features(draw: st.DrawFn, *, presence: bool = True) -> Any:
    dtype = draw(st.sampled_from(DTYPES))
    storage: Any = draw(st.sampled_from(["bytes", None] if dtype in NOT_LISTED else ["bytes", "list", None]))
    shape = draw(shapes if presence else shapes.filter(lambda sizes: sizes.count(None) < 2))
    settings_: dict[str, Any] = {"storage": storage, **(draw(presences) if presence else {})}
    feature: Any = rs.Tensor(dtype, shape, **settings_) if shape else rs.Scalar(dtype, **settings_)
    if presence and None not in shape and draw(st.integers(0, 3)) == 0:
        default = draw(numbers(feature, shape))
        feature = (
            rs.Tensor(dtype, shape, storage=storage, default=default)
            if shape
            else rs.Scalar(dtype, storage=storage, default=default[()])
        )
    return feature


@st.composite
def string_features(draw: st.DrawFn, *, presence: bool = True) -> Any:
    kind = draw(st.sampled_from([rs.Text, rs.Bytes]))
    shape = draw(st.sampled_from([(), (None,), (1,), (2,)]))
    return kind(shape, **(draw(presences) if presence else {}))


label_features = presences.map(lambda presence: rs.Label(["a", "b", "c"], **presence))
step_features = st.one_of(number_features(presence=False), string_features(presence=False))
packed_features = st.builds(
    lambda parts, presence: rs.Packed(parts, **presence),
    st.dictionaries(
        st.text("ab", min_size=1, max_size=2),
        st.tuples(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=2, max_side=3)),
        min_size=1,
        max_size=3,
    ),
    presences,
)
sparse_features = st.builds(
    lambda dtype, size, presence: rs.Sparse(dtype, size, **presence),
    st.sampled_from(["float32", "int64"]),
    st.integers(1, 9),
    presences,
)
features = st.one_of(
    number_features(),
    number_features(),
    string_features(),
    label_features,
    packed_features,
    sparse_features,
    st.builds(rs.Boxes, split=st.booleans()),
    st.builds(rs.Labels, st.just(["a", "b", "c"])),
    st.builds(rs.Steps, step_features, optional=st.booleans()),
)


def values(feature: Any) -> st.SearchStrategy[Any]:
    """Values of a feature; None too where it may be absent."""
    if isinstance(feature, rs.Steps):
        strategy: st.SearchStrategy[Any] = st.lists(values(feature.feature), max_size=3)
    elif isinstance(feature, rs.Packed):
        parts = {name: hnp.arrays(dtype, shape) for name, (dtype, shape) in feature.parts.items()}
        strategy = st.fixed_dictionaries(parts)
    elif isinstance(feature, rs.Sparse):
        strategy = st.dictionaries(st.integers(0, feature.size - 1), hnp.from_dtype(feature.dtype))
    elif isinstance(feature, rs.Label):
        strategy = st.integers(0, feature.size - 1)
    elif isinstance(feature, rs.Labels):
        strategy = st.lists(st.integers(0, feature.size - 1), max_size=3).map(lambda row: np.array(row, np.int64))
    elif isinstance(feature, rs.Boxes):
        strategy = boxes()
    elif isinstance(feature, (rs.Text, rs.Bytes)):
        one: st.SearchStrategy[Any] = texts if isinstance(feature, rs.Text) else st.binary(max_size=5)
        count = feature.shape[0] if feature.shape else None
        least, most = (0, 3) if count is None else (count, count)
        strategy = st.lists(one, min_size=least, max_size=most) if feature.shape else one
    else:
        strategy = rows_of_numbers(feature)
    return st.one_of(st.none(), strategy) if feature.optional else strategy


@st.composite
def rows_of_numbers(draw: st.DrawFn, feature: Any) -> Any:
    shape = tuple(draw(st.integers(0, 3)) if size is None else size for size in feature.row_shape)
    return draw(numbers(feature, shape))


@st.composite
def schemas_and_rows(draw: st.DrawFn) -> tuple[rs.Schema, list[dict[str, Any]]]:
    schema = rs.Schema(draw(st.dictionaries(names, features, min_size=1, max_size=3)))
    row = st.fixed_dictionaries({name: values(feature) for name, feature in schema.items()})
    return schema, draw(st.lists(row, min_size=1, max_size=3))


@settings(max_examples=60)
@given(schemas_and_rows())
def test_the_same_through_recordsmith_and_through_tensorflow(case: tuple[rs.Schema, list[dict[str, Any]]]):
    schema, given_rows = case
    payloads, rows = written(schema, given_rows)
    for given_row, row in zip(given_rows, rows, strict=True):
        for name, feature in schema.items():
            assert_reads_as_given(feature, row[name], given_row[name])
    assert_rows_same(schema, payloads, rows)


def assert_reads_as_given(feature: Any, found: Any, value: Any) -> None:
    """Compare what recordsmith reads with what was written."""
    expected = feature.default if value is None else value
    if expected is None:
        assert found is None
    elif isinstance(feature, rs.Steps):
        assert len(found) == len(expected)
        for step, wanted in zip(found, expected, strict=True):
            assert_reads_as_given(feature.feature, step, wanted)
    elif isinstance(feature, (rs.Text, rs.Bytes)):
        assert found == expected
    elif isinstance(feature, rs.Packed):
        for name, (part, _) in feature.parts.items():
            assert np.asarray(found[name]).dtype == part
            np.testing.assert_array_equal(found[name], expected[name])
    elif isinstance(feature, rs.Sparse):
        assert found.values.dtype == feature.dtype
        assert found.indices.tolist() == sorted(expected)
        np.testing.assert_array_equal(found.values, [expected[index] for index in sorted(expected)])
    else:
        dtype = np.dtype("int64") if isinstance(feature, rs.Label) else feature.dtype
        assert np.asarray(found).dtype == dtype
        np.testing.assert_array_equal(found, np.asarray(expected, dtype), strict=True)
