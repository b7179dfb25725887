"""ByteColumn and Ragged: read like lists, share memory, refuse what is inconsistent."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.errors import MissingExtraError, PipelineError, SchemaMismatchError


def byte_column(rows, *, text=False):
    """Build a ByteColumn the slow and obvious way, with junk before and after so that offsets do not start at 0."""
    encoded = [b"" if row is None else row.encode() if text else row for row in rows]
    offsets = 3 + np.cumsum([0, *map(len, encoded)])
    present = None if None not in rows else [row is not None for row in rows]
    return ByteColumn(b"\xff\xff\xff" + b"".join(encoded) + b"\xff", offsets, text=text, present=present)


def ragged(rows, dtype="int64"):
    filled = [[] if row is None else row for row in rows]
    values = np.array([9, 9, *(value for row in filled for value in row), 9], dtype)
    present = None if None not in rows else [row is not None for row in rows]
    return Ragged(values, 2 + np.cumsum([0, *map(len, filled)]), present=present)


byte_rows = st.lists(st.none() | st.binary(max_size=100), max_size=12)
text_rows = st.lists(st.none() | st.text(max_size=20), max_size=12)
number_rows = st.lists(st.none() | st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6), max_size=12)
slices = st.builds(slice, *[st.none() | st.integers(-15, 15)] * 2, st.none() | st.sampled_from([-3, -1, 1, 2]))


def indices_for(rows):
    return st.lists(st.integers(-len(rows), len(rows) - 1), max_size=8) if rows else st.just([])


@given(st.data(), slices)
@pytest.mark.parametrize("kind", ["bytes", "text", "numbers"])
def test_columns_behave_like_the_list_they_hold(kind, data, cut):
    if kind == "numbers":
        rows = data.draw(number_rows)
        column = ragged(rows)
    else:
        rows = data.draw(text_rows if kind == "text" else byte_rows)
        column = byte_column(rows, text=kind == "text")
    picked = data.draw(indices_for(rows))
    mask = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    assert len(column) == len(rows)
    assert column.to_list() == rows
    assert column == rows
    assert column == tuple(rows)
    assert column[cut] == rows[cut]
    assert column[picked] == [rows[index] for index in picked]
    assert column[np.array(mask, bool)] == [row for row, there in zip(rows, mask, strict=True) if there]
    plain = [row.tolist() if isinstance(row, np.ndarray) else row for row in column]
    assert plain == rows
    for index in range(-len(rows), len(rows)):
        row = column[index]
        assert (row.tolist() if isinstance(row, np.ndarray) else row) == rows[index]
    assert pickle.loads(pickle.dumps(column)) == column
    assert column[::1][:] == column
    assert (column == [*rows, None]) is False


def test_rows_are_long_enough_to_be_copied_whole():
    rows = [bytes([n]) * 1000 for n in range(5)]
    assert byte_column(rows)[[4, 0, 0]] == [rows[4], rows[0], rows[0]]


class TestByteColumn:
    def test_slices_share_memory(self):
        column = byte_column([b"cat", b"dog", b"bee"])
        assert np.shares_memory(column[1:].data, column.data)
        assert np.shares_memory(column[1:].offsets, column.offsets)

    def test_it_takes_anything_with_a_buffer(self):
        for data in (b"catdog", bytearray(b"catdog"), memoryview(b"catdog"), np.frombuffer(b"catdog", np.uint8)):
            assert ByteColumn(data, [0, 3, 6]) == [b"cat", b"dog"]
        assert ByteColumn(b"", [0]) == []
        assert ByteColumn(b"", np.array([0, 0], np.int32)) == [b""]

    def test_lengths(self):
        column = byte_column([b"cat", b"", b"mouse"])
        assert column.lengths.tolist() == [3, 0, 5]
        assert column.present is None
        assert column.text is False

    def test_to_numpy(self):
        column = byte_column([b"cat", None, b"mouse"])
        assert column.to_numpy().tolist() == [b"cat", None, b"mouse"]
        assert column.to_numpy().dtype == object
        assert np.asarray(column).tolist() == [b"cat", None, b"mouse"]
        assert np.asarray(byte_column([b"cat"]), dtype="S4").dtype == "S4"
        with pytest.raises(ValueError, match="only by copying"):
            column.__array__(copy=False)

    @pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xe2\x82", b"abc\x80", b"\xed\xa0\x80"])
    def test_text_that_is_not_utf8_names_the_row(self, bad):
        column = ByteColumn(b"ok" + bad + b"ok", np.cumsum([0, 2, len(bad), 2]), text=True)
        assert column.first_row_not_utf8() == 1
        for read in (column.to_list, column.to_numpy, column.to_arrow, lambda: column[1], lambda: list(column)):
            with pytest.raises(SchemaMismatchError, match="Row 1 of this column is not UTF-8") as caught:
                read()
            assert caught.value.row == 1
            assert "position" in str(caught.value.found)
        assert column[0] == "ok"
        assert "ok" in repr(column)

    def test_a_character_cut_in_two_by_an_edge_is_found(self):
        column = ByteColumn("aé".encode(), [0, 2, 2, 3], text=True)
        assert column.first_row_not_utf8() == 0
        with pytest.raises(SchemaMismatchError, match="Row 0"):
            column.to_list()

    @given(st.lists(st.binary(max_size=4) | st.text(max_size=3).map(str.encode), max_size=6))
    def test_first_row_not_utf8_agrees_with_python(self, rows):
        def is_text(row):
            try:
                row.decode()
            except UnicodeDecodeError:
                return False
            return True

        expected = next((number for number, row in enumerate(rows) if not is_text(row)), None)
        assert byte_column(rows).first_row_not_utf8() == expected

    def test_equality(self):
        column = byte_column([b"cat", b"dog"])
        assert column == ByteColumn(b"catdog", [0, 3, 6])
        assert column != ByteColumn(b"catdog", [0, 2, 6])
        assert column != ByteColumn(b"catdox", [0, 3, 6])
        assert column != ByteColumn(b"catdog", [0, 3, 6], text=True)
        assert column != ByteColumn(b"cat", [0, 3])
        assert byte_column([None, b"a"]) != byte_column([b"", b"a"])
        assert byte_column([b"a"]) == ByteColumn(b"a", [0, 1], present=[True])
        assert column != "catdog"
        with pytest.raises(TypeError):
            hash(column)

    def test_repr(self):
        assert repr(byte_column([])) == "ByteColumn(0 rows)"
        assert repr(byte_column(["cat", None], text=True)) == "ByteColumn(2 rows: 'cat', None)"
        assert repr(byte_column([b"x"] * 6)).endswith("b'x', ... 2 more)")
        assert repr(byte_column([b"x" * 1000])).endswith("'... (1000 bytes))")

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ((np.zeros(3), [0, 3]), "uint8"),
            ((np.zeros((3, 1), np.uint8), [0, 3]), "flat uint8"),
            ((b"abc", []), "at least one"),
            ((b"abc", [0.0, 3.0]), "at least one integer"),
            ((b"abc", [[0, 3]]), "flat"),
            ((b"abc", [-1, 3]), "negative"),
            ((b"abc", [0, 2, 1, 3]), "row 1 goes from 2 to 1"),
            ((b"abc", [0, 4]), "the last offset is 4, and there are only 3"),
        ],
    )
    def test_the_constructor_refuses_what_is_inconsistent(self, arguments, said):
        with pytest.raises(ValueError, match=said):
            ByteColumn(*arguments)

    def test_presence_is_checked(self):
        with pytest.raises(ValueError, match="one bool for each of 1 rows"):
            ByteColumn(b"abc", [0, 3], present=[True, False])
        with pytest.raises(ValueError, match="row 0 is said to be absent"):
            ByteColumn(b"abc", [0, 3], present=[False])

    def test_bad_indices(self):
        column = byte_column([b"a", b"b"])
        index: Any
        for index in (2, -3, [2], [-3], [True]):
            with pytest.raises(IndexError):
                column[index]
        for index in ("a", 1.0, [1.0], [[0]], None):
            with pytest.raises(TypeError):
                column[index]
        assert column[np.int32(1)] == b"b"
        assert column[np.array([1], np.uint8)] == [b"b"]
        assert column[[]] == []

    def test_non_contiguous_data_is_taken(self):
        data = np.frombuffer(b"c-a-t-", np.uint8)[::2]
        assert ByteColumn(data, [0, 3]) == [b"cat"]


class TestRagged:
    def test_slices_share_memory(self):
        column = ragged([[1], [2, 3], [4]])
        assert np.shares_memory(column[1:].values, column.values)
        assert np.shares_memory(column[1], column.values)

    def test_trailing_dimensions(self):
        column = Ragged(np.arange(12).reshape(6, 2), [0, 1, 1, 6])
        assert column.row_shape == (None, 2)
        assert column.lengths.tolist() == [1, 0, 5]
        assert column[0].tolist() == [[0, 1]]
        assert column[1].shape == (0, 2)
        assert column.to_list()[2] == np.arange(2, 12).reshape(5, 2).tolist()
        assert column.to_padded(2, truncate=True).tolist() == [[[0, 1], [0, 0]], [[0, 0], [0, 0]], [[2, 3], [4, 5]]]

    @pytest.mark.parametrize("shape", [(None, 3), (2, None, 3), (2, None), (None,), (1, 1, None)])
    def test_row_shapes(self, shape):
        unit = int(np.prod([size for size in shape if size]))
        lengths = [2, 0, 3, 1]
        offsets = 5 + unit * np.cumsum([0, *lengths])
        values = np.arange(offsets[-1] + 2)
        column = Ragged(values, offsets, row_shape=shape)
        assert column.row_shape == shape
        assert column.lengths.tolist() == lengths
        expected = [
            values[start:stop].reshape([length if size is None else size for size in shape])
            for start, stop, length in zip(offsets, offsets[1:], lengths, strict=False)
        ]
        for row, wanted in zip(column, expected, strict=True):
            assert row.shape == wanted.shape
            assert np.array_equal(row, wanted)
        assert column.to_list() == [row.tolist() for row in expected]
        assert column[[3, 0]].to_list() == [expected[3].tolist(), expected[0].tolist()]
        axis = 1 + shape.index(None)
        for length in (None, 5, 2):
            padded = column.to_padded(length, -1, truncate=True)
            for got, wanted in zip(padded, expected, strict=True):
                size = min(wanted.shape[axis - 1], padded.shape[axis])
                kept = np.take(got, range(size), axis=axis - 1)
                assert np.array_equal(kept, np.take(wanted, range(size), axis=axis - 1))
                assert (np.take(got, range(size, padded.shape[axis]), axis=axis - 1) == -1).all()
        assert column.to_arrow().to_pylist() == column.to_list()

    def test_nested(self):
        inner = Ragged(np.array([1, 2, 3, 4]), [0, 2, 2, 3, 4])
        column = Ragged(inner, [1, 3, 4], present=[True, True])
        assert column.to_list() == [[[], [3]], [[4]]]
        assert column[0] == [[], [3]]
        assert column[[1]] == [[[4]]]
        assert column.row_shape == (None, None)
        assert column.dtype == np.int64
        assert column.to_padded().tolist() == [[[0], [3]], [[4], [0]]]
        assert column.to_arrow().to_pylist() == column.to_list()
        assert repr(column) == "Ragged(2 rows of int64 (None, None): [[], [3]], [[4]])"
        assert column == Ragged(Ragged(np.array([3, 4]), [0, 0, 1, 2]), [0, 2, 3])
        assert column != Ragged(Ragged(np.array([3, 5]), [0, 0, 1, 2]), [0, 2, 3])

    def test_of_strings(self):
        column = Ragged(byte_column(["a", "bc", "d"], text=True), [0, 2, 2, 3])
        assert column.to_list() == [["a", "bc"], [], ["d"]]
        assert column[0] == ["a", "bc"]
        assert column.dtype == object
        assert column.to_padded().tolist() == [["a", "bc"], ["", ""], ["d", ""]]
        assert column.to_padded(pad_value="?").tolist() == [["a", "bc"], ["?", "?"], ["d", "?"]]
        assert column.to_arrow().to_pylist() == column.to_list()
        assert repr(column) == "Ragged(3 rows of strings: ['a', 'bc'], [], ['d'])"
        nested = Ragged(column, [0, 2, 3])
        assert nested.to_padded().tolist() == [[["a", "bc"], ["", ""]], [["d", ""], ["", ""]]]
        raw = Ragged(byte_column([b"a"]), [0, 0, 1])
        assert raw.to_padded().tolist() == [[b""], [b"a"]]
        with pytest.raises(PipelineError, match="pad value"):
            raw.to_padded(pad_value=0)

    def test_to_padded_refuses_to_cut(self):
        column = ragged([[1], [2, 3, 4]])
        with pytest.raises(PipelineError, match="longer than the target length 2") as caught:
            column.to_padded(2)
        assert caught.value.row == 1
        assert "truncate=True" in str(caught.value.advice)
        assert column.to_padded(2, truncate=True).tolist() == [[1, 0], [2, 3]]
        assert column.to_padded(0, truncate=True).shape == (2, 0)

    def test_to_padded_of_nothing(self):
        assert ragged([]).to_padded().shape == (0, 0)
        assert ragged([]).to_padded(4).shape == (0, 4)
        assert ragged([[], None]).to_padded(2).tolist() == [[0, 0], [0, 0]]
        assert ragged([[1]], "uint8").to_padded(2).dtype == np.uint8

    @pytest.mark.parametrize(
        ("dtype", "pad", "fits"),
        [
            ("int64", -1, True),
            ("uint8", -1, False),
            ("uint8", 256, False),
            ("int64", 1.5, False),
            ("int64", 2.0, True),
            ("int64", float("nan"), False),
            ("int64", 2**70, False),
            ("float32", 0.1, True),
            ("float32", float("nan"), True),
            ("float32", float("-inf"), True),
            ("float32", 1e300, False),
            ("float32", 1j, False),
            ("complex64", 1j, True),
            ("bool", True, True),
            ("bool", 2, False),
            ("int64", "x", False),
            ("int64", [1, 2], False),
        ],
    )
    def test_the_pad_value_must_fit(self, dtype, pad, fits):
        column = ragged([[1], []], dtype)
        if fits:
            padded = column.to_padded(pad_value=pad)
            assert padded.dtype == dtype
            assert np.array_equal(padded[1], np.array([pad], dtype), equal_nan=np.dtype(dtype).kind in "fc")
        else:
            with pytest.raises(PipelineError, match="pad value does not fit"):
                column.to_padded(pad_value=pad)

    def test_as_an_array_it_is_rows(self):
        rows = np.asarray(ragged([[1], None, [2, 3]]))
        assert rows.dtype == object
        assert rows[2].tolist() == [2, 3]
        assert rows[1] is None
        with pytest.raises(ValueError, match="to_padded"):
            np.asarray(ragged([[1]]), dtype=np.int64)
        with pytest.raises(ValueError, match="copying"):
            ragged([[1]]).__array__(copy=False)

    def test_equality(self):
        column = ragged([[1], [2, 3]])
        assert column == Ragged(np.array([1, 2, 3]), [0, 1, 3])
        assert column != Ragged(np.array([1, 2, 3]), [0, 2, 3])
        assert column != Ragged(np.array([1, 2, 4]), [0, 1, 3])
        assert column != Ragged(np.array([1, 2]), [0, 1, 2])
        assert column != byte_column([b"a", b"bc"])
        assert ragged([None]) != ragged([[]])
        assert Ragged(np.arange(4), [0, 4], row_shape=(2, None)) != Ragged(np.arange(4), [0, 4])
        assert Ragged(np.arange(4), [0, 4], row_shape=(None, 2)) == Ragged(np.arange(4).reshape(2, 2), [0, 2])
        assert Ragged(np.arange(4), [0, 4], row_shape=(None, 2)) != Ragged(np.arange(1, 5).reshape(2, 2), [0, 2])
        with pytest.raises(TypeError):
            hash(column)

    def test_repr(self):
        assert repr(ragged([])) == "Ragged(0 rows of int64 (None,))"
        assert repr(ragged([[1], None])) == "Ragged(2 rows of int64 (None,): [1], None)"
        assert repr(ragged([list(range(100))])) == ("Ragged(1 row of int64 (None,): [ 0,  1,  2, ..., 97, 98, 99])")
        assert repr(ragged([[1]] * 6)).endswith("[1], ... 2 more)")

    @pytest.mark.parametrize(
        ("arguments", "options", "error", "said"),
        [
            (([1, 2], [0, 2]), {}, TypeError, "not list"),
            ((np.array(1), [0, 1]), {}, ValueError, "at least one axis"),
            ((np.arange(2), [0, 3]), {}, ValueError, "only 2 values"),
            ((np.arange(2), [0, 2]), {"row_shape": (2,)}, ValueError, "one None"),
            ((np.arange(2), [0, 2]), {"row_shape": (None, None)}, ValueError, "one None"),
            ((np.arange(2), [0, 2]), {"row_shape": (0, None)}, ValueError, "at least 1"),
            ((np.arange(6).reshape(2, 3), [0, 2]), {"row_shape": (None, 3)}, ValueError, "flat"),
            ((np.arange(6), [0, 4, 6]), {"row_shape": (4, None)}, ValueError, "row 1 has 2 values"),
        ],
    )
    def test_the_constructor_refuses_what_is_inconsistent(self, arguments, options, error, said):
        with pytest.raises(error, match=said):
            Ragged(*arguments, **options)


class TestArrow:
    @given(byte_rows)
    def test_bytes(self, rows):
        array = byte_column(rows).to_arrow()
        array.validate(full=True)
        assert array.to_pylist() == rows
        assert str(array.type) == "binary"

    @given(text_rows)
    def test_text(self, rows):
        array = byte_column(rows, text=True).to_arrow()
        array.validate(full=True)
        assert array.to_pylist() == rows
        assert str(array.type) == "string"

    @given(number_rows)
    def test_numbers(self, rows):
        array = ragged(rows).to_arrow()
        array.validate(full=True)
        assert array.to_pylist() == rows

    def test_the_bytes_are_shared(self):
        column = byte_column([b"cat", b"dog"])
        address = column.to_arrow().buffers()[2].address
        assert address == column.data[3:].ctypes.data

    def test_the_values_are_shared(self):
        column = ragged([[1], [2, 3]])
        assert column.to_arrow().buffers()[3].address == column.values[2:].ctypes.data

    def test_absent_rows_of_a_fixed_leading_shape(self):
        column = Ragged(np.arange(4), [0, 4, 4], row_shape=(2, None), present=[True, False])
        array = column.to_arrow()
        array.validate(full=True)
        assert array.to_pylist() == [[[0, 1], [2, 3]], None]

    def test_large_offsets_get_large_types(self):
        data = np.zeros(2**31, np.uint8)  # pages that nobody writes to take no memory
        array = ByteColumn.unchecked(data, np.array([0, 1, 2**31])).to_arrow()
        assert str(array.type) == "large_binary"
        assert array[0].as_py() == b"\0"
        assert array.buffers()[2].address == data.ctypes.data
        assert str(ByteColumn.unchecked(data, np.array([0, 2**31 - 1])).to_arrow().type) == "binary"

    def test_complex_numbers_have_no_arrow_type(self):
        with pytest.raises(PipelineError, match="Arrow has no type"):
            ragged([[1]], "complex64").to_arrow()

    def test_without_pyarrow_the_command_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        for column in (byte_column([b"a"]), ragged([[1]])):
            with pytest.raises(MissingExtraError, match=r'pip install "pyarrow>=15.0"'):
                column.to_arrow()
