"""A schema as TensorFlow Metadata keeps it in schema.pbtxt: what is stored, and which values it may have.

type                      BYTES, INT or FLOAT: the list that the values are stored in
presence                  every record has it, or it may be absent
shape, value_count        how many values; `shape` where all records have it, `value_count` where it varies
int_domain, float_domain  min and max, no NaN or infinity; of a Label the number of classes
string_domain             one_of of a Text; the class names of a Label, under the name that its int_domain has
bool_domain, image_domain bool in a list, Image
sparse_feature            Sparse, over its two stored features
struct_domain             Steps, in the feature ##SEQUENCE## that TFX reads SequenceExamples into
annotation                the description; and a tag with the exact feature, which the text form alone would lose
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from recordsmith.schema import Feature, Image, Label, Sparse, Steps, Text
from recordsmith.schema.export.prototext import Message, Name, message, write_prototext
from recordsmith.schema.features.numeric import NumericFeature
from recordsmith.schema.features.strings import StringFeature
from recordsmith.schema.plan import PlanColumn

__all__ = ["SEQUENCE_NAME", "TAG", "tfmd_message", "tfmd_text"]

SEQUENCE_NAME = "##SEQUENCE##"
TAG = "recordsmith:"
_TYPES = {"bytes": Name("BYTES"), "int64": Name("INT"), "float": Name("FLOAT")}


def tfmd_text(schema: Mapping[str, Feature]) -> str:
    """Write a schema as the text of a schema.pbtxt.

    >>> from recordsmith.schema import Scalar
    >>> print(tfmd_text({"age": Scalar("int64", min=0)}).partition("  annotation")[0].rstrip())
    feature {
      name: "age"
      type: INT
      presence {
        min_fraction: 1.0
        min_count: 1
      }
      shape {
      }
      int_domain {
        min: 0
      }
    """
    return write_prototext(tfmd_message(schema))


def tfmd_message(schema: Mapping[str, Feature]) -> Message:
    """Return a schema as a message."""
    features: list[Message] = []
    steps: list[Message] = []
    domains: list[Message] = []
    sparse: list[Message] = []
    for name, feature in schema.items():
        stored = [_stored(column, feature) for column in feature.plan(name)]
        stored[0].update(_annotation(name, feature))
        (steps if isinstance(feature, Steps) else features).extend(stored)
        inner = feature.feature if isinstance(feature, Steps) else feature
        if isinstance(inner, Label):
            domains.append(message(name=name, value=list(inner.names)))
        if isinstance(feature, Sparse):
            keys = [message(name=column.key) for column in feature.plan(name)]
            sparse.append(message(name=name, index_feature=keys[0], is_sorted=True, value_feature=keys[1]))
    if steps:
        struct = message(name=SEQUENCE_NAME, type=Name("STRUCT"), struct_domain=message(feature=steps))
        features.append(struct)
    return message(feature=features, sparse_feature=sparse, string_domain=domains)


def _annotation(name: str, feature: Feature) -> Message:
    exact = json.dumps({"name": name, **feature.to_json()}, ensure_ascii=False, separators=(",", ":"))
    return message(annotation=message(tag=TAG + exact, comment=feature.description or None))


def _stored(column: PlanColumn, feature: Feature) -> Message:
    """Describe one stored feature."""
    inner = feature.feature if isinstance(feature, Steps) else feature
    fields = message(name=column.key, type=_TYPES[column.kind])
    required = column.presence == "required"
    fields["presence"] = [message(min_fraction=1.0, min_count=1) if required else message(min_fraction=0.0)]
    if column.steps:
        counts = [message(min=0), _value_count(column, inner)]
        fields["value_counts"] = [message(value_count=counts)]
    elif required and column.count is not None:
        fields["shape"] = [_shape(column, inner)]
    else:
        fields["value_count"] = [_value_count(column, inner)]
    return {**fields, **_domain(column, inner)}


def _shape(column: PlanColumn, feature: Feature) -> Message:
    """Return the sizes of what is stored: those of the feature, unless it is packed into one string."""
    sizes: tuple[int | None, ...] = () if column.count == 1 else (column.count,)
    if isinstance(feature, NumericFeature) and feature.stored_as == "list" and None not in feature.row_shape:
        sizes = feature.row_shape
    elif isinstance(feature, StringFeature):
        sizes = feature.shape
    return {"dim": [message(size=size) for size in sizes]} if sizes else {}


def _value_count(column: PlanColumn, feature: Feature) -> Message:
    if column.count is not None:
        return message(min=column.count, max=column.count)
    least, most = getattr(feature, "min_length", None), getattr(feature, "max_length", None)
    unit = 1
    if isinstance(feature, NumericFeature):
        sizes = feature.row_shape
        unit = int(np.prod([size for size in sizes if size is not None])) if sizes.count(None) == 1 else 0
    return message(min=(least or 0) * unit, max=most * unit if most is not None and unit else None)


def _domain(column: PlanColumn, feature: Feature) -> Message:
    if isinstance(feature, Label):
        return message(int_domain=message(name=column.key, min=0, max=feature.size - 1, is_categorical=True))
    if isinstance(feature, Image):
        return message(image_domain={})
    if isinstance(feature, Sparse) and column.key.endswith("/indices"):
        return message(int_domain=message(min=0, max=feature.size - 1))
    if isinstance(feature, Text) and feature.one_of is not None:
        return message(string_domain=message(name=column.key, value=list(feature.one_of)))
    if isinstance(feature, NumericFeature) and column.kind != "bytes" and len(feature.plan("")) == 1:
        return _number_domain(feature)
    return {}


def _number_domain(feature: NumericFeature) -> Message:
    low, high = feature.min, feature.max
    if feature.one_of is not None:  # the nearest that can be said
        low, high = min(feature.one_of), max(feature.one_of)
    if feature.dtype.kind == "f":
        finite = True if feature.finite else None
        bounds = [None if bound is None else float(bound) for bound in (low, high)]
        fields = message(min=bounds[0], max=bounds[1], disallow_nan=finite, disallow_inf=finite)
        return message(float_domain=fields) if fields else {}
    if feature.dtype.kind == "b":
        return message(bool_domain={})
    limits = np.iinfo(feature.dtype)
    if feature.dtype.name not in ("int64", "uint64"):
        low, high = limits.min if low is None else low, limits.max if high is None else high
    elif feature.dtype.name == "uint64" and low is None:
        low = 0
    fields = message(min=_whole(low, np.ceil), max=_whole(high, np.floor))
    return message(int_domain=fields) if fields else {}


def _whole(bound: float | None, rounded: Any) -> int | None:
    return None if bound is None else int(bound) if isinstance(bound, int) else int(rounded(bound))
