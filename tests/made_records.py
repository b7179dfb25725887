"""TFRecord bytes made in plain Python, from the format's description alone.

Nothing of recordsmith is used here: its reader must not be tested with its own writer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

HEADER_BYTES = 12
FOOTER_BYTES = 4


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)  # Castagnoli's polynomial, bits reversed
        table.append(crc)
    return table


_TABLE = _crc_table()


def masked_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def header(length: int) -> bytes:
    """The twelve bytes before the data, for any length that fits into 64 bits, true or not."""
    stored = struct.pack("<Q", length)
    return stored + struct.pack("<I", masked_crc32c(stored))


def framed(payload: bytes) -> bytes:
    return header(len(payload)) + payload + struct.pack("<I", masked_crc32c(payload))


def file_bytes(payloads: Iterable[bytes]) -> bytes:
    return b"".join(framed(payload) for payload in payloads)


def starts(payloads: Iterable[bytes]) -> list[int]:
    """Where each record begins, and last where the file ends."""
    places = [0]
    for payload in payloads:
        places.append(places[-1] + HEADER_BYTES + len(payload) + FOOTER_BYTES)
    return places
