"""Parses records inside TensorFlow with a schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from recordsmith.schema import Feature
from recordsmith.schema.export.tensorflow_features import import_tensorflow, io_features
from recordsmith.schema.export.tensorflow_plan import Call, FeaturePlan, TensorFlowDtype, plan_features

__all__ = ["parse_in_tensorflow"]


def parse_in_tensorflow(
    schema: Mapping[str, Feature], serialized: Any, *, decode_images: bool = False
) -> dict[str, Any]:
    """Parse a batch of records, or one, into tensors by name.

    >>> import recordsmith as rs
    >>> from recordsmith.schema import Tensor
    >>> records = [rs.encode_example({"x": [1, 2]}), rs.encode_example({"x": [3]})]
    >>> parse_in_tensorflow({"x": Tensor("int64", (None,))}, records)["x"].to_list()
    [[1, 2], [3]]
    """
    tf = import_tensorflow("Schema.parse_tf")
    plans = plan_features(schema, decode_images=decode_images)
    return _parse(tf, plans, serialized)


# What tf.autograph.experimental.do_not_convert sets, without loading TensorFlow for it: there are no loops over tensors
# here, so in tf.data's map and in tf.function this is to be called as it is.
parse_in_tensorflow.autograph_info__ = {}  # type: ignore[attr-defined] # functions take any attribute


def _parse(tf: Any, plans: tuple[FeaturePlan, ...], serialized: Any) -> dict[str, Any]:
    from recordsmith.schema.export.tensorflow_functions import first_row

    records = tf.convert_to_tensor(serialized, tf.string)
    one = records.shape.rank == 0
    batch = tf.reshape(records, [1]) if one else tf.ensure_shape(records, [None])
    context = io_features(tf, (plan for plan in plans if not plan.steps))
    if any(plan.steps for plan in plans):
        steps = io_features(tf, (plan for plan in plans if plan.steps))
        parsed, lists, lengths = tf.io.parse_sequence_example(batch, context, steps)
    else:
        # TensorFlow has nothing to parse for a schema of no features, and says so with an error.
        parsed, lists, lengths = tf.io.parse_example(batch, context) if context else {}, {}, {}
    rows = {}
    for plan in plans:
        if plan.steps:
            (key,) = plan.stored  # a step is always stored in one part
            tensors = [lists[key], lengths.get(key)]
        else:
            tensors = [parsed[key] for key in plan.stored]
        rows[plan.name] = tensors[0] if plan.restore is None else _bound(tf, plan.restore, one=one)(*tensors)
    return {name: first_row(value) for name, value in rows.items()} if one else rows


def _bound(tf: Any, call: Call, *, one: bool) -> Any:
    """Return the function of a call with all of its arguments but the tensors."""
    from recordsmith.schema.export import tensorflow_functions

    arguments = {name: _value(tf, value) for name, value in call.arguments.items()}
    if call.takes_one:
        arguments["one"] = one
    return partial(getattr(tensorflow_functions, call.function), **arguments)


def _value(tf: Any, value: Any) -> Any:
    if isinstance(value, TensorFlowDtype):
        return getattr(tf, value)
    if isinstance(value, Call):
        return _bound(tf, value, one=False)  # it is given the rows of many records at once
    if isinstance(value, Mapping):
        return {key: _value(tf, entry) for key, entry in value.items()}
    return tuple(_value(tf, entry) for entry in value) if isinstance(value, tuple) else value
