"""The features that tf.io.parse_example and tf.io.parse_sequence_example need for a schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from recordsmith.errors import import_extra
from recordsmith.schema import Feature
from recordsmith.schema.export.tensorflow_plan import Call, FeaturePlan, TensorFlowDtype, plan_features

__all__ = ["SequenceFeatures", "import_tensorflow", "io_features", "tensorflow_features"]


class SequenceFeatures(NamedTuple):
    """The two arguments of tf.io.parse_sequence_example after the records."""

    context_features: dict[str, Any]
    sequence_features: dict[str, Any]


def tensorflow_features(schema: Mapping[str, Feature]) -> dict[str, Any] | SequenceFeatures:
    """Return tf.io features by stored name; for a schema with Steps, those of the context and of the feature lists.

    >>> from recordsmith.schema import Steps, Tensor, Text
    >>> tensorflow_features({"box": Tensor("float32", (4,))})
    {'box': FixedLenFeature(shape=(4,), dtype=tf.float32, default_value=None)}
    >>> list(tensorflow_features({"words": Steps(Text()), "title": Text()}).context_features)
    ['title']
    """
    tf = import_tensorflow("Schema.to_tf")
    plans = plan_features(schema)
    context = io_features(tf, (plan for plan in plans if not plan.steps))
    if any(plan.steps for plan in plans):
        return SequenceFeatures(context, io_features(tf, (plan for plan in plans if plan.steps)))
    for plan in plans:
        if plan.as_sparse is not None:  # parse_example makes the SparseTensor by itself
            for key in plan.stored:
                del context[key]
            context[plan.name] = io_feature(tf, plan.as_sparse)
    return context


def io_features(tf: Any, plans: Iterable[FeaturePlan]) -> dict[str, Any]:
    """Make the tf.io features of some plans, by stored name."""
    return {key: io_feature(tf, call) for plan in plans for key, call in plan.stored.items()}


def io_feature(tf: Any, call: Call) -> Any:
    """Make one tf.io feature."""
    arguments = {
        name: getattr(tf, value) if isinstance(value, TensorFlowDtype) else value
        for name, value in call.arguments.items()
    }
    return getattr(tf.io, call.function)(**arguments)


def import_tensorflow(purpose: str) -> Any:
    """Import TensorFlow, or raise the error that says how to install it."""
    return import_extra("tensorflow", extra="tensorflow", purpose=purpose)
