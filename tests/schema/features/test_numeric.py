"""Scalar and Tensor: how they are stored, what a column of them is, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from recordsmith.columns import Ragged
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError
from recordsmith.schema import Feature, Scalar, Tensor

DTYPES: tuple[Any, ...] = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
IN_LISTS = [name for name in DTYPES if name not in ("float64", "complex64", "complex128")]


def only(parts: tuple[Any, ...]) -> Any:
    (part,) = parts
    return part


class TestPlan:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_the_storage_of_every_dtype(self, dtype: Any) -> None:
        column = only(Tensor(dtype, (2, 3)).plan("x"))
        if dtype in ("float32", "int64"):
            kind = "float" if dtype == "float32" else "int64"
            assert (column.kind, column.count, column.row_bytes) == (kind, 6, None)
        else:
            assert (column.kind, column.count, column.row_bytes) == ("bytes", 1, 6 * np.dtype(dtype).itemsize)
        assert (column.key, column.presence, column.default, column.steps) == ("x", "required", None, False)

    @pytest.mark.parametrize("dtype", IN_LISTS)
    def test_list_storage(self, dtype: Any) -> None:
        column = only(Scalar(dtype, storage="list").plan("x"))
        assert (column.kind, column.count) == ("float" if "float" in dtype else "int64", 1)

    @pytest.mark.parametrize("dtype", ["float32", "int64"])
    def test_bytes_storage_of_list_types(self, dtype: Any) -> None:
        column = only(Tensor(dtype, (None, 2), storage="bytes").plan("x"))
        assert (column.kind, column.count, column.row_bytes) == ("bytes", 1, None)

    @pytest.mark.parametrize("dtype", ["complex64", "complex128"])
    def test_lossy_list_storage_is_refused(self, dtype: Any) -> None:
        with pytest.raises(SchemaError, match="cannot be stored in a list without loss") as caught:
            Scalar(dtype, storage="list")
        assert "bytes" in str(caught.value.advice)

    def test_float64_in_a_list_is_only_what_a_float32_holds(self) -> None:
        feature = Tensor("float64", (None,), storage="list")
        assert feature.column_to_parts([[0.5], [], [np.nan]])[0][0].dtype == np.float32
        with pytest.raises(EncodeError, match="without loss") as caught:
            feature.column_to_parts([[0.5], [0.5, 0.1]])
        assert caught.value.row == 1
        assert feature.column_to_parts([[0.1]], cast=True)[0][0].tolist() == [np.float32(0.1)]

    def test_a_free_dimension_varies(self) -> None:
        assert only(Tensor("float32", (None, 4)).plan("x")).count is None
        assert only(Tensor("uint8", (4, None)).plan("x")).row_bytes is None

    def test_presence(self) -> None:
        assert only(Scalar("int64", optional=True).plan("x")).presence == "optional"
        column = only(Scalar("int64", default=7).plan("x"))
        assert column.presence == "default"
        assert column.default.dtype == np.int64
        assert column.default.tolist() == [7]
        assert only(Scalar("uint16", default=258).plan("x")).default == b"\x02\x01"
        assert only(Tensor("float32", (None,), default=[]).plan("x")).default.shape == (0,)


class TestDeclaring:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtypes_are_taken_in_every_form(self, dtype: Any) -> None:
        assert Scalar(dtype) == Scalar(np.dtype(dtype)) == Scalar(np.dtype(dtype).type)
        assert Scalar(np.dtype(dtype).newbyteorder(">")).dtype.isnative
        assert Scalar(dtype).dtype == dtype

    @pytest.mark.parametrize(
        ("dtype", "said"),
        [
            ("flaot32", "Did you mean 'float32'"),
            ("str", "Text"),
            (object, "Text"),
            ("S3", "Text"),
            ("datetime64[s]", "int64"),
            ("longdouble", "cannot be stored"),
            ("f4,f4", "cannot be stored"),
            ("f4(", "no dtype"),
            ("int 64", "Did you mean 'int64'"),
            (None, "cannot be stored"),
        ],
    )
    def test_unknown_dtypes_are_refused(self, dtype: Any, said: str) -> None:
        with pytest.raises(SchemaError, match=said):
            Scalar(dtype)

    @pytest.mark.parametrize(
        ("shape", "said"),
        [
            (3, r"shape=\(3,\)"),
            (None, r"must be a tuple"),
            ("ab", "tuple of sizes"),
            ((0,), "at least 1"),
            ((-1,), "at least 1"),
            ((2.0,), "at least 1"),
            ((True,), "at least 1"),
        ],
    )
    def test_shapes_are_checked(self, shape: Any, said: str) -> None:
        with pytest.raises(SchemaError, match=said):
            Tensor("float32", shape)

    def test_shapes_become_plain_tuples(self) -> None:
        sizes: Any = [np.int64(2), None]
        assert Tensor("float32", sizes).shape == (2, None)
        assert Tensor("float32", ()).shape == ()

    def test_unknown_arguments_are_rejected(self) -> None:
        with pytest.raises(TypeError):
            Scalar("float32", minimum=0)  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            Scalar("float32", True)  # type: ignore[call-arg]

    def test_other_settings_are_checked(self) -> None:
        with pytest.raises(SchemaError, match="Unknown storage"):
            Scalar("float32", storage="raw")  # type: ignore[arg-type]
        with pytest.raises(SchemaError, match="optional"):
            Scalar("float32", optional="yes")  # type: ignore[arg-type]
        with pytest.raises(SchemaError, match="description"):
            Scalar("float32", description=3)  # type: ignore[arg-type]

    def test_features_are_frozen(self) -> None:
        feature = Tensor("float32", (2,))
        with pytest.raises(AttributeError):
            feature.shape = (3,)  # type: ignore[misc]

    @pytest.mark.parametrize(
        ("feature", "default"),
        [
            (("uint8", ()), 300),
            (("uint8", ()), "a"),
            (("float32", ()), [1.0]),
            (("float32", (2,)), 1.0),
            (("float32", (2,)), [1, 2, 3]),
            (("int64", (None,)), 3),
            (("int64", (None,)), [1.5]),
            (("int64", (None, 2)), [[1, 2, 3]]),
        ],
    )
    def test_a_default_must_fit(self, feature: Any, default: Any) -> None:
        dtype, shape = feature
        with pytest.raises(SchemaError, match="default does not fit"):
            Tensor(dtype, shape, default=default) if shape else Scalar(dtype, default=default)

    def test_a_default_makes_it_optional_and_plain(self) -> None:
        feature = Tensor("float32", (2,), default=np.array([1, 2], np.int8))
        assert feature.optional
        assert feature.default == (1, 2)
        assert Scalar("float32", default=np.float32(0.5)).default == 0.5
        assert Tensor("int64", (None, 2), default=[[1, 2]]).default == ((1, 2),)

    @pytest.mark.parametrize(
        ("feature", "shown"),
        [
            (Scalar("float32"), "Scalar('float32')"),
            (Scalar("float32", optional=True), "Scalar('float32', optional=True)"),
            (Scalar("float32", default=0.5), "Scalar('float32', default=0.5)"),
            (Scalar(np.uint8, storage="list", description="x"), "Scalar('uint8', description='x', storage='list')"),
            (Tensor("int64", [None, 4]), "Tensor('int64', (None, 4))"),
            (Tensor("int64", (2,), default=[1, 2]), "Tensor('int64', (2,), default=(1, 2))"),
            (Tensor("int64", ()), "Tensor('int64', ())"),
        ],
    )
    def test_the_repr_builds_it_again(self, feature: Feature, shown: str) -> None:
        assert repr(feature) == shown
        assert eval(shown, {"Scalar": Scalar, "Tensor": Tensor}) == feature

    def test_equality_and_hash(self) -> None:
        assert Scalar("float32") == Scalar("float32")
        assert Scalar("float32") != Scalar("float64")
        assert Scalar("float32") != Tensor("float32", ())
        assert Scalar("float32", default=0) == Scalar("float32", default=0.0)
        assert hash(Scalar("float32", default=0)) == hash(Scalar("float32", default=0.0))
        assert Scalar("float32", default=float("nan")) == Scalar("float32", default=float("nan"))
        assert Scalar("float32") != "float32"
        assert len({Scalar("int8"), Scalar("int8"), Scalar("int16")}) == 2

    def test_they_can_be_copied_and_pickled(self) -> None:
        feature = Tensor("uint8", (None, 2), default=[[1, 2]])
        feature.plan("x")
        assert pickle.loads(pickle.dumps(feature)) == copy.deepcopy(feature) == feature

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("shape", [(), (2,), (None,), (None, 2), (2, None)])
    def test_json_builds_it_again(self, dtype: Any, shape: Any) -> None:
        value = np.ones([1 if size is None else size for size in shape], dtype)
        for options in ({}, {"default": value.tolist()}, {"optional": True, "description": "ü"}):
            feature = Tensor(dtype, shape, **options)
            settings = feature.to_json()
            assert settings.pop("type") == "tensor"
            assert Tensor.from_json(settings) == feature

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -0.0, 1e-45, 0.1])
    def test_json_keeps_every_float(self, value: float) -> None:
        for dtype in ("float32", "complex64"):
            feature = Scalar(dtype, default=value)
            again = Scalar.from_json({key: entry for key, entry in feature.to_json().items() if key != "type"})
            assert repr(complex(again.default)) == repr(complex(value))

    def test_bad_json(self) -> None:
        with pytest.raises(SchemaError, match=r"no setting 'shpae'\. Did you mean 'shape'"):
            Tensor.from_json({"dtype": "int64", "shpae": []})
        with pytest.raises(SchemaError, match="incomplete"):
            Tensor.from_json({"dtype": "int64"})
        with pytest.raises(SchemaError, match="no setting 'shape'"):
            Scalar.from_json({"dtype": "int64", "shape": [2]})
        with pytest.raises(SchemaError, match="not a number"):
            Scalar.from_json({"dtype": "float32", "default": "many"})


class TestAssemble:
    def test_dense_list_values_are_not_copied(self) -> None:
        values = np.arange(6, dtype=np.float32)
        assert Scalar("float32").assemble([(values, None, None, None)]) is values
        column = Tensor("float32", (3,)).assemble([(values.reshape(2, 3), None, None, None)])
        assert column.shape == (2, 3)
        assert np.shares_memory(column, values)
        assert Tensor("float32", (1,)).assemble([(values, None, None, None)]).shape == (6, 1)
        assert Tensor("float32", (1, 3)).assemble([(values.reshape(2, 3), None, None, None)]).shape == (2, 1, 3)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_raw_values_are_not_copied(self, dtype: Any) -> None:
        wanted = np.arange(12).astype(dtype).reshape(2, 3, 2)
        raw = wanted.view(np.uint8).reshape(2, -1)
        column = Tensor(dtype, (3, 2), storage="bytes").assemble([(raw, None, None, None)])
        assert column.dtype == dtype
        assert np.array_equal(column, wanted)
        assert np.shares_memory(column, raw)

    @pytest.mark.parametrize("storage", ["bytes", "list"])
    @pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
    def test_no_rows(self, storage: Any, shape: tuple[int, ...]) -> None:
        count = int(np.prod(shape))
        if storage == "bytes":
            values: Any = np.zeros((0, 2 * count), np.uint8)
        else:
            values = np.zeros(0 if count == 1 else (0, count), np.int64)
        column = Tensor("int16", shape, storage=storage).assemble([(values, None, None, None)])
        assert column.shape == (0, *shape)
        assert column.dtype == np.int16

    def test_optional_rows_are_masked(self) -> None:
        present = np.array([True, False])
        scalar = Scalar("int64", optional=True)
        column = scalar.assemble([(np.array([5, 0]), None, present, None)])
        assert isinstance(column, np.ma.MaskedArray)
        assert column.tolist() == [5, None]
        assert (scalar.row(column, 0), scalar.row(column, 1), scalar.row(column, -2)) == (5, None, 5)
        tensor = Tensor("float32", (2,), optional=True)
        column = tensor.assemble([(np.ones((2, 2), np.float32), None, present, None)])
        assert column.tolist() == [[1, 1], [None, None]]
        assert tensor.row(column, 0).tolist() == [1, 1]
        assert not isinstance(tensor.row(column, 0), np.ma.MaskedArray)
        assert tensor.row(column, 1) is None
        column[1] = 3  # the mask is its own memory
        assert column.tolist() == [[1, 1], [3, 3]]

    def test_free_dimensions(self) -> None:
        flat = np.arange(12, dtype=np.int64)
        offsets = np.array([0, 4, 4, 12])
        column = Tensor("int64", (None,)).assemble([(flat, offsets, None, None)])
        assert column.lengths.tolist() == [4, 0, 8]
        assert np.shares_memory(column.values, flat)
        column = Tensor("int64", (None, 4)).assemble([(flat, offsets, None, None)])
        assert column.values.shape == (3, 4)
        assert column.offsets.tolist() == [0, 1, 1, 3]
        column = Tensor("int64", (2, None, 2)).assemble([(flat, offsets, None, None)])
        assert [row.shape for row in column] == [(2, 1, 2), (2, 0, 2), (2, 2, 2)]

    @pytest.mark.parametrize("shape", [(None,), (None, 2), (2, None)])
    @pytest.mark.parametrize("start", [0, 4])
    def test_raw_free_dimensions_are_not_copied(self, shape: Any, start: int) -> None:
        raw = np.arange(start + 16, dtype=np.uint8)
        feature = Tensor("int16", shape, optional=True)
        offsets = start + np.array([0, 4, 4, 16])
        column = feature.assemble([(raw, offsets, np.array([True, False, True]), None)])
        assert isinstance(column, Ragged)
        assert column.row_shape == shape
        assert column.dtype == np.int16
        assert np.shares_memory(column.values, raw)
        rows = [raw[a:b].view(np.int16) for a, b in ((start, start + 4), (start + 4, start + 16))]
        assert [row if row is None else row.ravel().tolist() for row in column] == [
            rows[0].tolist(),
            None,
            rows[1].tolist(),
        ]
        assert feature.row(column, 1) is None
        assert feature.row(column, 2).size == 6

    @pytest.mark.parametrize(
        ("feature", "offsets", "found"),
        [
            (Tensor("int64", (None, 4)), [0, 4, 7], "3 values"),
            (Tensor("int16", (None,)), [0, 4, 7], "3 bytes"),
            (Tensor("int16", (2, None)), [0, 4, 6], "2 bytes"),
        ],
    )
    def test_rows_that_do_not_fill_the_shape(self, feature: Tensor, offsets: list[int], found: str) -> None:
        values = np.zeros(7, np.int64 if feature.stored_as == "list" else np.uint8)
        with pytest.raises(SchemaMismatchError, match="Row 1 of the batch") as caught:
            feature.assemble([(values, np.array(offsets), None, None)])
        assert (caught.value.row, caught.value.record, caught.value.found) == (1, None, found)

    @pytest.mark.parametrize(
        ("dtype", "value"),
        [("uint8", 256), ("uint8", -1), ("int8", 128), ("int32", 2**31), ("bool", 2), ("uint64", -1)],
    )
    @pytest.mark.parametrize("shape", [(), (2,), (None,)])
    def test_stored_integers_outside_the_type(self, dtype: Any, value: int, shape: Any) -> None:
        feature = Tensor(dtype, shape, storage="list")
        values = np.array([0, 1, 0, value], np.int64)
        if shape == ():
            part: Any = (values[2:], None, None, None)
        elif shape == (2,):
            part = (values.reshape(2, 2), None, None, None)
        else:
            part = (values, np.array([0, 3, 4]), None, None)
        with pytest.raises(SchemaMismatchError, match="Row 1 of the batch contains a value outside") as caught:
            feature.assemble([part])
        assert caught.value.found == value

    def test_stored_floats_outside_float16(self) -> None:
        feature = Scalar("float16", storage="list")
        assert feature.assemble([(np.array([0.1, np.inf], np.float32), None, None, None)]).dtype == np.float16
        with pytest.raises(SchemaMismatchError, match="Row 1"):
            feature.assemble([(np.array([0.1, 1e6], np.float32), None, None, None)])

    def test_raw_bools_are_0_or_1(self) -> None:
        with pytest.raises(SchemaMismatchError, match="Row 1"):
            Tensor("bool", (2,)).assemble([(np.array([[0, 1], [0, 2]], np.uint8), None, None, None)])
        with pytest.raises(SchemaMismatchError, match="Row 0"):
            Tensor("bool", (None,)).assemble([(np.array([0, 2], np.uint8), np.array([0, 2, 2]), None, None)])

    def test_rows(self) -> None:
        assert isinstance(Scalar("float32").row(np.zeros(2, np.float32), 0), np.float32)
        assert Tensor("int8", (2,)).row(np.zeros((3, 2), np.int8), -1).shape == (2,)


class TestColumns:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_the_exact_array_is_passed_on_without_a_copy(self, dtype: Any) -> None:
        array = np.zeros((5, 2, 3), dtype)
        values, offsets, present = only(Tensor(dtype, (2, 3)).column_to_parts(array, 5))
        assert np.shares_memory(values, array)
        assert (offsets, present) == (None, None)
        values, _, _ = only(Tensor(dtype, (None, 3)).column_to_parts(array, 5))
        assert np.shares_memory(values, array)
        ragged = Ragged(array.reshape(10, 3), [0, 4, 10])
        values, _, _ = only(Tensor(dtype, (None, 3)).column_to_parts(ragged, 2))
        assert np.shares_memory(values, array)

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(12, dtype=">i4").reshape(4, 3),
            np.arange(12, dtype="i8").reshape(3, 4).T,
            np.arange(24, dtype="u2").reshape(4, 6)[:, ::2] // 2,
            np.arange(12, dtype=">f8").reshape(4, 3),
            np.arange(12).reshape(4, 3).astype(object),
            np.asfortranarray(np.arange(12).reshape(4, 3)),
            np.ma.array(np.arange(12).reshape(4, 3)),
            np.arange(12).reshape(4, 3).tolist(),
            tuple(map(tuple, np.arange(12).reshape(4, 3).tolist())),
            list(np.arange(12, dtype="f2").reshape(4, 3)),
            [np.arange(3), [3, 4, 5], (6.0, 7, 8), np.arange(9, 12, dtype="f4")],
            Ragged(np.arange(14), [1, 4, 7, 10, 13])[:],
        ],
        ids=lambda value: type(value).__name__,
    )
    @pytest.mark.parametrize("shape", [(3,), (None,)])
    @pytest.mark.parametrize("dtype", ["float32", "int64", "int16"])
    def test_every_layout_gives_the_same(self, array: Any, shape: Any, dtype: Any, through_core: Any) -> None:
        feature = Tensor(dtype, shape)
        column = feature.assemble(through_core(feature, feature.column_to_parts(array)))
        first = array[0]
        transposed = np.arange(12).reshape(3, 4).T.tolist()
        plain = transposed if np.asarray(first).tolist() == [0, 4, 8] else None
        if isinstance(array, Ragged):
            plain = array.to_list()
        elif plain is None:
            plain = [np.asarray(row).astype(int).tolist() for row in array]
        got = column.to_list() if isinstance(column, Ragged) else column.tolist()
        assert got == plain
        assert column.dtype == dtype

    def test_uneven_layouts(self, through_core: Any) -> None:
        feature = Tensor("int64", (None, 2))
        wanted = [[[1, 2]], [], [[3, 4], [5, 6]]]
        forms: list[Any] = [
            wanted,
            [np.array([[1, 2]], "i1"), np.zeros((0, 2)), np.array([[3.0, 4], [5, 6]])],
            [[[1, 2]], np.array([]), [(3, 4), (5, 6)]],
            Ragged(np.array([[1, 2], [3, 4], [5, 6]]), [0, 1, 1, 3]),
            Ragged(np.arange(1, 7), [0, 2, 2, 6], row_shape=(None, 2)),
            Ragged(Ragged(np.arange(1, 7), [0, 2, 4, 6]), [0, 1, 1, 3]),
            np.array([np.array([[1, 2]]), np.zeros((0, 2)), np.array([[3, 4], [5, 6]])], object),
        ]
        for form in forms:
            assert feature.assemble(through_core(feature, feature.column_to_parts(form, 3))) == wanted

    @pytest.mark.parametrize("storage", ["list", "bytes"])
    @pytest.mark.parametrize("shape", [(), (2,), (None,)])
    def test_absent_rows(self, storage: Any, shape: Any, through_core: Any) -> None:
        one, two = (1, 2) if shape == () else ([1, 1], [2, 2])
        rows = [one, None, two]
        forms: list[Any] = [rows, np.array([one, None, two], object) if shape == () else rows]
        if shape != (None,):
            dense = np.array([one, one, two])
            masked = np.ma.array(dense, mask=np.zeros(dense.shape, bool))
            masked[1] = np.ma.masked
            forms.append(masked)
        else:
            forms.append(Ragged(np.array([1, 1, 2, 2]), [0, 2, 2, 4], present=[True, False, True]))
            forms.append(np.ma.array([[1, 1], [9, 9], [2, 2]], mask=[[False] * 2, [True] * 2, [False] * 2]))
        optional = Tensor("int64", shape, storage=storage, optional=True)
        default = Tensor("int64", shape, storage=storage, default=7 if shape == () else [7, 7])
        required = Tensor("int64", shape, storage=storage)
        for form in forms:
            column = optional.assemble(through_core(optional, optional.column_to_parts(form, 3)))
            assert [optional.row(column, n) is None for n in range(3)] == [False, True, False]
            assert np.asarray(optional.row(column, 2)).tolist() == two
            column = default.assemble(through_core(default, default.column_to_parts(form, 3)))
            assert np.asarray(default.row(column, 1)).ravel().tolist() == [7] * (1 if shape == () else 2)
            with pytest.raises(EncodeError, match="required feature has no value") as caught:
                required.column_to_parts(form, 3)
            assert caught.value.row == 1

    def test_all_rows_absent(self, through_core: Any) -> None:
        for shape in ((), (2,), (None,), (None, 3)):
            for storage in ("list", "bytes"):
                feature = Tensor("int64", shape, storage=storage, optional=True)
                column = feature.assemble(through_core(feature, feature.column_to_parts([None, None])))
                assert [feature.row(column, n) for n in range(2)] == [None, None]

    def test_no_rows(self, through_core: Any) -> None:
        form: Any
        for shape in ((), (2,), (None,), (2, None)):
            for form in ([], np.zeros(0), np.zeros((0, *(2 if size is None else size for size in shape))), ()):
                feature = Tensor("uint16", shape)
                assert len(feature.assemble(through_core(feature, feature.column_to_parts(form, 0)))) == 0

    def test_masked_values_are_never_looked_at(self) -> None:
        values = np.ma.array([1.0, 1e300], mask=[False, True])
        parts = only(Scalar("float32", optional=True).column_to_parts(values))
        assert parts[0].tolist() == [1, 0]

    def test_partly_masked_rows_are_refused(self) -> None:
        values = np.ma.array([[1, 2], [3, 4]], mask=[[False, False], [True, False]])
        for feature in (Tensor("int64", (2,), optional=True), Tensor("int64", (None,), optional=True)):
            with pytest.raises(EncodeError, match="partly masked") as caught:
                feature.column_to_parts(values)
            assert caught.value.row == 1
            with pytest.raises(EncodeError, match="masked values") as caught:
                feature.column_to_parts(list(values))
            assert caught.value.row == 1

    @pytest.mark.parametrize(
        ("shape", "values", "row"),
        [
            ((), np.zeros((3, 1)), None),
            ((2,), np.zeros((3, 3)), None),
            ((2,), np.zeros(6), None),
            ((2, 3), np.zeros((4, 6)), None),
            ((None,), np.zeros(3), None),
            ((None, 2), np.zeros((3, 4, 3)), None),
            ((), [1, [2], 3], 1),
            ((), [1, [2, 3], 3], 1),
            ((), [1, np.zeros(1)], 1),
            ((2,), [[1, 2], [1], [1, 2]], 1),
            ((2,), [[1, 2], 3], 1),
            ((2,), [None, [1, 2], [1, 2, 3]], 2),
            ((2,), [[[1], [2, 3]]], 0),
            ((None,), [[1], 2, [3]], 1),
            ((None,), [[1], [[2]], [3]], 1),
            ((None, 2), [[[1, 2]], [[1, 2, 3]]], 1),
            ((None, 2), [[[1, 2]], [[1, 2], [3]]], 1),
            ((None, 2), [np.zeros((1, 2)), np.zeros((1, 3))], 1),
            ((2,), Ragged(np.arange(5), [0, 2, 5]), 1),
            ((None, 2), Ragged(np.arange(4), [0, 2, 4]), 0),
        ],
    )
    def test_wrong_shapes(self, shape: Any, values: Any, row: int | None) -> None:
        with pytest.raises(EncodeError, match="wrong shape") as caught:
            Tensor("float32", shape, optional=True).column_to_parts(values)
        assert caught.value.row == row
        assert caught.value.found is not None
        assert caught.value.expected is not None

    @pytest.mark.parametrize(
        "values",
        ["abc", b"abc", {"a": 1}, {1, 2}, 5, np.array(5), np.float32(1), None, (n for n in range(3)), object()],
        ids=lambda value: type(value).__name__,
    )
    def test_things_that_are_no_column(self, values: Any) -> None:
        with pytest.raises(EncodeError, match="as a column"):
            Scalar("float32").column_to_parts(values)

    def test_the_length_is_checked(self) -> None:
        for feature in (Scalar("float32"), Tensor("float32", (None,))):
            with pytest.raises(EncodeError, match="wrong length"):
                feature.column_to_parts([1.0, 2.0] if feature == Scalar("float32") else [[1.0], []], 3)

    def test_frameworks_with_arrays_of_their_own(self) -> None:
        class Tensorlike:
            def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
                return np.array([1.0, 2.0], np.float32)

        assert only(Scalar("float32").column_to_parts(Tensorlike()))[0].tolist() == [1, 2]
        assert only(Scalar("int64").column_to_parts(range(3)))[0].tolist() == [0, 1, 2]
        for shape in ((2,), (None,)):
            assert only(Tensor("float32", shape).column_to_parts([Tensorlike(), [3, 4]]))[0].size == 4
            assert Tensor("float32", shape).value_to_canonical(Tensorlike()).tolist() == [1, 2]

    def test_uint64_in_a_list_ends_at_int64(self) -> None:
        feature = Tensor("uint64", (2,), storage="list")
        assert only(feature.column_to_parts([[0, 2**63 - 1]]))[0].tolist() == [[0, 2**63 - 1]]
        with pytest.raises(EncodeError, match="does not fit") as caught:
            feature.column_to_parts([[0, 0], [0, 2**63]])
        assert caught.value.row == 1
        with pytest.raises(EncodeError, match="does not fit") as caught:
            Tensor("uint64", (None,), storage="list").column_to_parts([[0], [], [0, 2**63]])
        assert caught.value.row == 2


class TestValues:
    @pytest.mark.parametrize("value", [3, 3.0, True + 2, np.int8(3), np.float64(3), np.array(3), np.array(3.0, ">f4")])
    def test_scalars(self, value: Any) -> None:
        canonical = Scalar("float32").value_to_canonical(value)
        assert canonical.dtype == np.float32
        assert canonical.tolist() == [3]
        assert Scalar("int64").value_to_canonical(value).tolist() == [3]
        assert Scalar("uint16").value_to_canonical(value) == b"\3\0"

    @pytest.mark.parametrize(
        "value",
        [[[1, 2], [3, 4]], ((1, 2), (3, 4)), np.array([[1, 3], [2, 4]]).T, np.array([[1, 2], [3, 4]], object)],
        ids=lambda value: type(value).__name__,
    )
    def test_tensors(self, value: Any) -> None:
        for shape in ((2, 2), (None, 2), (2, None)):
            canonical = Tensor("float32", shape).value_to_canonical(value)
            assert canonical.dtype == np.float32
            assert canonical.flags.c_contiguous
            assert canonical.tolist() == [1, 2, 3, 4]
            assert Tensor("int8", shape).value_to_canonical(value) == b"\1\2\3\4"

    def test_the_exact_array_is_not_copied(self) -> None:
        value = np.zeros((2, 3), np.float32)
        assert np.shares_memory(Tensor("float32", (2, 3)).value_to_canonical(value), value)
        assert np.shares_memory(Tensor("float32", (None, 3)).value_to_canonical(value), value)

    @pytest.mark.parametrize("missing", [None, np.ma.masked])
    def test_missing(self, missing: Any) -> None:
        assert Scalar("float32", optional=True).value_to_canonical(missing) is None
        assert Scalar("float32", default=1).value_to_canonical(missing) is None
        with pytest.raises(EncodeError, match="no value"):
            Scalar("float32").value_to_canonical(missing)

    def test_masked_arrays(self) -> None:
        feature = Tensor("int64", (2,), optional=True)
        assert feature.value_to_canonical(np.ma.array([1, 2], mask=True)) is None
        assert feature.value_to_canonical(np.ma.array([1, 2])).tolist() == [1, 2]
        with pytest.raises(EncodeError, match="masked"):
            feature.value_to_canonical(np.ma.array([1, 2], mask=[True, False]))

    def test_empty_rows(self) -> None:
        value: Any
        for value in ([], (), np.array([]), np.zeros((0, 2))):
            assert Tensor("float32", (None, 2)).value_to_canonical(value).shape == (0,)
            assert Tensor("int8", (None, 2)).value_to_canonical(value) == b""
        for value in ([], [[]], np.zeros((1, 0, 2)), np.zeros((1, 0, 2)).tolist()):
            assert Tensor("int8", (1, None, 2)).value_to_canonical(value) == b""
        for value in ([[], []], np.zeros((2, 0, 2)), np.zeros((1, 0, 3)), np.zeros((1, 1, 0, 2))):
            with pytest.raises(EncodeError, match="wrong shape"):
                Tensor("int8", (1, None, 2)).value_to_canonical(value)

    def test_errors_have_no_row(self) -> None:
        for value in (1e300, "a", [1], None):
            with pytest.raises(EncodeError) as caught:
                Scalar("float32").value_to_canonical(value)
            assert caught.value.row is None
