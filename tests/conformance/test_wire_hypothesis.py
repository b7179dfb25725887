"""decode_example and decode_sequence_example mean what protobuf means, on any bytes at all."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recordsmith as rs
from tests.conformance import made_wire as wire
from tests.conformance.protobuf_reference import example_of, same_values, sequence_example_of

# --- what protobuf itself writes ---

NUMBERS = st.floats(width=32) | st.sampled_from([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e-45])
INT64S = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(wire.INT64S)
VALUES = st.one_of(
    st.lists(st.binary(max_size=8), max_size=4),
    st.lists(NUMBERS, max_size=5).map(lambda values: np.array(values, np.float32)),
    st.lists(INT64S, max_size=5).map(lambda values: np.array(values, np.int64)),
)
NAMES = st.sampled_from(wire.KEYS) | st.text(max_size=8)
FEATURES = st.dictionaries(NAMES, VALUES, max_size=5)
FEATURE_LISTS = st.dictionaries(NAMES, st.lists(st.none() | VALUES, max_size=4), max_size=3)
# Without a schema nobody knows what an empty list would hold, and encode_example asks for an array instead.
TYPED = VALUES.filter(lambda values: isinstance(values, np.ndarray) or len(values) > 0)
ENCODABLE = st.dictionaries(NAMES, TYPED, max_size=5)
ENCODABLE_LISTS = st.dictionaries(NAMES, st.lists(st.none() | TYPED, max_size=4), max_size=3)


def as_feature(values: Any) -> tf.train.Feature:
    if values is None:
        return tf.train.Feature()
    if isinstance(values, list):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values.dtype == np.float32:
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def as_features(features: dict[str, Any]) -> tf.train.Features:
    return tf.train.Features(feature={name: as_feature(values) for name, values in features.items()})


def as_example(features: dict[str, Any]) -> tf.train.Example:
    return tf.train.Example(features=as_features(features))


def as_sequence_example(context: dict[str, Any], lists: dict[str, Any]) -> tf.train.SequenceExample:
    feature_lists = {
        name: tf.train.FeatureList(feature=[as_feature(step) for step in steps]) for name, steps in lists.items()
    }
    return tf.train.SequenceExample(
        context=as_features(context), feature_lists=tf.train.FeatureLists(feature_list=feature_lists)
    )


@given(FEATURES)
@settings(max_examples=400)
def test_examples_written_by_protobuf(features: dict[str, Any]):
    assert same_values(rs.decode_example(as_example(features).SerializeToString()), features)


@given(ENCODABLE)
@settings(max_examples=400)
def test_encoded_examples_are_protobufs_own_bytes(features: dict[str, Any]):
    encoded = rs.encode_example(features)
    message = as_example(features)
    if not features:
        message.ClearField("features")  # set and empty, or not set: protobuf writes them differently
    assert same_values(example_of(encoded), example_of(message.SerializeToString()))
    if not one_starts_with_another(features):
        assert encoded == message.SerializeToString(deterministic=True)
    assert [name.encode() for name in rs.decode_example(encoded)] == sorted(name.encode() for name in features)


def one_starts_with_another(names: Iterable[str]) -> bool:
    """Whether protobuf's Python library would write a name before one that it starts with, as no other does."""
    return any(one != other and one.startswith(other) for one in names for other in names)


@given(FEATURES, FEATURE_LISTS)
@settings(max_examples=300)
def test_sequence_examples_written_by_protobuf(context: dict[str, Any], lists: dict[str, Any]):
    payload = as_sequence_example(context, lists).SerializeToString()
    assert same_values(rs.decode_sequence_example(payload), (context, lists))


@given(ENCODABLE, ENCODABLE_LISTS)
@settings(max_examples=300)
def test_encoded_sequence_examples_are_protobufs_own_bytes(context: dict[str, Any], lists: dict[str, Any]):
    encoded = rs.encode_sequence_example(context, lists)
    message = as_sequence_example(context, lists)
    if not context:
        message.ClearField("context")
    if not lists:
        message.ClearField("feature_lists")
    assert same_values(sequence_example_of(encoded), sequence_example_of(message.SerializeToString()))
    if not one_starts_with_another(context) and not one_starts_with_another(lists):
        assert encoded == message.SerializeToString(deterministic=True)


# --- what nobody writes ---

RANDOMS = st.randoms(use_true_random=True)  # seeded by Hypothesis: the same in every run, and fast
PAYLOADS_EACH = 100


def check_example(payload: bytes) -> None:
    expected = example_of(payload)
    if expected is None:
        with pytest.raises(rs.CorruptRecordError):
            rs.decode_example(payload)
    else:
        assert same_values(rs.decode_example(payload), expected), payload.hex()


def check_sequence_example(payload: bytes) -> None:
    expected = sequence_example_of(payload)
    if expected is None:
        with pytest.raises(rs.CorruptRecordError):
            rs.decode_sequence_example(payload)
    else:
        assert same_values(rs.decode_sequence_example(payload), expected), payload.hex()


def check_both(payloads: Iterable[bytes]) -> None:
    for payload in payloads:
        try:
            check_example(payload)
            check_sequence_example(payload)
        except BaseException as error:
            error.add_note(f"payload: {payload.hex()}")
            raise


@given(RANDOMS)
@settings(max_examples=60)
def test_odd_wire(random: Random):
    maker = wire.WireMaker(random)
    check_both(maker.example() for _ in range(PAYLOADS_EACH))


@given(RANDOMS)
@settings(max_examples=60)
def test_odd_wire_of_sequence_examples(random: Random):
    maker = wire.WireMaker(random)
    check_both(maker.sequence_example() for _ in range(PAYLOADS_EACH))


@given(RANDOMS, FEATURES)
@settings(max_examples=100)
def test_mutated_wire(random: Random, features: dict[str, Any]):
    maker = wire.WireMaker(random)
    written = as_example(features).SerializeToString()
    check_both(maker.mutated(written, maker.example()) for _ in range(PAYLOADS_EACH))
    check_both(maker.mutated(maker.example(), written) for _ in range(PAYLOADS_EACH))


@given(RANDOMS, FEATURES, FEATURE_LISTS)
@settings(max_examples=60)
def test_mutated_wire_of_sequence_examples(random: Random, context: dict[str, Any], lists: dict[str, Any]):
    maker = wire.WireMaker(random)
    written = as_sequence_example(context, lists).SerializeToString()
    check_both(maker.mutated(written, maker.sequence_example()) for _ in range(PAYLOADS_EACH))
    check_both(maker.mutated(maker.sequence_example(), written) for _ in range(PAYLOADS_EACH))


@given(st.binary(max_size=40))
@example(b"\x0a" * 20)
@settings(max_examples=500)
def test_any_bytes(payload: bytes):
    check_both([payload])


# --- one corner each, by hand: a group may not be nested deeper than protobuf allows, wherever it stands ---

PLACES = {
    "example": lambda groups: groups,
    "features": lambda groups: wire.delimited(1, groups),
    "entry": lambda groups: wire.delimited(1, wire.delimited(1, wire.delimited(1, b"a") + groups)),
    "feature": lambda groups: wire.delimited(1, wire.entry(b"a", groups)),
    "list": lambda groups: wire.delimited(1, wire.entry(b"a", wire.delimited(wire.INT64_LIST, groups))),
    "feature lists": lambda groups: wire.delimited(2, groups),
    "feature list": lambda groups: wire.delimited(2, wire.entry(b"a", groups)),
    "step": lambda groups: wire.delimited(2, wire.entry(b"a", wire.delimited(1, groups))),
    "list of a step": lambda groups: wire.delimited(
        2, wire.entry(b"a", wire.delimited(1, wire.delimited(wire.FLOAT_LIST, groups)))
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_nesting_up_to_protobufs_limit(place: str):
    outcomes = set()
    for depth in range(wire.NESTING_LIMIT - 8, wire.NESTING_LIMIT + 3):
        payload = PLACES[place](wire.nested_groups(depth))
        check_example(payload)
        check_sequence_example(payload)
        outcomes.add(sequence_example_of(payload) is None)
    assert outcomes == {True, False}, "the limit was not among the depths that were tried"


@pytest.mark.parametrize("wire_type", range(8))
@pytest.mark.parametrize("place", PLACES)
def test_field_zero(place: str, wire_type: int):
    """Protobuf refuses field number 0, except inside of groups that it passes over."""
    values = {0: b"\x05", 1: bytes(8), 2: b"\x01a", 3: b"\x04", 5: bytes(4)}
    field = bytes([wire_type]) + values.get(wire_type, b"")
    in_group = wire.tag(4, wire.GROUP_START) + field + wire.tag(4, wire.GROUP_END)
    check_both([PLACES[place](field), PLACES[place](in_group)])


def test_deep_nesting_is_no_recursion_bomb():
    for depth in (10_000, 2_000_000):
        check_example(wire.nested_groups(depth))
        check_example(wire.tag(5, wire.GROUP_START) * depth)


@pytest.mark.parametrize("count", [23, 24, 25, 200])
def test_records_of_many_features(count: int):
    features = {f"feature {number}": np.array([number]) for number in range(count)}
    payload = as_example(features).SerializeToString()
    check_example(payload)
    # Each of them once more, in another order: the last one counts.
    again = {name: values + 1000 for name, values in reversed(features.items())}
    check_example(payload + as_example(again).SerializeToString())


@pytest.mark.parametrize("size", [0, 1, 62, 63, 64, 65, 71, 72, 73, 127, 128, 129, 1000])
@pytest.mark.parametrize("values", [[5], [300], [5, 300], [-1], [5, -1, 40_000, 2**40], [2**56, 2**63 - 1]])
def test_runs_of_varints_of_every_length(size: int, values: list[int]):
    run = np.resize(np.array(values, np.int64), size)
    check_example(as_example({"a": run}).SerializeToString())
    # The last one cut off, and one too long in the middle.
    packed = b"".join(map(wire.int64_varint, run.tolist()))
    for body in (packed + b"\x80", packed + b"\x80" * 10 + b"\x01" + packed, packed + b"\xff" * 9 + b"\x7f" + packed):
        check_example(wire.delimited(1, wire.entry(b"a", wire.delimited(wire.INT64_LIST, wire.delimited(1, body)))))
