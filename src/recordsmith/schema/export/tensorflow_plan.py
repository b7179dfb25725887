"""How TensorFlow reads a schema's records, as plain data: which tf.io features, and which function restores each.

The plan is made once from the schema and used twice: tensorflow_parsing calls what it says, and tensorflow_code prints
it. So the code that people take to another machine does what `Schema.parse_tf` does. A plan needs no TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from recordsmith.errors import SchemaError
from recordsmith.schema import Audio, Feature, Image, Label, Packed, Sequence, Sparse, Steps, Tensor
from recordsmith.schema.features.detection.geometry import SplitTensor
from recordsmith.schema.features.numeric import NumericFeature
from recordsmith.schema.features.strings import StringFeature
from recordsmith.schema.plan import PlanColumn

__all__ = ["Call", "FeaturePlan", "TensorFlowDtype", "plan_feature", "plan_features"]

Shape = tuple[int | None, ...]


class TensorFlowDtype(str):
    """The name of one of TensorFlow's dtypes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"tf.{self}"


_STORED = {
    "bytes": TensorFlowDtype("string"),
    "float": TensorFlowDtype("float32"),
    "int64": TensorFlowDtype("int64"),
}


@dataclass(frozen=True)
class Call:
    """A function by name, and its keyword arguments: plain values, dtypes and, as things to be called, other calls.

    Attributes:
        function: "FixedLenFeature" and the like for a tf.io feature, else the name of one of tensorflow_functions.
        arguments: what it is called with, after the tensors.
        takes_one: it also asks whether there is one row only.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    takes_one: bool = False


@dataclass(frozen=True)
class FeaturePlan:
    """How TensorFlow reads one feature of the schema.

    Attributes:
        name: the feature's name.
        stored: the tf.io feature of each stored feature, by stored name.
        restore: what makes rows of the parsed values; None where these are the rows.
        steps: it is in the feature lists of a SequenceExample.
        as_sparse: the tf.io feature that makes a SparseTensor by itself, for those who parse on their own.
    """

    name: str
    stored: Mapping[str, Call]
    restore: Call | None = None
    steps: bool = False
    as_sparse: Call | None = None


def plan_features(schema: Mapping[str, Feature], *, decode_images: bool = False) -> tuple[FeaturePlan, ...]:
    """Plan how TensorFlow reads all features of a schema."""
    plans = []
    for name, feature in schema.items():
        try:
            plans.append(plan_feature(name, feature, decode_images=decode_images))
        except SchemaError as error:
            raise error.at(feature=name) from None
    return tuple(plans)


def plan_feature(name: str, feature: Feature, *, decode_images: bool = False) -> FeaturePlan:
    """Plan how TensorFlow reads one feature.

    >>> from recordsmith.schema import Tensor
    >>> plan_feature("pixels", Tensor("uint8", (2, 2))).restore.function
    'numbers_of_bytes'
    """
    if isinstance(feature, Steps):
        return _steps(name, feature, decode_images=decode_images)
    columns = feature.plan(name)
    if isinstance(feature, Sequence):
        return _sequence(name, feature, columns)
    if isinstance(feature, StringFeature):
        return _whole(name, columns[0], feature.shape, None)
    if isinstance(feature, (Label, Audio)):
        return _whole(name, columns[0], (), None)
    if isinstance(feature, Image):
        decode = Call("decoded_images", {"shape": feature.shape}, takes_one=True) if decode_images else None
        return _whole(name, columns[0], (), decode)
    if isinstance(feature, SplitTensor) and feature.split:
        stacked = Call("stacked_numbers", {"name": name, "shape": feature.shape}, takes_one=True)
        return FeaturePlan(name, {column.key: _varying(column) for column in columns}, stacked)
    if isinstance(feature, NumericFeature):
        return _numbers(name, feature, columns)
    if isinstance(feature, Packed):
        fields = {part: (TensorFlowDtype(dtype), shape) for part, (dtype, shape) in feature.parts.items()}
        return _whole(name, columns[0], (), Call("packed_fields", {"name": name, "fields": fields}))
    if isinstance(feature, Sparse):
        return _sparse(name, feature, columns)
    raise SchemaError(f"TensorFlow has no equivalent of {type(feature).__name__}.", found=feature)


def _sequence(name: str, feature: Sequence, columns: tuple[PlanColumn, ...]) -> FeaturePlan:
    inner = plan_feature(name, feature.leaf)
    if len(columns) > 1 or inner.restore is not None or columns[0].presence == "optional":
        raise SchemaError(
            "parse_tf reads only lists of strings, images, sounds, classes and int64 or float32 numbers.",
            found=feature,
            advice="Feed it with Loader.to_tf(), which has the values of every feature.",
        )
    inside = feature.leaf.row_shape if isinstance(feature.leaf, NumericFeature) else ()
    if feature.length is None and inside and isinstance(feature.leaf, NumericFeature):
        return plan_feature(name, Tensor(feature.leaf.dtype, (None, *inside)))
    shape = () if feature.length is None else (feature.length, *inside)
    return _whole(name, columns[0], shape, None)


def _sparse(name: str, feature: Sparse, columns: tuple[PlanColumn, ...]) -> FeaturePlan:
    indices, values = columns
    as_sparse = Call(
        "SparseFeature",
        {
            "index_key": indices.key,
            "value_key": values.key,
            "dtype": _STORED[values.kind],
            "size": feature.size,
            "already_sorted": True,
        },
    )
    stored = {column.key: _varying(column) for column in columns}
    return FeaturePlan(name, stored, Call("sparse_rows", {"name": name, "size": feature.size}), as_sparse=as_sparse)


def _numbers(name: str, feature: NumericFeature, columns: tuple[PlanColumn, ...]) -> FeaturePlan:
    shape = feature.row_shape
    settings: dict[str, Any] = {"name": name, "dtype": TensorFlowDtype(feature.dtype.name)}
    raw = feature.stored_as == "bytes"
    if feature.packing:
        raise SchemaError(
            f"parse_tf does not read numbers that are stored as {feature.packing}.",
            found=feature,
            advice="Feed them with Loader.to_tf().",
        )
    if None not in shape:
        if raw:
            return _whole(name, columns[0], (), Call("numbers_of_bytes", {**settings, "shape": shape}))
        same = settings["dtype"] == _STORED[columns[0].kind]
        return _whole(name, columns[0], shape, None if same else Call("numbers", settings))
    settings["shape"] = shape
    several = "shaped_numbers" if len(columns) > 1 else "free_numbers"
    restore = Call(f"{several}_of_bytes" if raw else several, settings, takes_one=True)
    stored = {}
    for column in reversed(columns):  # the values before their sizes
        if column.count is None:
            stored[column.key] = _varying(column)
        else:
            absent = b"" if column.kind == "bytes" else [size or 0 for size in shape]  # a row with nothing in it
            stored[column.key] = _fixed(column, () if column.kind == "bytes" else (column.count,), absent=absent)
    return FeaturePlan(name, stored, restore)


def _whole(name: str, column: PlanColumn, shape: Shape, restore: Call | None) -> FeaturePlan:
    """Plan a feature in one stored feature; its rows are there whole, or not at all."""
    if column.count is None:
        return FeaturePlan(name, {column.key: _varying(column)}, restore)
    if column.presence == "optional":
        settings = {"name": name, "shape": shape, "restore": restore}
        return FeaturePlan(name, {column.key: _varying(column)}, Call("present_rows", settings))
    return FeaturePlan(name, {column.key: _fixed(column, shape)}, restore)


def _steps(name: str, feature: Steps, *, decode_images: bool) -> FeaturePlan:
    inner = plan_feature(name, feature.feature, decode_images=decode_images)
    ((key, stored),) = inner.stored.items()
    if stored.function == "FixedLenFeature":
        stored = Call("FixedLenSequenceFeature", {**stored.arguments, "allow_missing": feature.optional})
    return FeaturePlan(name, {key: stored}, Call("step_rows", {"restore": inner.restore}), steps=True)


def _fixed(column: PlanColumn, shape: Shape, *, absent: Any = None) -> Call:
    arguments: dict[str, Any] = {"shape": shape, "dtype": _STORED[column.kind]}
    if column.presence == "default":
        arguments["default_value"] = _plain(column.default, shape)
    elif column.presence == "optional":
        arguments["default_value"] = absent
    return Call("FixedLenFeature", arguments)


def _varying(column: PlanColumn) -> Call:
    if column.presence == "default" and len(np.atleast_1d(np.asarray(column.default, dtype=object))):
        raise SchemaError(
            "TensorFlow cannot distinguish a missing list from an empty one, so it cannot fill in the default.",
            advice="Leave the default out, or for numbers declare storage='bytes'.",
        )
    dtype = _STORED[column.kind]
    return Call("RaggedFeature", {"dtype": dtype, "row_splits_dtype": TensorFlowDtype("int64")})


def _plain(default: Any, shape: Shape) -> Any:
    """Return a stored default as nested Python values."""
    if isinstance(default, bytes):
        return default
    if isinstance(default, list):
        return list(default)
    array = np.asarray(default)
    if array.dtype == np.float32:  # the shortest digits that mean the same
        array = np.array([float(str(value)) for value in array.reshape(-1)])
    return array.reshape([size or prod(array.shape) for size in shape]).tolist()
