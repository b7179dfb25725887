"""What protobuf makes of a payload: the judge in every question about Examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError

Values = Any  # a float32 array, an int64 array, or a list of bytes


def feature_values(feature: tf.train.Feature) -> Values | None:
    """The values of one Feature in recordsmith's terms; None where no kind is set."""
    match feature.WhichOneof("kind"):
        case "bytes_list":
            return list(feature.bytes_list.value)
        case "float_list":
            return np.array(feature.float_list.value, np.float32)
        case "int64_list":
            return np.array(feature.int64_list.value, np.int64)
    return None


def features_of(features: tf.train.Features) -> dict[str, Values]:
    found = {name: feature_values(feature) for name, feature in features.feature.items()}
    return {name: values for name, values in found.items() if values is not None}


def example_of(payload: bytes) -> dict[str, Values] | None:
    """A serialized Example's features; None where protobuf refuses it."""
    try:
        return features_of(tf.train.Example.FromString(payload).features)
    except DecodeError:
        return None


def sequence_example_of(payload: bytes) -> tuple[dict[str, Values], dict[str, list[Values | None]]] | None:
    """A serialized SequenceExample's context and feature lists; None where protobuf refuses it."""
    try:
        message = tf.train.SequenceExample.FromString(payload)
    except DecodeError:
        return None
    lists = {
        name: [feature_values(step) for step in steps.feature]
        for name, steps in message.feature_lists.feature_list.items()
    }
    return features_of(message.context), lists


def same_values(found: Any, expected: Any) -> bool:
    """Equal in type and value; NaN equals NaN, and -0.0 is not 0.0."""
    if isinstance(expected, np.ndarray):
        if not isinstance(found, np.ndarray) or found.dtype != expected.dtype or found.shape != expected.shape:
            return False
        if found.dtype.kind != "f":
            return bool((found == expected).all())
        numbers = ~np.isnan(expected)
        return bool((np.isnan(found) == ~numbers).all()) and found[numbers].tobytes() == expected[numbers].tobytes()
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(found, type(expected))
            and len(found) == len(expected)
            and all(same_values(one, other) for one, other in zip(found, expected, strict=True))
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(found, Mapping)
            and found.keys() == expected.keys()
            and all(same_values(found[name], values) for name, values in expected.items())
        )
    return type(found) is type(expected) and bool(found == expected)
