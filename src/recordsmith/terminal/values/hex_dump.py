"""Bytes as hexadecimal and as text, side by side."""

from __future__ import annotations

__all__ = ["hex_dump"]


def hex_dump(data: bytes, limit: int = 512) -> list[str]:
    r"""Return lines of sixteen bytes each: offset, hexadecimal, and the characters that can be shown.

    >>> print(*hex_dump(b"foo\n"), sep="\n")
    00000000  66 6f 6f 0a                                       |foo.|
    >>> hex_dump(b"a" * 40, limit=32)[-1]
    '… 8 more bytes'
    """
    shown = data[:limit]
    lines = []
    for start in range(0, len(shown), 16):
        row = shown[start : start + 16]
        left, right = row[:8].hex(" "), row[8:].hex(" ")
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        lines.append(f"{start:08x}  {left:<23}  {right:<23}  |{text}|")
    if len(data) > limit:
        lines.append(f"… {len(data) - limit:,} more byte{'s' if len(data) - limit > 1 else ''}")
    return lines
