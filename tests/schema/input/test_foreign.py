"""Columns from pyarrow and pandas."""

from __future__ import annotations

import datetime as dt
import decimal
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsmith.errors import EncodeError
from recordsmith.schema import Bytes, Feature, Scalar, Schema, Steps, Tensor, Text

ARROW_CASES: list[tuple[Feature, Any, list[Any]]] = [
    (Scalar("int64"), pa.int64(), [1, 2, 3]),
    (Scalar("float32"), pa.float32(), [1.5, 2.5, 3.5]),
    (Scalar("float32"), pa.float64(), [1.5, 2.5, 3.5]),
    (Scalar("float16"), pa.float16(), [1.5, 2.5, 3.5]),
    (Scalar("uint8"), pa.int32(), [1, 2, 255]),
    (Scalar("bool"), pa.bool_(), [True, False, True]),
    (Scalar("int64"), pa.dictionary(pa.int8(), pa.int64()), [7, 8, 7]),
    (Text(), pa.string(), ["a", "né", ""]),
    (Text(), pa.large_string(), ["a", "né", ""]),
    (Text(), pa.string_view(), ["a", "né", "longer than the view holds"]),
    (Text(), pa.binary(), ["a", "né", ""]),
    (Text(), pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a"]),
    (Bytes(), pa.binary(), [b"a", b"\xff", b""]),
    (Bytes(), pa.large_binary(), [b"a", b"\xff", b""]),
    (Bytes(), pa.binary_view(), [b"a", b"\xff", b"longer than the view holds"]),
    (Bytes(), pa.binary(2), [b"ab", b"cd", b"ef"]),
    (Tensor("int64", (None,)), pa.list_(pa.int64()), [[1, 2], [], [3]]),
    (Tensor("uint8", (None,)), pa.large_list(pa.int16()), [[1, 2], [], [3]]),
    (Tensor("float32", (2,)), pa.list_(pa.float32()), [[1, 2], [3, 4], [5, 6]]),
    (Tensor("float32", (2,)), pa.list_(pa.float32(), 2), [[1, 2], [3, 4], [5, 6]]),
    (Tensor("bool", (None,)), pa.list_(pa.bool_()), [[True], [], [False, True]]),
    (Tensor("int64", (2, 2)), pa.list_(pa.list_(pa.int64(), 2), 2), [[[1, 2], [3, 4]]] * 3),
    (Tensor("int64", (None, 2)), pa.list_(pa.list_(pa.int64())), [[[1, 2]], [], [[3, 4], [5, 6]]]),
    (Tensor("int64", (None, 2)), pa.list_(pa.list_(pa.int64(), 2)), [[[1, 2]], [], [[3, 4], [5, 6]]]),
    (Tensor("int64", (2, None)), pa.list_(pa.list_(pa.int64())), [[[1], [2]], [[], []], [[3, 4], [5, 6]]]),
    (Text((None,)), pa.list_(pa.string()), [["a"], [], ["b", "né"]]),
    (Bytes((2,)), pa.list_(pa.binary(), 2), [[b"a", b"b"], [b"c", b"d"], [b"e", b""]]),
    (Steps(Scalar("int64")), pa.list_(pa.int64()), [[1, 2], [], [3]]),
    (Steps(Text()), pa.list_(pa.string()), [["a"], [], ["b", "né"]]),
    (Steps(Tensor("int64", (None,))), pa.list_(pa.list_(pa.int64())), [[[1], []], [], [[3]]]),
]


def optional(feature: Feature) -> Feature:
    settings = {key: value for key, value in feature.to_json().items() if key != "type"}
    return type(feature).from_json({**settings, "optional": True})


def rows_of(feature: Feature, column: Any, count: int) -> list[Any]:
    rows = [feature.row(column, n) for n in range(count)]
    return [row.tolist() if isinstance(row, (np.ndarray, np.generic)) else plain(row) for row in rows]


def only(parts: tuple[Any, ...]) -> Any:
    (part,) = parts
    return part


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("feature", "kind", "rows"), ARROW_CASES, ids=str)
def test_arrow(feature: Feature, kind: Any, rows: list[Any], through_core: Any) -> None:
    values = [row.encode() if kind == pa.binary() and isinstance(row, str) else row for row in rows]
    if kind == pa.float16():
        values = [np.float16(row) for row in rows]  # as older versions of pyarrow want it
    gaps = [values[0], None, values[2]]
    whole, holes = pa.array(values, kind), pa.array(gaps, kind)
    sliced = pa.concat_arrays([holes, whole, holes])[3:6]
    chunked = pa.chunked_array([whole[:1], whole[1:1], whole[1:]])
    for form in (whole, sliced, chunked, pa.chunked_array([whole])):
        column = feature.assemble(through_core(feature, feature.column_to_parts(form, 3)))
        assert rows_of(feature, column, 3) == rows
    feature = optional(feature)
    for form in (holes, pa.concat_arrays([whole, holes])[3:], pa.chunked_array([holes[:2], holes[2:]])):
        column = feature.assemble(through_core(feature, feature.column_to_parts(form, 3)))
        assert rows_of(feature, column, 3) == [rows[0], None, rows[2]]
    for empty in (whole[:0], pa.chunked_array([], kind)):
        assert len(feature.assemble(through_core(feature, feature.column_to_parts(empty, 0)))) == 0
    nothing = feature.column_to_parts(pa.nulls(2), 2)
    assert rows_of(feature, feature.assemble(through_core(feature, nothing)), 2) == [None, None]


def test_arrow_numbers_and_strings_are_not_copied() -> None:
    numbers = pa.array(np.arange(5, dtype=np.float32))
    values, _, _ = only(Scalar("float32").column_to_parts(numbers))
    assert values.ctypes.data == numbers.buffers()[1].address
    strings = pa.array([b"abc", b"de"])
    data, _, _ = only(Bytes().column_to_parts(strings))
    assert data.ctypes.data == strings.buffers()[2].address
    lists = pa.array([[1, 2], [3]])
    values, _, _ = only(Tensor("int64", (None,)).column_to_parts(lists))
    assert values.ctypes.data == lists.buffers()[3].address


def test_bytes_under_an_arrow_null_are_not_written(through_core: Any) -> None:
    offsets = pa.py_buffer(np.array([0, 3, 6, 9], np.int32))
    array = pa.Array.from_buffers(pa.binary(), 3, [pa.py_buffer(b"\x05"), offsets, pa.py_buffer(b"catXXXdog")])
    assert array.to_pylist() == [b"cat", None, b"dog"]
    feature = Bytes(optional=True)
    parts = feature.column_to_parts(array)
    assert feature.assemble(through_core(feature, parts)) == [b"cat", None, b"dog"]
    assert b"X" not in bytes(parts[0][0])


def test_numbers_under_an_arrow_null_are_not_looked_at() -> None:
    array = pa.Array.from_buffers(pa.float64(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(np.array([1.0, 1e300]))])
    values, _, present = only(Scalar("float32", optional=True).column_to_parts(array))
    assert (values.tolist(), present.tolist()) == ([1, 0], [True, False])


def test_extension_types() -> None:
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(8, dtype=np.float32).reshape(2, 4))
    values, _, _ = only(Tensor("float32", (4,)).column_to_parts(tensors))
    assert values.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([dt.datetime(2024, 1, 1)]),  # noqa: DTZ001 - Arrow's own kind of timestamp
        pa.array([dt.date(2024, 1, 1)]),
        pa.array([{"a": 1}]),
        pa.array([[{"a": 1}]]),
    ],
    ids=lambda array: str(array.type),
)
@pytest.mark.parametrize("feature", [Scalar("int64"), Text()])
def test_other_arrow_types_are_refused_in_words(feature: Feature, array: Any) -> None:
    with pytest.raises(EncodeError, match="cannot be stored") as caught:
        feature.column_to_parts(array)
    assert "Arrow type" in str(caught.value.found)


def test_arrow_decimals_mean_what_decimals_do() -> None:
    array = pa.array([decimal.Decimal("1.50"), None])
    values, _, present = only(Scalar("float32", optional=True).column_to_parts(array))
    assert (values.tolist(), present.tolist()) == ([1.5, 0], [True, False])
    with pytest.raises(EncodeError, match="does not fit"):
        Scalar("int64", optional=True).column_to_parts(array)


@pytest.mark.parametrize(
    ("feature", "array"),
    [
        (Tensor("int64", (None,)), pa.array([[1], [2, None]])),
        (Tensor("int64", (None,)), pa.array([[], [None]])),
        (Tensor("int64", (2,)), pa.array([[1, 2], [2, None]], pa.list_(pa.int64(), 2))),
        (Text((None,)), pa.array([["a"], ["b", None]])),
        (Steps(Text()), pa.array([["a"], ["b", None]])),
    ],
)
def test_gaps_inside_arrow_rows_are_refused(feature: Feature, array: Any) -> None:
    with pytest.raises(EncodeError, match="A row has None among its values") as caught:
        feature.column_to_parts(array)
    assert caught.value.row == 1


def test_arrow_refusals_name_the_row() -> None:
    with pytest.raises(EncodeError, match="does not fit") as caught:
        Scalar("uint8").column_to_parts(pa.array([1, 2, 300]))
    assert caught.value.row == 2
    with pytest.raises(EncodeError, match="required") as caught:
        Scalar("uint8").column_to_parts(pa.array([1, None]))
    assert caught.value.row == 1
    with pytest.raises(EncodeError, match="not UTF-8") as caught:
        Text().column_to_parts(pa.array([b"a", b"\xff"]))
    assert caught.value.row == 1
    with pytest.raises(EncodeError, match="cannot be stored as numbers"):
        Scalar("int64").column_to_parts(pa.array(["1"]))
    with pytest.raises(EncodeError, match="not a byte string"):
        Bytes().column_to_parts(pa.array(["1"]))


@given(st.lists(st.none() | st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), max_size=8), st.data())
def test_any_arrow_slice(rows: list[Any], data: Any) -> None:
    start = data.draw(st.integers(0, len(rows)))
    stop = data.draw(st.integers(start, len(rows)))
    array = pa.array(rows, pa.list_(pa.int64()))[start:stop]
    feature = Tensor("int64", (None,), optional=True)
    values, offsets, present = only(feature.column_to_parts(array))
    there = [True] * (stop - start) if present is None else present.tolist()
    got = [
        values[a:b].tolist() if here else None
        for a, b, here in zip(offsets.tolist(), offsets[1:].tolist(), there, strict=False)
    ]
    assert got == rows[start:stop]


class TestPandas:
    @pytest.mark.parametrize(
        ("feature", "series", "rows"),
        [
            (Scalar("int64"), pd.Series([1, 2]), [1, 2]),
            (Scalar("float32"), pd.Series([1.5, 2.5]), [1.5, 2.5]),
            (Scalar("int64"), pd.Series([1, 2], dtype="Int64"), [1, 2]),
            (Scalar("int64"), pd.Series([1, None], dtype="Int64"), [1, None]),
            (Scalar("float32"), pd.Series([1.5, None], dtype="Float32"), [1.5, None]),
            (Scalar("bool"), pd.Series([True, None], dtype="boolean"), [True, None]),
            (Scalar("bool"), pd.Series([True, False]), [True, False]),
            (Scalar("int64"), pd.Series([1, None], dtype=object), [1, None]),
            (Scalar("int64"), pd.Series([1, pd.NA], dtype=object), [1, None]),
            (Scalar("int64"), pd.Series([3, 4, 3], dtype="category"), [3, 4, 3]),
            (Text(), pd.Series(["a", "né"]), ["a", "né"]),
            (Text(), pd.Series(["a", None]), ["a", None]),
            (Text(), pd.Series(["a", None], dtype="string"), ["a", None]),
            (Text(), pd.Series(["a", None], dtype=object), ["a", None]),
            (Text(), pd.Series(["a", float("nan")], dtype=object), ["a", None]),
            (Text(), pd.Series(["a", None, "a"], dtype="category"), ["a", None, "a"]),
            (Text(), pd.Series(["a", None], dtype=pd.ArrowDtype(pa.string())), ["a", None]),
            (Bytes(), pd.Series([b"a", b"\xff"]), [b"a", b"\xff"]),
            (Tensor("int64", (None,)), pd.Series([[1, 2], []]), [[1, 2], []]),
            (Tensor("int64", (None,)), pd.Series([np.array([1, 2]), None]), [[1, 2], None]),
            (
                Tensor("int64", (2,)),
                pd.Series([[1, 2], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
                [[1, 2], None],
            ),
            (Text((None,)), pd.Series([["a"], ["b", "c"]]), [["a"], ["b", "c"]]),
            (Scalar("int64"), pd.Series(pd.Index([1, 2])), [1, 2]),
        ],
    )
    def test_series(self, feature: Feature, series: Any, rows: list[Any], through_core: Any) -> None:
        feature = optional(feature)
        for form in (series, pd.concat([series, series])[: len(series)], series.iloc[::-1].iloc[::-1]):
            column = feature.assemble(through_core(feature, feature.column_to_parts(form, len(rows))))
            assert rows_of(feature, column, len(rows)) == rows

    def test_what_is_near_a_series(self, through_core: Any) -> None:
        feature = Scalar("int64", optional=True)
        for form in (pd.array([1, None], dtype="Int64"), pd.Categorical([1, None]), pd.Index([1, None], dtype="Int64")):
            column = feature.assemble(through_core(feature, feature.column_to_parts(form, 2)))
            assert rows_of(feature, column, 2) == [1, None]

    def test_nan_of_a_float_column_is_a_value(self) -> None:
        values, _, present = only(Scalar("float32").column_to_parts(pd.Series([1.0, None])))
        assert np.isnan(values[1])
        assert present is None
        with pytest.raises(EncodeError, match="does not fit"):
            Scalar("int64", optional=True).column_to_parts(pd.Series([1.0, None]))

    def test_a_plain_series_is_not_copied(self) -> None:
        series = pd.Series(np.arange(5, dtype=np.float32))
        values, _, _ = only(Scalar("float32").column_to_parts(series))
        assert np.shares_memory(values, series.to_numpy())

    def test_times_are_refused(self) -> None:
        for series in (pd.Series(pd.to_datetime(["2024-01-01"])), pd.Series(pd.to_datetime(["2024-01-01"], utc=True))):
            with pytest.raises(EncodeError):
                Scalar("int64").column_to_parts(series)

    def test_single_values(self) -> None:
        assert Scalar("int64", optional=True).value_to_canonical(pd.NA) is None
        with pytest.raises(EncodeError, match="no value"):
            Scalar("int64").value_to_canonical(pd.NA)
        with pytest.raises(EncodeError, match="not a number"):
            Scalar("int64").value_to_canonical(pd.Timestamp("2024-01-01"))
        parts = Scalar("int64", optional=True).column_to_parts([1, pd.NA])
        assert parts[0][2] is not None


class TestTables:
    schema = Schema({"label": Scalar("int64"), "name": Text(optional=True)})

    def test_arrow_tables(self) -> None:
        table = pa.table({"name": ["a", None], "label": [1, 2]})
        for form in (table, table.to_batches()[0], pa.concat_tables([table[:1], table[1:]])):
            rows, parts = self.schema.columns_to_parts(form)
            assert rows == 2
            assert parts[0][0].tolist() == [1, 2]
            assert parts[1][2] is not None
        assert self.schema.columns_to_parts(table[:0])[0] == 0

    def test_data_frames(self) -> None:
        rows, parts = self.schema.columns_to_parts(pd.DataFrame({"name": ["a", None], "label": [1, 2]}, index=[5, 9]))
        assert rows == 2
        assert parts[0][0].tolist() == [1, 2]

    def test_names_are_checked(self) -> None:
        for form in (pa.table({"lable": [1]}), pd.DataFrame({"lable": [1]})):
            with pytest.raises(EncodeError, match="Did you mean 'label'"):
                self.schema.columns_to_parts(form)
        twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["label", "label"])
        for form in (twice, pd.DataFrame([[1, 2]], columns=["label", "label"])):
            with pytest.raises(EncodeError, match="same name"):
                self.schema.columns_to_parts(form)
        with pytest.raises(EncodeError, match="no such feature"):
            self.schema.columns_to_parts(pd.DataFrame([[1, 2]]))


def test_neither_is_imported_by_the_schema() -> None:
    program = (
        "import sys; from recordsmith.schema import *; import numpy as np\n"
        "Schema({'a': Scalar('int64'), 'b': Text()}).columns_to_parts({'a': np.arange(3), 'b': ['x', 'y', 'z']})\n"
        "assert not {'pyarrow', 'pandas', 'tensorflow', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
