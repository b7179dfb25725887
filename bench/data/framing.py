"""The least one needs to know of TFRecord framing: walk over payloads and cut off the first records.

It checks no CRC: it serves to prepare inputs, never to measure.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_HEADER, _FOOTER = 12, 4


def payloads(path: Path) -> Iterator[bytes]:
    """The payload of each record of a plain TFRecord file."""
    data = path.read_bytes()
    position = 0
    while position < len(data):
        length = int.from_bytes(data[position : position + 8], "little")
        yield data[position + _HEADER : position + _HEADER + length]
        position += _HEADER + length + _FOOTER


def copy_first_records(source: Path, target: Path, *, records: int) -> None:
    """Write the first records of a plain TFRecord file to another file, byte for byte."""
    data = source.read_bytes()
    position = 0
    for _ in range(records):
        position += _HEADER + int.from_bytes(data[position : position + 8], "little") + _FOOTER
    target.write_bytes(data[:position])
