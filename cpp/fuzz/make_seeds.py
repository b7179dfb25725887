"""Writes the inputs that fuzzing starts from: small, valid, and near every corner of the formats.

Without them the fuzzers would first have to find out what a CRC, a gzip header and a protobuf message look like.
Plain Python, so that it runs wherever the fuzzers do.
"""

from __future__ import annotations

import gzip
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from random import Random

# --- TFRecord framing -------------------------------------------------------------------------------------------------


def crc32c(data: bytes) -> int:
    """The CRC-32C of `data`, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    """The four bytes that a TFRecord stores for `data`'s CRC."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(*payloads: bytes) -> bytes:
    """A TFRecord file."""
    lengths = (struct.pack("<Q", len(payload)) for payload in payloads)
    return b"".join(
        length + masked(length) + payload + masked(payload) for length, payload in zip(lengths, payloads, strict=True)
    )


def claiming(length: int) -> bytes:
    """A valid header for a record that is not there."""
    header = struct.pack("<Q", length)
    return header + masked(header)


# --- protobuf wire format ---------------------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    """A varint; negative numbers take ten bytes."""
    value &= (1 << 64) - 1
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def tag(field: int, wire_type: int) -> bytes:
    """A field's tag."""
    return varint(field << 3 | wire_type)


def message(field: int, body: bytes) -> bytes:
    """A length-delimited field."""
    return tag(field, 2) + varint(len(body)) + body


def bytes_list(*values: bytes) -> bytes:
    """A Feature of byte strings."""
    return message(1, b"".join(message(1, value) for value in values))


def float_list(*values: float, packed: bool = True) -> bytes:
    """A Feature of floats."""
    parts = [struct.pack("<f", value) for value in values]
    return message(2, message(1, b"".join(parts)) if packed else b"".join(tag(1, 5) + part for part in parts))


def int64_list(*values: int, packed: bool = True) -> bytes:
    """A Feature of integers."""
    parts = [varint(value) for value in values]
    return message(3, message(1, b"".join(parts)) if packed else b"".join(tag(1, 0) + part for part in parts))


def entry(key: bytes, value: bytes) -> bytes:
    """An entry of the map in Features or FeatureLists."""
    return message(1, message(1, key) + message(2, value))


def features(*entries: bytes) -> bytes:
    """An Example, or the context of a SequenceExample, of such entries."""
    return message(1, b"".join(entries))


def steps(*values: bytes) -> bytes:
    """A FeatureList."""
    return b"".join(message(1, value) for value in values)


GROUP = tag(9, 3) + tag(1, 0) + b"\x05" + tag(2, 3) + tag(2, 4) + tag(9, 4)
UNKNOWN = tag(7, 0) + b"\x01" + tag(8, 1) + bytes(8) + message(15, b"later") + tag(6, 5) + bytes(4)


def feature_bodies() -> dict[str, bytes]:
    """Features in all their forms, the odd ones included."""
    return {
        "bytes": bytes_list(b"a", b"", b"\xff\x00"),
        "floats": float_list(0.0, 1.5, float("inf")),
        "floats-unpacked": float_list(1.0, 2.0, packed=False),
        "ints": int64_list(0, 127, 128, -1, 2**62, -(2**63)),
        "ints-unpacked": int64_list(1, 300, packed=False),
        "ints-mixed": message(3, message(1, varint(1)) + tag(1, 0) + varint(2) + message(1, varint(3) + varint(4))),
        "ints-many": int64_list(*(7 * i * i for i in range(80))),
        "ints-small": int64_list(*range(100)),
        "empty": b"",
        "empty-list": message(3, b""),
        "empty-run": message(3, message(1, b"")),
        "empty-float-run": message(2, message(1, b"")),
        "one-empty-value": bytes_list(b""),
        "merged": int64_list(1) + int64_list(2),
        "replaced": int64_list(1) + float_list(2.0) + bytes_list(b"last"),
        "unknown": UNKNOWN + int64_list(5) + UNKNOWN,
        "unknown-in-list": message(3, UNKNOWN + message(1, varint(5)) + GROUP),
        "group": GROUP + float_list(1.0),
        "wrong-wire-type": tag(3, 0) + varint(4) + int64_list(6),
        "long-varint": message(3, message(1, b"\x81\x80\x80\x00" + b"\xff" * 9 + b"\x01")),
        "floats-cut": message(2, message(1, bytes(7))),
    }


def examples() -> Iterator[bytes]:
    """Serialized Examples."""
    yield b""
    yield features()
    for name, body in feature_bodies().items():
        yield features(entry(name.encode(), body))
    ordinary = [
        entry(b"image", bytes_list(b"\xff\xd8\xff\xe0" + bytes(20))),
        entry(b"label", int64_list(3)),
        entry(b"score", float_list(0.5)),
        entry(b"tokens", int64_list(5, 600, 70000)),
    ]
    yield features(*ordinary)
    yield features(*reversed(ordinary))
    scalars = [entry(b"f%d" % i, float_list(i / 2)) for i in range(5)]  # compared as a whole
    yield features(*scalars, *ordinary[1:3])
    yield features(*ordinary[:2], *scalars, *scalars[:1])
    yield features(*ordinary, entry(b"label", int64_list(4)))  # a key twice: the last wins
    yield features(*ordinary[:2]) + features(*ordinary[2:])  # one message in two pieces
    yield features(*(entry(b"k%d" % i, int64_list(i)) for i in range(30)))
    yield features(message(1, message(2, int64_list(1))))  # no key
    yield features(message(1, message(1, b"label")))  # no value
    yield features(message(1, message(2, int64_list(1)) + message(1, b"label")))  # value first
    yield features(message(1, message(1, b"label") + message(2, int64_list(1)) + message(2, int64_list(2))))
    yield features(message(1, message(1, b"label") + message(2, int64_list(1)) + UNKNOWN))
    yield features(entry("é世😀".encode(), int64_list(1)), entry(b"\xff", int64_list(2)))
    yield UNKNOWN + features(*ordinary) + GROUP
    yield tag(9, 3) * 99 + tag(9, 4) * 99
    yield tag(9, 3) * 120 + tag(9, 4) * 120


def sequence_examples() -> Iterator[bytes]:
    """Serialized SequenceExamples."""
    context = features(entry(b"label", int64_list(3)), entry(b"score", float_list(0.5)))
    yield b""
    yield context
    yield context + message(2, entry(b"tokens", steps(int64_list(1, 2), int64_list(), int64_list(3))))
    yield context + message(2, entry(b"tokens", steps()) + entry(b"image", steps(bytes_list(b"a"), bytes_list(b"b"))))
    for name, body in feature_bodies().items():
        yield message(2, entry(name.encode(), steps(int64_list(1), body, b"")))
    tokens = entry(b"tokens", steps(int64_list(1)))
    yield message(2, tokens + tokens)
    yield message(2, tokens) + context + message(2, entry(b"score", steps(float_list(1.0))))
    yield message(2, message(1, message(2, steps(int64_list(1)))))
    yield message(2, message(1, message(1, b"tokens")))
    yield message(2, entry(b"tokens", UNKNOWN + steps(int64_list(1)) + GROUP)) + UNKNOWN


def record_files() -> Iterator[bytes]:
    """TFRecord files, whole and damaged."""
    label = features(entry(b"label", int64_list(3)))
    yield b""
    yield framed(b"")
    yield framed(b"foo")
    yield framed(b"foo", b"", b"bar" * 100)
    yield framed(*[label] * 20)
    yield framed(bytes(5000), b"x" * 9000)
    whole = framed(b"one", b"two", b"three")
    for cut in (1, 5, 12, 20):
        yield whole[:-cut]
    yield whole + b"\n"
    yield whole + bytes(16)
    for position in (0, 9, 14, 16, 20):
        yield whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :]
    for length in (2**31, 2**40, 2**63, 2**64 - 1, 2**64 - 16):
        yield whole + claiming(length) + b"short"
    yield b"\0garbage" + whole + b"garbage" + whole


def compressed_files() -> Iterator[tuple[bytes, bool]]:
    """Compressed TFRecord files, and whether they are zlib rather than gzip."""
    whole = framed(b"one", b"two", b"three" * 300)
    for compress, is_zlib in ((lambda data: gzip.compress(data, mtime=0), False), (zlib.compress, True)):
        packed = compress(whole)
        yield packed, is_zlib
        yield packed + packed, is_zlib
        yield compress(b"") + packed + compress(b""), is_zlib
        yield packed[:-3], is_zlib
        yield packed[: len(packed) // 2], is_zlib
        yield packed + b"garbage", is_zlib
        yield packed + bytes(8), is_zlib
        yield packed[:-2] + bytes([packed[-2] ^ 1]) + packed[-1:], is_zlib
        yield compress(bytes(300_000)), is_zlib
        yield whole, is_zlib
    with_header_fields = struct.pack("<4BI2BH", 0x1F, 0x8B, 8, 0x1E, 0, 0, 3, 2) + b"ex" + b"name\0comment\0"
    yield with_header_fields + struct.pack("<H", zlib.crc32(with_header_fields) & 0xFFFF) + packed_body(whole), False
    yield zlib.compress(whole, 0), True
    flushed = zlib.compressobj()
    yield b"".join(flushed.compress(bytes([byte])) + flushed.flush(zlib.Z_FULL_FLUSH) for byte in whole[:60]), True


def packed_body(data: bytes) -> bytes:
    """What follows a gzip header: raw deflate and the trailer."""
    return gzip.compress(data, mtime=0)[10:]


# --- JPEG -------------------------------------------------------------------------------------------------------------

# Symbols by the length of their codes: of the means sizes, of the other coefficients runs of zeros and sizes.
MEANS = {2: (0, 1, 2), 3: (5,), 14: (9,)}
VALUES = {2: (0x00, 0x01), 3: (0x11,), 4: (0x02, 0xF0), 6: (0x35,), 13: (0xA2,), 16: (0x08,)}


def segment(marker: int, body: bytes) -> bytes:
    """A marker with what belongs to it."""
    return bytes([0xFF, marker]) + struct.pack(">H", 2 + len(body)) + body


def huffman_table(kind: int, symbols: dict[int, tuple[int, ...]]) -> bytes:
    """A table of codes as a file has it."""
    counts = bytes(len(symbols.get(length, ())) for length in range(1, 17))
    return bytes([kind << 4]) + counts + bytes(chain.from_iterable(symbols.values()))


def codes_of(symbols: dict[int, tuple[int, ...]]) -> dict[int, str]:
    """The bits of each symbol: codes count up, and double from length to length."""
    codes, code = {}, 0
    for length in range(1, 17):
        for symbol in symbols.get(length, ()):
            codes[symbol] = f"{code:0{length}b}"
            code += 1
        code *= 2
    return codes


def block_bits(random: Random) -> str:
    """A block of coefficients at random."""
    means, values = codes_of(MEANS), codes_of(VALUES)
    size = random.choice((0, 0, 1, 2, 5, 9))
    bits = means[size] + "".join(random.choices("01", k=size))
    place = 1
    while True:
        symbol = random.choice(list(values))
        place += (symbol >> 4) + 1
        if symbol == 0 or place > 64:
            return bits + values[0]
        bits += values[symbol] + "".join(random.choices("01", k=symbol & 15))
        if place == 64:
            return bits


def stuffed(bits: str) -> bytes:
    """Bits as a file has them: filled up with ones, and no 0xFF that could be a marker."""
    whole = bits + "1" * (-len(bits) % 8)
    return bytes(int(whole[at : at + 8], 2) for at in range(0, len(whole), 8)).replace(b"\xff", b"\xff\x00")


def images() -> Iterator[bytes]:
    """JPEGs of all the forms that the decoder takes, and some that it does not."""
    random = Random(0)  # noqa: S311 - seeds of the other kind
    tables = segment(0xC4, huffman_table(0, MEANS) + huffman_table(1, VALUES))
    quantization = segment(0xDB, bytes([0, *[1, 2, 1, 3] * 16])) + segment(0xDB, b"\x11" + struct.pack(">H", 2) * 64)
    jfif = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
    exif = segment(0xE1, b"Exif\0\0MM\0*")
    for samplings in ((0x11,), (0x11, 0x11, 0x11), (0x21, 0x11, 0x11), (0x22, 0x11, 0x11), (0x12, 0x11, 0x11)):
        for height, width, restart in ((8, 8, 0), (17, 30, 0), (33, 20, 2), (40, 64, 1)):
            across, down = (samplings[0] >> 4, samplings[0] & 15) if len(samplings) > 1 else (1, 1)
            units = -(-height // (8 * down)) * -(-width // (8 * across))
            blocks = across * down + len(samplings) - 1
            parts = [(number, sampling, min(number, 1)) for number, sampling in enumerate(samplings)]
            frame = struct.pack(">BHHB", 8, height, width, len(parts))
            frame += bytes(chain.from_iterable((number + 1, sampling, table) for number, sampling, table in parts))
            scan = bytes([len(parts), *chain.from_iterable((number + 1, 0) for number, _, _ in parts), 0, 63, 0])
            interval = restart or units
            data = b""
            for count, first in enumerate(range(0, units, interval)):
                here = min(interval, units - first) * blocks
                data += bytes([0xFF, 0xD0 + (count - 1) % 8]) if count else b""
                data += stuffed("".join(block_bits(random) for _ in range(here)))
            head = b"\xff\xd8" + (jfif if height != 17 else exif) + quantization + segment(0xC0, frame) + tables
            head += segment(0xDD, struct.pack(">H", restart)) if restart else b""
            yield head + segment(0xDA, scan) + data + b"\xff\xd9"


def indexes() -> Iterator[bytes]:
    """Index files: what their fuzzer's file has, with records left out, and more than a block of them."""
    whole = [0, 17, 33, 58, 75, 391]
    for offsets in (whole, whole[::2], [0, 391], [0], [*whole[:3], *whole[2:]], [*range(0, 391, 1), *[391] * 300]):
        facts = struct.pack("<7Q", 1, 391, 0, 0, 0, 10**9, 0) + struct.pack("<2Q", len(offsets) - 1, 0)
        header = b"RSINDEX2" + facts
        body = struct.pack(f"<{len(offsets)}Q", *offsets)
        checksums = b"".join(masked(body[at : at + 4096]) for at in range(0, len(body), 4096))
        yield header + masked(header) + bytes(4) + body + checksums


def image_headers() -> Iterator[bytes]:
    """The beginnings of images of each format that is recognised."""
    yield from images()
    for colour_type in (0, 2, 3, 4, 6):
        head = struct.pack(">IIBBBBB", 32, 24, 8, colour_type, 0, 0, 0)
        yield (
            b"\x89PNG\r\n\x1a\n"
            + struct.pack(">I", 13)
            + b"IHDR"
            + head
            + bytes(4)
            + struct.pack(">I", 2)
            + b"tRNS"
            + bytes(6)
        )
    yield b"GIF89a" + struct.pack("<HHBBB", 32, 24, 0, 0, 0)
    for kind in (b"VP8 ", b"VP8L", b"VP8X"):
        yield b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + b"\x2f\0\0\x9d\x01\x2a" + bytes(20)
    for size, bits in ((40, 24), (40, 8), (124, 32)):
        yield (
            b"BM" + struct.pack("<IHHIIiiHHIIiiII", 99, 0, 0, 54, size, 32, -24, 1, bits, 0, 0, 0, 0, 0, 0) + bytes(64)
        )
    yield b"BM" + struct.pack("<IHHIIHHHH", 99, 0, 0, 26, 12, 32, 24, 1, 4) + bytes(48)


def options_and(contents: Iterable[bytes], *options: int) -> Iterator[bytes]:
    """Each content once for each byte of options that its fuzzer reads first."""
    for content in contents:
        for option in options:
            yield bytes([option]) + content


def neighbours(payloads: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Each payload with itself, and with the next one."""
    known = list(payloads)
    for first, second in zip(known, [*known[1:], known[0]], strict=True):
        yield first, first
        yield first, second


def surprises() -> Iterator[tuple[bytes, bytes]]:
    """Examples that lead to expect one thing, followed by others that differ in that feature alone."""
    rest = entry(b"rest", bytes_list(bytes(40)))
    plain = (
        int64_list(3),
        int64_list(300),
        float_list(0.5),
        bytes_list(b"text"),
        int64_list(1, 2),
        float_list(1.0, 2.0),
    )
    for expected in plain:
        for surprise in (*plain, *feature_bodies().values()):
            yield features(entry(b"label", expected), rest), features(entry(b"label", surprise), rest)
    # Values of sizes around the width of a register, with more bytes behind them and at the payload's very end.
    for size in (*range(10), *range(12, 20)):
        for value in (bytes_list(bytes(range(size))), int64_list(*range(size)), int64_list((1 << 7 * size) - 1)):
            for key in (b"label", b"a key of more than sixteen"):
                yield features(entry(key, value), rest), features(entry(key, value))


def joined(pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Two payloads as their fuzzers read them: the first one's size, the first, the second."""
    for first, second in pairs:
        yield struct.pack("<H", len(first)) + first + second


def main(corpus: Path) -> None:
    """Writes a folder of seeds for each fuzzer."""
    seeds = {
        "framing": options_and(record_files(), 0x54, 0xFF, 0x00),
        "example": options_and(joined(chain(neighbours(examples()), surprises())), 0x00, 0x03, 0x04, 0x09, 0x0B, 0x10),
        "sequence_example": options_and(joined(neighbours(sequence_examples())), 0x00, 0x03, 0x09, 0x0B),
        "recovery": chain(
            options_and(record_files(), 0x00),
            (bytes([2 | is_zlib << 2]) + data for data, is_zlib in compressed_files()),
            (bytes([1]) + bytes([kind, 0, at, 5, 7, 9]) * 2 for kind in range(3) for at in (0, 9, 40, 200)),
        ),
        "index": options_and(indexes(), 0x00, 0x01, 0x03),
        "jpeg": (bytes(place) + data for data in images() for place in ((0, 0xFF), (0x37, 0x42))),
        "image_header": image_headers(),
        "survey": chain(
            options_and(chain(examples(), sequence_examples()), 0x01),
            options_and(chain(record_files(), [framed(*examples()), framed(*sequence_examples())]), 0x00, 0x02),
            (
                bytes([0x06, 3]) + bytes([at, at, 0, 0, 255, at, 0, 0, 0, 1, 9, at, 0, 0, 0]) + framed(*examples())
                for at in (5, 60, 200)
            ),
        ),
        "gzip": (bytes([option | is_zlib]) + data for data, is_zlib in compressed_files() for option in (0x06, 0x38)),
    }
    for target, contents in seeds.items():
        folder = corpus / target
        folder.mkdir(parents=True, exist_ok=True)
        count = 0
        for count, content in enumerate(contents, start=1):
            (folder / f"seed-{count:03}").write_bytes(content)
        print(f"{count} seeds in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
