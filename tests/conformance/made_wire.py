"""Protobuf bytes that no serializer writes and every parser has to understand, and damaged ones.

    odd        all that protobuf allows: lists in pieces, packed or not; padded varints; fields in any order, met twice,
               of unknown numbers, of another wire type, groups; map entries without key or value; now and then what it
               does not allow, such as a name that is not UTF-8
    mutated    bytes with bits flipped, cut, inserted, repeated, or spliced with others

They are drawn from a plain Random and not from Hypothesis' strategies, which take a hundred times as long for bytes of
this structure: more of them are seen in the time that a test may take.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from random import Random

VARINT, FIXED64, DELIMITED, GROUP_START, GROUP_END, FIXED32 = 0, 1, 2, 3, 4, 5
BYTES_LIST, FLOAT_LIST, INT64_LIST = 1, 2, 3
NESTING_LIMIT = 100  # protobuf's

KEYS = ["a", "b", "c", "label", "", "é漢", "a\0b", "k" * 15, "k" * 16, "k" * 17, "k" * 127, "k" * 128]
NOT_UTF8 = [b"\xff", b"\xc0\x80", b"a\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]
INT64S = [0, 1, -1, 127, 128, 300, 2**31, 2**63 - 1, -(2**63)]
FLOAT_BITS = [0, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 1]
TELLING_BYTES = [0, 1, 2, 8, 10, 11, 12, 13, 18, 26, 127, 128, 255]  # tags, lengths, and the edges of a byte


def varint(value: int, padding: int = 0) -> bytes:
    """A varint, with `padding` bytes more than it needs."""
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    if not padding:
        return bytes([*groups, value])
    return bytes([*groups, value | 128, *[128] * (padding - 1), 0])


def int64_varint(value: int, padding: int = 0) -> bytes:
    return varint(value % 2**64, padding)


def tag(field: int, wire_type: int) -> bytes:
    return varint(field << 3 | wire_type)


def delimited(field: int, body: bytes, padding: int = 0) -> bytes:
    return tag(field, DELIMITED) + varint(len(body), padding) + body


def nested_groups(depth: int) -> bytes:
    return tag(5, GROUP_START) * depth + tag(5, GROUP_END) * depth


def entry(key: bytes, value: bytes) -> bytes:
    """A map entry in the plainest form."""
    return delimited(1, delimited(1, key) + delimited(2, value))


class WireMaker:
    """Makes odd payloads, one after the other."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._one_in = lambda n: random.randrange(n) == 0

    # --- messages ---

    def example(self) -> bytes:
        return self._message([self._features_field])

    def sequence_example(self) -> bytes:
        return self._message([self._features_field, self._feature_lists_field])

    def feature(self) -> bytes:
        if self._one_in(3):
            return self._mixed(self._kind_field, 2)
        return self._kind_field()

    def feature_list(self) -> bytes:
        return self._mixed(lambda: delimited(1, self.feature(), self._padding()), 3)

    def _message(self, fields: Sequence[Callable[[], bytes]]) -> bytes:
        def one_of_them() -> bytes:
            return self._random.choice(fields)()

        message = self._mixed(one_of_them, 3)
        return message + self._wrong_wire_type(1) if self._one_in(16) else message

    def _features_field(self) -> bytes:
        return delimited(1, self._mixed(lambda: self.entry(self.feature), 4), self._padding())

    def _feature_lists_field(self) -> bytes:
        return delimited(2, self._mixed(lambda: self.entry(self.feature_list), 3), self._padding())

    def entry(self, make_value: Callable[[], bytes]) -> bytes:
        """A map entry; mostly with one key and one value, in this order."""
        key, value = self._key_field(), delimited(2, make_value(), self._padding())
        match self._random.randrange(20):
            case 0:
                return delimited(1, value + key)
            case 1:
                return delimited(1, self._random.choice([key, value, b""]))
            case 2:
                return delimited(1, key + self._key_field() + value)
            case 3:
                return delimited(1, key + value + delimited(2, make_value()))
            case 4:
                return delimited(1, key + self.unknown_field((3, 7)) + value)
            case 5:
                return delimited(1, key + value + self._wrong_wire_type(2))
        return delimited(1, key + value, self._padding())

    def _key_field(self) -> bytes:
        key = self._random.choice(NOT_UTF8) if self._one_in(40) else self._random.choice(KEYS).encode()
        return delimited(1, key, self._padding())

    def _kind_field(self) -> bytes:
        kind = self._random.choice([BYTES_LIST, FLOAT_LIST, INT64_LIST])
        if self._one_in(20):
            return self._wrong_wire_type(kind)
        chunk = {BYTES_LIST: self._bytes_chunk, FLOAT_LIST: self._float_chunk, INT64_LIST: self._int64_chunk}[kind]
        return delimited(kind, self._mixed(chunk, 3), self._padding())

    def _mixed(self, make: Callable[[], bytes], most: int) -> bytes:
        """Some known fields, with an unknown one in between now and then."""
        fields = [make() for _ in range(self._random.randint(0, most))]
        if self._one_in(10):
            fields.insert(self._random.randint(0, len(fields)), self.unknown_field())
        return b"".join(fields)

    # --- values ---

    def _bytes_chunk(self) -> bytes:
        if self._one_in(12):
            return self._wrong_wire_type(1)
        size = self._random.choice([0, 1, 3, 6, 127, 128])
        return delimited(1, self._random.randbytes(size), self._padding())

    def _float_chunk(self) -> bytes:
        if self._one_in(30):
            return delimited(1, self._random.randbytes(self._random.randrange(10)))
        if self._one_in(3):
            return tag(1, FIXED32) + self._float()
        return delimited(1, b"".join(self._float() for _ in range(self._random.randrange(6))), self._padding())

    def _int64_chunk(self) -> bytes:
        if self._one_in(12):
            return self._wrong_wire_type(1)
        if self._one_in(3):
            return tag(1, VARINT) + self._varint()
        if self._one_in(6):  # long enough for whatever reads many at once
            many = [self._random.choice([5, 300, 40_000, -1]) for _ in range(self._random.randint(60, 90))]
            return delimited(1, b"".join(map(int64_varint, many)))
        return delimited(1, b"".join(self._varint() for _ in range(self._random.randrange(6))), self._padding())

    def _float(self) -> bytes:
        bits = self._random.getrandbits(32) if self._one_in(3) else self._random.choice(FLOAT_BITS)
        return struct.pack("<I", bits)

    def _varint(self) -> bytes:
        value = self._random.getrandbits(64) if self._one_in(3) else self._random.choice(INT64S)
        return int64_varint(value, self._padding())

    def _padding(self) -> int:
        return self._random.choice([1, 2, 3, 4, 5, 8, 9]) if self._one_in(25) else 0

    # --- what is not known ---

    def unknown_field(self, numbers: Sequence[int] = (4, 5, 15, 16, 2047, 2**29 - 1), level: int = 0) -> bytes:
        number = self._random.choice(numbers)
        if level < 3 and self._one_in(3):
            if self._one_in(4):
                return nested_groups(self._random.randint(NESTING_LIMIT - 6, NESTING_LIMIT + 2))
            inside = [self.unknown_field((1, 2, 5, 2**29 - 1), level + 1) for _ in range(self._random.randrange(3))]
            return tag(number, GROUP_START) + b"".join(inside) + tag(number, GROUP_END)
        return self._value_of_type(number, self._random.choice([VARINT, FIXED64, DELIMITED, FIXED32]))

    def _wrong_wire_type(self, field: int) -> bytes:
        """A field that is known, with a type that may not be its own."""
        return self._value_of_type(field, self._random.choice([VARINT, FIXED64, FIXED32]))

    def _value_of_type(self, field: int, wire_type: int) -> bytes:
        match wire_type:
            case 0:
                value = self._varint()
            case 1:
                value = self._random.randbytes(8)
            case 2:
                return delimited(field, self._random.randbytes(self._random.randrange(7)), self._padding())
            case _:
                value = self._random.randbytes(4)
        return tag(field, wire_type) + value

    # --- damage ---

    def mutated(self, payload: bytes, other: bytes) -> bytes:
        data = bytearray(payload)
        for _ in range(self._random.randint(1, 3)):
            place = self._random.randrange(len(data)) if data else 0
            match self._random.randrange(8):
                case 0 | 1 if data:
                    data[place] ^= 1 << self._random.randrange(8)
                case 2 if data:
                    data[place] = self._random.choice(TELLING_BYTES)
                case 3:
                    del data[place:]
                case 4:
                    del data[place : place + self._random.randint(1, 4)]
                case 5:
                    data[place:place] = self._random.randbytes(self._random.randint(1, 4))
                case 6:
                    data[place:place] = data[place : place + self._random.randint(1, 12)]
                case _:
                    data[place:] = other[self._random.randint(0, len(other)) :]
        return bytes(data)
