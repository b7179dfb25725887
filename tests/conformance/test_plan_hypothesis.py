"""Decoding by a plan, many records at once, gives what decode_example gives for each of them.

The core predicts that a record looks like the one before it and falls back to the general parser where it does not. So
records here come in batches, mostly alike, with features missing, in another order, twice, unknown, of the wrong kind
or number, in odd encodings, or with damaged bytes in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recordsmith as rs
from recordsmith import _core
from recordsmith.schema.native import compile_plan
from tests.conformance import made_wire as wire

RANDOMS = st.randoms(use_true_random=True)  # seeded by Hypothesis: the same in every run, and fast
NAMES = ("label", "x", "image/encoded", "k" * 16, "k" * 17, "k" * 140, "é", "")
UNKNOWN = ("labe", "labels", "y", "k" * 18, "zz")

# Feature types, each with a default that fits it.
TYPES: list[tuple[type[Any], tuple[Any, ...], Any]] = [
    (rs.Scalar, ("int64",), 7),
    (rs.Scalar, ("float32",), 0.5),
    (rs.Scalar, ("int16",), -2),  # two raw bytes
    (rs.Tensor, ("int64", (3,)), [1, 2, 300]),
    (rs.Tensor, ("int64", (None,)), [9]),
    (rs.Tensor, ("float32", (2,)), [1.5, -0.0]),
    (rs.Tensor, ("float32", (None,)), []),
    (rs.Tensor, ("uint8", (4,)), [1, 2, 3, 4]),  # four raw bytes
    (rs.Tensor, ("uint8", (None,)), [1, 2]),
    (rs.Bytes, (), b"default"),
    (rs.Bytes, ((1,),), [b"one"]),
    (rs.Bytes, ((2,),), [b"x", b"yy"]),
    (rs.Bytes, ((None,),), [b"", b"z"]),
]


def some_feature(random: Random) -> Any:
    kind, arguments, default = random.choice(TYPES)
    presence = random.choice(["required", "required", "optional", "default"])
    match presence:
        case "optional":
            return kind(*arguments, optional=True)
        case "default":
            return kind(*arguments, default=default)
    return kind(*arguments)


def some_schema(random: Random) -> rs.Schema:
    names = random.sample(NAMES, random.randint(1, 5))
    return rs.Schema({name: some_feature(random) for name in names})


# --- records that fit a schema, or nearly ---


def some_wire_feature(random: Random, feature: Any) -> bytes:
    """A Feature with values for the given one; now and then of another number. Numbers are packed, or one by one."""
    (column,) = feature.plan("name")
    count = random.randrange(5) if column.count is None or random.randrange(25) == 0 else column.count
    if column.kind == "bytes":
        sizes = [random.randrange(6) if column.row_bytes is None else column.row_bytes for _ in range(count)]
        return wire.delimited(wire.BYTES_LIST, b"".join(wire.delimited(1, random.randbytes(size)) for size in sizes))
    if column.kind == "float":
        numbers = np.array([random.choice([0.0, -0.0, 1.5, np.nan, np.inf]) for _ in range(count)], np.float32)
        field, single, pieces = wire.FLOAT_LIST, wire.tag(1, wire.FIXED32), [number.tobytes() for number in numbers]
    else:
        pieces = [wire.int64_varint(random.choice(wire.INT64S)) for _ in range(count)]
        field, single = wire.INT64_LIST, wire.tag(1, wire.VARINT)
    if not pieces:
        return wire.delimited(field, random.choice([b"", wire.delimited(1, b"")]))
    cut = random.randint(0, len(pieces)) if random.randrange(12) == 0 else len(pieces)
    return wire.delimited(
        field, wire.delimited(1, b"".join(pieces[:cut])) + b"".join(single + piece for piece in pieces[cut:])
    )


def some_record(random: Random, schema: rs.Schema, maker: wire.WireMaker) -> bytes:
    names = [name for name in schema if random.randrange(20)]
    if random.randrange(8) == 0:
        random.shuffle(names)
    if random.randrange(8) == 0:
        names.insert(random.randint(0, len(names)), random.choice(UNKNOWN))
    if random.randrange(16) == 0:
        names.insert(random.randint(0, len(names)), random.choice([*schema]))
    entries = []
    for name in names:
        feature = schema[name] if name in schema and random.randrange(30) else some_feature(random)
        value = b"" if random.randrange(40) == 0 else some_wire_feature(random, feature)
        if random.randrange(40) == 0:
            value = maker.feature()
        entries.append(wire.entry(name.encode(), value))
    if random.randrange(30) == 0:
        entries.append(maker.unknown_field())
    payload = wire.delimited(1, b"".join(entries))
    if random.randrange(12) == 0:
        payload = maker.mutated(payload, maker.example())
    return payload + payload if random.randrange(60) == 0 else payload


# --- what must come out ---

MALFORMED = "malformed"
MISMATCH = "mismatch"


def expected_value(column: Any, values: Any) -> tuple[str | None, Any]:
    """What is wrong with a feature's decoded values, and what is stored in the row."""
    if values is None:
        if column.presence == "required":
            return MISMATCH, None
        return None, None if column.presence == "optional" else column.default
    kind = "bytes" if isinstance(values, list) else "float" if values.dtype == np.float32 else "int64"
    if kind != column.kind or (column.count is not None and len(values) != column.count):
        return MISMATCH, None
    if column.row_bytes is not None and len(values[0]) != column.row_bytes:
        return MISMATCH, None
    return None, values


def expected_row(schema: rs.Schema, payload: bytes) -> tuple[str | None, dict[str, Any]]:
    try:
        decoded = rs.decode_example(payload)
    except rs.CorruptRecordError:
        return MALFORMED, {}
    row = {}
    wrong = None
    for name, feature in schema.items():
        (column,) = feature.plan(name)
        problem, row[name] = expected_value(column, decoded.get(name))
        wrong = wrong or problem
    return wrong, row


def plain(values: Any) -> Any:
    """Stored values as something that compares bit by bit."""
    if values is None or isinstance(values, list):
        return values
    return [values] if isinstance(values, bytes) else (values.dtype.name, values.tobytes())


def stored(feature: Any, value: Any) -> Any:
    """A row's value as it is stored."""
    if value is None or isinstance(value, list):
        return value
    if isinstance(value, bytes):
        return [value]
    array = np.asarray(value)
    return [array.tobytes()] if feature.stored_as == "bytes" else array.reshape(-1)


def decode(schema: rs.Schema, payloads: Sequence[bytes]) -> list[dict[str, Any]]:
    batch = schema.assemble(_core.decode_payloads(compile_plan(schema), list(payloads)))
    return [
        {name: plain(stored(feature, feature.row(batch[name], number))) for name, feature in schema.items()}
        for number in range(len(payloads))
    ]


def wanted_part(schema: rs.Schema, payload: bytes) -> bytes | None:
    """The payload without the entries of names that the schema does not have; None if it is not of the plainest form.

    Features that nobody asked for are skipped and not looked into, so damage inside them may go unnoticed.
    """
    entries: list[bytes] = []
    outer = fields_of(payload)
    if outer is None or len(outer) != 1:
        return None
    for entry in fields_of(outer[0][1]) or []:
        parts = fields_of(entry[1])
        if entry[0] != 1 or parts is None or [number for number, _ in parts] != [1, 2]:
            return None
        if parts[0][1] in [name.encode() for name in schema]:
            entries.append(wire.entry(parts[0][1], parts[1][1]))
    return wire.delimited(1, b"".join(entries))


def fields_of(message: bytes) -> list[tuple[int, bytes]] | None:
    """The fields of a message in which all are length-delimited; None of any other."""
    fields = []
    at = 0
    while at < len(message):
        number, wire_type = message[at] >> 3, message[at] & 7
        size = shift = 0
        at += 1
        while at < len(message) and message[at] & 128:
            size |= (message[at] & 127) << shift
            shift += 7
            at += 1
        if wire_type != wire.DELIMITED or at >= len(message):
            return None
        size |= message[at] << shift
        at += 1
        if size > len(message) - at:
            return None
        fields.append((number, message[at : at + size]))
        at += size
    return fields


def check_failure(schema: rs.Schema, sound: Sequence[bytes], payload: bytes, problem: str) -> None:
    error: rs.RecordsmithError | None = None
    rows = []
    try:
        rows = decode(schema, [*sound, payload])
    except rs.RecordsmithError as raised:
        error = raised
    if error is not None:
        assert type(error) is (rs.CorruptRecordError if problem == MALFORMED else rs.SchemaMismatchError)
        assert error.record == len(sound)
        assert problem == MALFORMED or error.feature in schema
        return
    assert problem == MALFORMED, "what does not fit the schema was taken"
    part = wanted_part(schema, payload)
    assert part is not None, "malformed bytes were taken"
    still_wrong, row = expected_row(schema, part)
    assert still_wrong is None, "malformed bytes of a feature in the schema were taken"
    assert rows[-1] == {name: plain(values) for name, values in row.items()}


def check_batch(schema: rs.Schema, payloads: Sequence[bytes]) -> None:
    outcomes = [expected_row(schema, payload) for payload in payloads]
    sound = [payload for payload, (problem, _) in zip(payloads, outcomes, strict=True) if problem is None]
    rows = [{name: plain(values) for name, values in row.items()} for problem, row in outcomes if problem is None]
    assert decode(schema, sound) == rows
    for payload, (problem, _) in zip(payloads, outcomes, strict=True):
        if problem is not None:
            check_failure(schema, sound, payload, problem)


@given(RANDOMS)
@settings(max_examples=150)
def test_batches_agree_with_single_records(random: Random):
    maker = wire.WireMaker(random)
    schema = some_schema(random)
    for _ in range(10):
        check_batch(schema, [some_record(random, schema, maker) for _ in range(random.randint(1, 12))])


@given(RANDOMS)
@settings(max_examples=60)
def test_batches_of_anything_agree_with_single_records(random: Random):
    maker = wire.WireMaker(random)
    schema = rs.Schema(
        {
            "a": random.choice([rs.Tensor("int64", (None,), optional=True), rs.Bytes((None,), optional=True)]),
            "b": rs.Tensor("float32", (None,), optional=True),
            "": rs.Bytes((None,), default=[]),
        }
    )
    for _ in range(10):
        check_batch(schema, [maker.example() for _ in range(8)])


def test_every_kind_of_feature_was_met():
    """The generator makes what it says: batches in which most records are sound, and some of each failure."""
    random = Random(5)
    maker = wire.WireMaker(random)
    problems: list[str | None] = []
    for _ in range(100):
        schema = some_schema(random)
        problems += [expected_row(schema, some_record(random, schema, maker))[0] for _ in range(10)]
    counts = {problem: problems.count(problem) for problem in set(problems)}
    assert counts[None] > 500
    assert counts[MISMATCH] > 50
    assert counts[MALFORMED] > 10


# --- steps ---

STEP_FEATURES = [
    rs.Scalar("int64"),
    rs.Tensor("float32", (2,)),
    rs.Tensor("int64", (None,)),
    rs.Bytes(),
    rs.Bytes((None,)),
    rs.Tensor("uint8", (4,)),
]


def expected_steps(feature: rs.Steps, steps: Any) -> tuple[str | None, Any]:
    (column,) = feature.plan("name")
    if steps is None:
        return (None, None) if column.presence == "optional" else (MISMATCH, None)
    found: list[Any] = []
    for step in steps:
        if step is None and column.count is None:  # a step without a kind is an empty one
            found.append(
                [] if column.kind == "bytes" else np.empty(0, np.float32 if column.kind == "float" else np.int64)
            )
            continue
        problem, values = expected_value(column, step) if step is not None else (MISMATCH, None)
        if problem is not None:
            return problem, None
        found.append(values)
    return None, found


def some_sequence(random: Random, schema: rs.Schema, maker: wire.WireMaker) -> bytes:
    context, lists = [], []
    for name, feature in schema.items():
        if random.randrange(10) == 0:
            continue
        if not isinstance(feature, rs.Steps):
            context.append(wire.entry(name.encode(), some_wire_feature(random, feature)))
            continue
        steps = [
            b"" if random.randrange(40) == 0 else some_wire_feature(random, feature.feature)
            for _ in range(random.randrange(4))
        ]
        lists.append(wire.entry(name.encode(), b"".join(wire.delimited(1, step) for step in steps)))
    payload = wire.delimited(1, b"".join(context)) + wire.delimited(2, b"".join(lists))
    return maker.mutated(payload, maker.sequence_example()) if random.randrange(15) == 0 else payload


def expected_sequence_row(schema: rs.Schema, payload: bytes) -> tuple[str | None, dict[str, Any]]:
    try:
        context, lists = rs.decode_sequence_example(payload)
    except rs.CorruptRecordError:
        return MALFORMED, {}
    row: dict[str, Any] = {}
    wrong = None
    for name, feature in schema.items():
        if isinstance(feature, rs.Steps):
            problem, steps = expected_steps(feature, lists.get(name))
            row[name] = None if steps is None else [plain(step) for step in steps]
        else:
            problem, values = expected_value(feature.plan(name)[0], context.get(name))
            row[name] = plain(values)
        wrong = wrong or problem
    return wrong, row


def decode_sequences(schema: rs.Schema, payloads: Sequence[bytes]) -> list[dict[str, Any]]:
    batch = schema.assemble(_core.decode_payloads(compile_plan(schema), list(payloads)))
    rows: list[dict[str, Any]] = []
    for number in range(len(payloads)):
        row: dict[str, Any] = {}
        for name, feature in schema.items():
            value = feature.row(batch[name], number)
            if isinstance(feature, rs.Steps):
                steps = None if value is None else [plain(stored(feature.feature, step)) for step in value]
                row[name] = steps
            else:
                row[name] = plain(stored(feature, value))
        rows.append(row)
    return rows


@given(RANDOMS)
@settings(max_examples=100)
def test_steps_agree_with_single_records(random: Random):
    maker = wire.WireMaker(random)
    schema = rs.Schema(
        {
            "id": some_feature(random),
            "steps": rs.Steps(random.choice(STEP_FEATURES)),
            "more": rs.Steps(random.choice(STEP_FEATURES), optional=True),
        }
    )
    for _ in range(10):
        payloads = [some_sequence(random, schema, maker) for _ in range(8)]
        outcomes = [expected_sequence_row(schema, payload) for payload in payloads]
        sound = [payload for payload, (problem, _) in zip(payloads, outcomes, strict=True) if problem is None]
        assert decode_sequences(schema, sound) == [row for problem, row in outcomes if problem is None]
        for payload, (problem, _) in zip(payloads, outcomes, strict=True):
            if problem is not None:
                error = rs.CorruptRecordError if problem == MALFORMED else rs.SchemaMismatchError
                with pytest.raises(error):
                    decode_sequences(schema, [*sound, payload])
