"""Converts columns of every feature type to Arrow arrays and back, for exported Parquet files.

A column of the same name for each feature: nested lists for tensors, numbers for labels, and for images and sounds
what Hugging Face's datasets recognises, bytes with a path that is empty. Arrow's own types for categories and for
tensors of one shape are not used unless they are asked for: datasets cannot read them, and DuckDB shows such tensors
without a shape.
What Arrow has no type for is put together from what it has: complex numbers are pairs, and a tensor of which several
dimensions vary has its shape in a second column, NAME/shape, because lists without values do not show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordsmith.columns import PackedColumn, ShapedColumn, SparseColumn
from recordsmith.columns.arrow_extensions import tensor_array, tensor_type, without_extension
from recordsmith.columns.arrow_tables import to_arrow_table
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import SchemaMismatchError, import_extra
from recordsmith.formats.exported.values import plain_value, restored_value
from recordsmith.schema import Bytes, Feature, Label, Packed, Scalar, Schema, Sequence, Sparse, Steps, Tensor, Text
from recordsmith.schema.features.encoded import EncodedFeature

__all__ = ["arrow_fields", "arrow_table", "restored_columns"]


def arrow_fields(schema: Schema, *, extension_types: bool = False) -> Any:
    """Return the Arrow schema of a table of these features, in which tensors of one shape may have Arrow's own type."""
    arrow = import_extra("pyarrow", "arrow", purpose="Exporting to Parquet")
    fields = []
    for name, feature in schema.items():
        # datasets recognises images and classes only in columns that may have gaps.
        inner = feature.feature if isinstance(feature, (Steps, Sequence)) else feature
        nullable = feature.optional or isinstance(inner, (EncodedFeature, Label))
        kind = _type_of(feature, arrow)
        if extension_types and isinstance(feature, Tensor):
            kind = tensor_type(kind) or kind
        fields.append(arrow.field(name, kind, nullable=nullable))
        if _has_shape(feature):
            fields.append(arrow.field(f"{name}/shape", arrow.list_(arrow.int64()), nullable=feature.optional))
    return arrow.schema(fields)


def arrow_table(schema: Schema, columns: Mapping[str, Any], rows: int, fields: Any) -> Any:
    """Return columns, as `Schema.assemble` gives them, as a table of `arrow_fields`.

    >>> schema = Schema({"label": Label(["cat", "dog"])})
    >>> arrow_table(schema, {"label": np.array([1, 0])}, 2, arrow_fields(schema))["label"].to_pylist()
    [1, 0]
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Exporting to Parquet")
    arrays: dict[str, Any] = {}
    for name, feature in schema.items():
        column, kind = columns[name], fields.field(name).type
        if isinstance(feature, Label):
            _check_classes(name, feature, column)
        if _is_complex(feature):
            plain = [plain_value(feature, feature.row(column, row)) for row in range(rows)]
            arrays[name] = arrow.array(_without_words(plain), kind)
        else:
            array = to_arrow_table(Schema({name: feature}), [{name: column}])[name].combine_chunks()
            if isinstance(feature, EncodedFeature):
                array = _encoded_structs(array, kind, arrow)
            elif _is_list_of_encoded(feature):
                array = _lists_of(_encoded_structs(array.flatten(), kind.value_type, arrow), array)
            if isinstance(kind, arrow.FixedShapeTensorType):
                array = tensor_array(array.cast(_type_of(feature, arrow)), kind)
            arrays[name] = array if array.type == kind else array.cast(kind)
        if _has_shape(feature):
            arrays[f"{name}/shape"] = _shapes(column, rows, arrow)
    return arrow.table([arrays[field.name] for field in fields], schema=fields)


def restored_columns(schema: Schema, table: Any) -> dict[str, Any]:
    """Return the columns of a table that `arrow_table` made, in forms that the schema takes."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading Parquet")
    restored: dict[str, Any] = {}
    for name, feature in schema.items():
        if name not in table.column_names:
            continue
        chunked = table[name]
        array = chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()
        if isinstance(array, arrow.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else arrow.nulls(0, array.type)
        array = without_extension(array)
        if isinstance(feature, EncodedFeature) and arrow.types.is_struct(array.type):
            restored[name] = array.field("bytes")
        elif _is_list_of_encoded(feature) and arrow.types.is_struct(array.type.value_type):
            restored[name] = _lists_of(array.flatten().field("bytes"), array)
        elif _is_complex(feature):
            shapes = table[f"{name}/shape"].to_pylist() if f"{name}/shape" in table.column_names else None
            restored[name] = _complex(feature, array.to_pylist(), shapes if _has_shape(feature) else None)
        elif isinstance(feature, Sparse):
            restored[name] = _sparse(feature, array)
        elif isinstance(feature, Packed):
            restored[name] = _packed(feature, array)
        elif _has_shape(feature) and f"{name}/shape" in table.column_names:
            restored[name] = _reshaped(feature, array, table[f"{name}/shape"])
        else:
            restored[name] = array
    return restored


def _type_of(feature: Feature, arrow: Any) -> Any:
    if isinstance(feature, Label):
        return arrow.int64()
    if isinstance(feature, (Scalar, Tensor)):
        shape = () if isinstance(feature, Scalar) else feature.shape
        return _nested(feature.dtype, [None] * len(shape) if _has_shape(feature) else shape, arrow)
    if isinstance(feature, (Text, Bytes)):
        single = arrow.string() if isinstance(feature, Text) else arrow.binary()
        return arrow.list_(single) if feature.shape else single
    if isinstance(feature, EncodedFeature):
        return arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
    if isinstance(feature, Sparse):
        values = arrow.list_(arrow.from_numpy_dtype(feature.dtype))
        return arrow.struct([("indices", arrow.list_(arrow.int64())), ("values", values)])
    if isinstance(feature, Packed):
        return arrow.struct(
            [(name, _nested(np.dtype(dtype), shape, arrow)) for name, (dtype, shape) in feature.parts.items()]
        )
    if isinstance(feature, (Steps, Sequence)):
        inner = feature.feature
        if isinstance(inner, Sequence) and isinstance(inner.leaf, EncodedFeature):  # datasets has no type for these
            return arrow.list_(_type_of(Sequence(Bytes()), arrow))
        return arrow.list_(_type_of(inner, arrow))
    raise TypeError(f"no Arrow type for {type(feature).__name__}")


def _nested(dtype: np.dtype[Any], shape: Any, arrow: Any) -> Any:
    if dtype.kind == "c":
        part = arrow.float32() if dtype.itemsize == 8 else arrow.float64()
        kind = arrow.list_(part, 2)
    else:
        kind = arrow.from_numpy_dtype(dtype)
    for size in reversed(shape):
        kind = arrow.list_(kind) if size is None else arrow.list_(kind, size)
    return kind


def _has_shape(feature: Feature) -> bool:
    return isinstance(feature, Tensor) and feature.several_free


def _is_complex(feature: Feature) -> bool:
    if isinstance(feature, (Steps, Sequence)):
        return _is_complex(feature.feature)
    if isinstance(feature, Packed):
        return any(np.dtype(dtype).kind == "c" for dtype, _ in feature.parts.values())
    return isinstance(feature, (Scalar, Tensor)) and feature.dtype.kind == "c"


def _without_words(plain: Any) -> Any:
    """Return plain values with numbers in place of the words that JSON needs for some."""
    if isinstance(plain, list):
        return [_without_words(one) for one in plain]
    if isinstance(plain, dict):
        return [] if set(plain) == {"shape"} else {name: _without_words(value) for name, value in plain.items()}
    return float(plain) if isinstance(plain, str) else plain


def _check_classes(name: str, feature: Label, column: Any) -> None:
    """Refuse numbers that are not classes."""
    numbers, absent = np.ma.getdata(column), np.ma.getmaskarray(column)
    outside = np.flatnonzero(~absent & ((numbers < 0) | (numbers >= feature.size)))
    if len(outside):
        raise SchemaMismatchError(
            "A number is not one of the classes.",
            feature=name,
            row=int(outside[0]),
            found=int(numbers[outside[0]]),
            expected=f"0 to {feature.size - 1}",
            advice="Correct the records, or export them with a schema that declares the feature as Scalar.",
        )


def _encoded_structs(images: Any, kind: Any, arrow: Any) -> Any:
    """Return encoded images or sounds as datasets stores them."""
    paths = arrow.nulls(len(images), arrow.string())
    return arrow.StructArray.from_arrays([images.cast(arrow.binary()), paths], fields=list(kind), mask=images.is_null())


def _is_list_of_encoded(feature: Feature) -> bool:
    return isinstance(feature, (Steps, Sequence)) and isinstance(feature.feature, EncodedFeature)


def _lists_of(values: Any, lists: Any) -> Any:
    """Return lists of other values, as long as these lists are, which have values for each of theirs."""
    arrow = import_extra("pyarrow", "arrow", purpose="Parquet")
    compute = import_extra("pyarrow.compute", "arrow", purpose="Parquet")
    lengths = compute.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    offsets = arrow.array(offsets_of(lengths), arrow.int64())
    return arrow.LargeListArray.from_arrays(offsets, values, mask=lists.is_null() if lists.null_count else None)


def _complex(feature: Feature, values: list[Any], shapes: list[Any] | None) -> list[Any]:
    """Return complex numbers from pairs; where there are none, the shape is all that there is."""
    if shapes is None:
        return [restored_value(feature, value) for value in values]
    return [
        restored_value(feature, {"shape": shape} if shape is not None and 0 in shape else value)
        for value, shape in zip(values, shapes, strict=True)
    ]


def _sparse(feature: Sparse, array: Any) -> SparseColumn:
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading Parquet")
    there = array.is_valid().to_numpy(zero_copy_only=False)
    whole = array.drop_null()
    indices, values = whole.field("indices"), whole.field("values")
    lengths = np.zeros(len(array), np.int64)
    lengths[there] = compute.list_value_length(indices).to_numpy(zero_copy_only=False)
    places = indices.flatten().to_numpy(zero_copy_only=False)
    numbers = values.flatten().to_numpy(zero_copy_only=False).astype(feature.dtype)
    return SparseColumn(places, numbers, offsets_of(lengths), size=feature.size, present=None if there.all() else there)


def _packed(feature: Packed, array: Any) -> list[Any]:
    there = array.is_valid().to_numpy(zero_copy_only=False)
    whole = array.drop_null()
    rows = np.zeros(len(array), feature.dtype)
    for name, (_, shape) in feature.parts.items():
        numbers = _flat(whole.field(name)).to_numpy(zero_copy_only=False)
        rows[name][there] = numbers.reshape(len(whole), *shape)
    return list(PackedColumn(rows, present=None if there.all() else there))


def _flat(array: Any) -> Any:
    """Return the innermost values of nested lists."""
    types = import_extra("pyarrow", "arrow", purpose="Reading Parquet").types
    while types.is_list(array.type) or types.is_large_list(array.type) or types.is_fixed_size_list(array.type):
        array = array.flatten()
    return array


def _shapes(column: Any, rows: int, arrow: Any) -> Any:
    if isinstance(column, ShapedColumn):
        shapes, present = column.shapes.tolist(), column.present
    else:  # an array that has one shape throughout
        shapes, present = [list(np.shape(column)[1:])] * rows, None
    there = [True] * rows if present is None else present.tolist()
    return arrow.array(
        [shape if kept else None for shape, kept in zip(shapes, there, strict=True)], arrow.list_(arrow.int64())
    )


def _reshaped(feature: Feature, array: Any, shapes: Any) -> list[Any]:
    dtype = feature.dtype if isinstance(feature, Tensor) else np.dtype(np.float32)
    found: list[Any] = []
    for value, shape in zip(array, shapes.to_pylist(), strict=True):
        if not value.is_valid or shape is None:
            found.append(None)
            continue
        found.append(_flat(value.values).to_numpy(zero_copy_only=False).astype(dtype).reshape(shape))
    return found
