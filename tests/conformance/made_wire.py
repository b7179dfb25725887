"""Strategies for protobuf bytes that no serializer writes and every parser has to understand, and for damaged ones.

    sound      every value in the plainest form, as serializers write it
    odd        all that protobuf allows besides: lists in pieces, packed or not; padded varints; fields in any order, met
               twice, of unknown numbers, of another wire type, groups; map entries without key or value
    mutated    either of them with bits flipped, bytes cut, inserted, repeated, or spliced with others
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from hypothesis import strategies as st

VARINT, FIXED64, DELIMITED, GROUP_START, GROUP_END, FIXED32 = 0, 1, 2, 3, 4, 5
BYTES_LIST, FLOAT_LIST, INT64_LIST = 1, 2, 3
NESTING_LIMIT = 100  # protobuf's

Bytes = st.SearchStrategy[bytes]

# --- bytes ---


def varint(value: int, padding: int = 0) -> bytes:
    """A varint, with `padding` bytes more than it needs."""
    groups = []
    while value > 127:
        groups.append(value & 127)
        value >>= 7
    groups += [value, *[0] * padding]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def tag(field: int, wire_type: int) -> bytes:
    return varint(field << 3 | wire_type)


def delimited(field: int, body: bytes, padding: int = 0) -> bytes:
    return tag(field, DELIMITED) + varint(len(body), padding) + body


def nested_groups(depth: int) -> bytes:
    return tag(5, GROUP_START) * depth + tag(5, GROUP_END) * depth


def entry(key: bytes, value: bytes) -> bytes:
    """A map entry in the plainest form."""
    return delimited(1, delimited(1, key) + delimited(2, value))


# --- pieces ---

INT64S = st.sampled_from([0, 1, -1, 127, 128, 300, 2**31, 2**63 - 1, -(2**63)]) | st.integers(-(2**63), 2**63 - 1)
FLOAT_BITS = st.sampled_from([0, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 1]) | st.integers(
    0, 2**32 - 1
)
KEYS = st.sampled_from(["a", "b", "c", "label", "", "é漢", "a\0b", "k" * 15, "k" * 16, "k" * 17, "k" * 127, "k" * 128])
ODD_KEYS = KEYS.map(str.encode) | st.text(max_size=5).map(str.encode) | st.sampled_from([b"\xff", b"\xc0\x80", b"a\xed\xa0\x80"])
seldom = st.integers(0, 7).map(lambda number: number == 0)
paddings = st.sampled_from([0] * 12 + [1, 2, 3, 4, 5, 8, 9])


def int64_varint(value: int, padding: int = 0) -> bytes:
    return varint(value % 2**64, padding)


@st.composite
def some_varint(draw: st.DrawFn) -> bytes:
    value = draw(INT64S)
    return int64_varint(value, draw(paddings))


def some_float() -> Bytes:
    return FLOAT_BITS.map(lambda bits: struct.pack("<I", bits))


def unknown_values(wire_type: int, inner: Bytes) -> Bytes:
    return {
        VARINT: some_varint(),
        FIXED64: st.binary(min_size=8, max_size=8),
        DELIMITED: st.builds(lambda body, padding: varint(len(body), padding) + body, st.binary(max_size=6), paddings),
        GROUP_START: inner,
        FIXED32: st.binary(min_size=4, max_size=4),
    }[wire_type]


@st.composite
def unknown_field(draw: st.DrawFn, numbers: Sequence[int] = (4, 5, 15, 16, 2047, 2**29 - 1), level: int = 0) -> bytes:
    number = draw(st.sampled_from(list(numbers)))
    wire_type = draw(st.sampled_from([VARINT, FIXED64, DELIMITED, FIXED32] + [GROUP_START] * (level < 2)))
    if wire_type != GROUP_START:
        return tag(number, wire_type) + draw(unknown_values(wire_type, st.nothing()))
    if draw(st.integers(0, 5)) == 0:
        return nested_groups(draw(st.integers(NESTING_LIMIT - 6, NESTING_LIMIT + 2)))
    inside = draw(st.lists(unknown_field((1, 2, 5, 2**29 - 1), level + 1), max_size=2))
    return tag(number, GROUP_START) + b"".join(inside) + tag(number, GROUP_END)


def wrong_wire_type(field: int) -> Bytes:
    """A field that is known, with a type that is not its own."""
    return st.sampled_from([VARINT, FIXED64, FIXED32]).flatmap(
        lambda wire_type: unknown_values(wire_type, st.nothing()).map(lambda value: tag(field, wire_type) + value)
    )


@st.composite
def mixed(draw: st.DrawFn, known: Bytes, max_size: int = 3) -> bytes:
    """Some known fields, with unknown ones in between now and then."""
    fields = draw(st.lists(known, max_size=max_size))
    if draw(seldom):
        fields.insert(draw(st.integers(0, len(fields))), draw(unknown_field()))
    return b"".join(fields)


# --- messages ---


@st.composite
def int64_chunk(draw: st.DrawFn) -> bytes:
    match draw(st.integers(0, 9)):
        case 0:
            return draw(wrong_wire_type(1))
        case 1 | 2 | 3:
            return tag(1, VARINT) + draw(some_varint())
        case 4:  # long enough for whatever reads many at once
            values = draw(st.lists(st.integers(0, 40_000), min_size=60, max_size=90))
            return delimited(1, b"".join(map(int64_varint, values)))
    return delimited(1, b"".join(draw(st.lists(some_varint(), max_size=5))), draw(paddings))


@st.composite
def float_chunk(draw: st.DrawFn) -> bytes:
    match draw(st.integers(0, 9)):
        case 0:
            return draw(st.binary(max_size=9).map(lambda body: delimited(1, body)))
        case 1 | 2 | 3:
            return tag(1, FIXED32) + draw(some_float())
    return delimited(1, b"".join(draw(st.lists(some_float(), max_size=5))), draw(paddings))


@st.composite
def bytes_chunk(draw: st.DrawFn) -> bytes:
    if draw(st.integers(0, 9)) == 0:
        return draw(wrong_wire_type(1))
    return delimited(1, draw(st.binary(max_size=6) | st.binary(min_size=126, max_size=130)), draw(paddings))


LISTS = {BYTES_LIST: mixed(bytes_chunk()), FLOAT_LIST: mixed(float_chunk()), INT64_LIST: mixed(int64_chunk())}


@st.composite
def kind_field(draw: st.DrawFn) -> bytes:
    kind = draw(st.sampled_from([BYTES_LIST, FLOAT_LIST, INT64_LIST]))
    if draw(st.integers(0, 15)) == 0:
        return draw(wrong_wire_type(kind))
    return delimited(kind, draw(LISTS[kind]), draw(paddings))


FEATURES_VALUE = st.one_of(kind_field(), mixed(kind_field(), 2), mixed(kind_field(), 2))
FEATURE_LIST_VALUE = mixed(st.builds(delimited, st.just(1), FEATURES_VALUE, paddings))


@st.composite
def odd_entry(draw: st.DrawFn, values: Bytes) -> bytes:
    """A map entry; nearly always with one key and one value, in this order."""
    key, value = delimited(1, draw(ODD_KEYS), draw(paddings)), delimited(2, draw(values), draw(paddings))
    match draw(st.integers(0, 19)):
        case 0:
            return delimited(1, value + key)
        case 1:
            return delimited(1, key)
        case 2:
            return delimited(1, value)
        case 3:
            return delimited(1, b"")
        case 4:
            return delimited(1, key + delimited(1, draw(ODD_KEYS)) + value)
        case 5:
            return delimited(1, key + value + delimited(2, draw(values)))
        case 6:
            return delimited(1, key + draw(unknown_field((3, 7))) + value)
        case 7:
            return delimited(1, key + value + draw(wrong_wire_type(2)))
    return delimited(1, key + value, draw(paddings))


def odd_map(values: Bytes) -> Bytes:
    return mixed(odd_entry(values), max_size=4)


@st.composite
def odd_message(draw: st.DrawFn, *, with_lists: bool) -> bytes:
    """An Example, or with lists a SequenceExample."""
    fields = [st.builds(delimited, st.just(1), odd_map(FEATURES_VALUE), paddings)] * 2
    if with_lists:
        fields.append(st.builds(delimited, st.just(2), odd_map(FEATURE_LIST_VALUE), paddings))
    message = draw(mixed(st.one_of(fields), max_size=3))
    return message + draw(wrong_wire_type(1)) if draw(st.integers(0, 15)) == 0 else message


# --- damage ---


@st.composite
def mutated(draw: st.DrawFn, payloads: Bytes, others: Bytes) -> bytes:
    data = bytearray(draw(payloads))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.integers(0, 7)):
            case 0 | 1 if data:
                data[place] ^= 1 << draw(st.integers(0, 7))
            case 2 if data:
                data[place] = draw(st.sampled_from([0, 1, 2, 8, 10, 11, 12, 13, 18, 26, 127, 128, 255]))
            case 3:
                del data[place:]
            case 4:
                del data[place : place + draw(st.integers(1, 4))]
            case 5:
                data[place:place] = draw(st.binary(min_size=1, max_size=4))
            case 6:
                data[place:place] = data[place : place + draw(st.integers(1, 12))]
            case _:
                other = draw(others)
                data[place:] = other[draw(st.integers(0, len(other))) :]
    return bytes(data)
