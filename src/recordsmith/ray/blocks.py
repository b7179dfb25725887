"""Columns as blocks of Ray Data, and back: tensors have their shape there, also in batches of numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from ray.data.extensions import ArrowTensorArray, ArrowVariableShapedTensorArray

from recordsmith.columns.arrow_tables import to_arrow_table
from recordsmith.errors import SchemaError
from recordsmith.formats.tables.columns import number_feature
from recordsmith.schema import Bytes, Feature, Schema, Tensor, Text

__all__ = ["block_of", "columns_of", "schema_of_block"]


def block_of(schema: Schema, columns: Mapping[str, Any]) -> pa.Table:
    """Return columns, as `Schema.assemble` gives them, as a block. Its types depend on the schema alone."""
    return pa.table({name: _array(name, feature, columns[name]) for name, feature in schema.items()})


def columns_of(block: pa.Table, names: list[str]) -> dict[str, Any]:
    """Return the columns of a block in forms that a schema takes."""
    return {name: _values(block.column(name)) for name in names}


def schema_of_block(fields: pa.Schema) -> Schema:
    """Return the schema of a block by its types alone, so that it is the same for all blocks of a dataset."""
    return Schema({field.name: _feature(field.name, field.type) for field in fields})


def _array(name: str, feature: Feature, column: Any) -> Any:
    if isinstance(feature, Tensor) and feature.shape and feature.dtype.kind in "biuf" and not feature.optional:
        if None not in feature.shape:
            return ArrowTensorArray.from_numpy(np.ascontiguousarray(np.ma.getdata(column)))
        if len(feature.shape) > 1 and len(column):
            rows = np.empty(len(column), object)
            for number in range(len(column)):
                rows[number] = np.ascontiguousarray(column[number])
            return ArrowVariableShapedTensorArray.from_numpy(rows)
    return to_arrow_table([name], [{name: column}])[name]


def _values(column: pa.ChunkedArray) -> Any:
    kind = column.type
    if _is_tensor(kind) or _is_ragged_tensor(kind):
        parts = [chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks]
        if _is_tensor(kind):
            return np.concatenate(parts) if len(parts) != 1 else parts[0]
        return [np.asarray(row) for part in parts for row in part]
    return column.combine_chunks()


def _feature(name: str, kind: Any) -> Feature:
    types = pa.types
    if _is_tensor(kind):
        return number_feature(np.dtype(kind.value_type.to_pandas_dtype()), tuple(kind.shape))
    if _is_ragged_tensor(kind):
        return number_feature(np.dtype(kind.value_type.to_pandas_dtype()), (None,) * kind.ndim)
    shape: list[int | None] = []
    inner = kind
    while types.is_list(inner) or types.is_large_list(inner) or types.is_fixed_size_list(inner):
        shape.append(inner.list_size if types.is_fixed_size_list(inner) else None)
        inner = inner.value_type
    if types.is_string(inner) or types.is_large_string(inner):
        return Text(tuple(shape)) if shape else Text()
    if types.is_binary(inner) or types.is_large_binary(inner):
        return Bytes(tuple(shape)) if shape else Bytes()
    if types.is_boolean(inner) or types.is_integer(inner) or types.is_floating(inner):
        return number_feature(np.dtype(inner.to_pandas_dtype()), tuple(shape))
    raise SchemaError(
        f"Column {name!r} has a type that cannot be stored.",
        feature=name,
        found=str(kind),
        expected="numbers, texts, bytes, lists or tensors of them",
        advice="Give a schema, or change the column with map_batches.",
    )


def _is_tensor(kind: Any) -> bool:
    return isinstance(kind, pa.ExtensionType) and hasattr(kind, "shape") and not hasattr(kind, "ndim")


def _is_ragged_tensor(kind: Any) -> bool:
    return isinstance(kind, pa.ExtensionType) and hasattr(kind, "ndim")
