"""Formats and sizes of images, from headers made by hand; for the rest see test_header.py."""

from __future__ import annotations

import io
import struct

import pytest

from recordsmith.images import read_header

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 500, 375)


def title_of(data: bytes) -> str | None:
    header = read_header(data)
    return None if header is None else header.title


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def jpeg(frame: int, *before: bytes) -> bytes:
    size = segment(frame, struct.pack(">BHHB", 8, 375, 500, 3) + bytes(9))
    return b"\xff\xd8" + b"".join(before) + size + segment(0xDA, bytes(10))


def webp(kind: bytes, content: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(content) + 12) + b"WEBP" + kind + struct.pack("<I", len(content)) + content


def bmp(header: int, sizes: bytes) -> bytes:
    return b"BM" + bytes(12) + struct.pack("<I", header) + sizes + bytes(20)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (PNG, "PNG"),
        (b"GIF87a" + struct.pack("<HH", 500, 375), "GIF"),
        (b"GIF89a" + struct.pack("<HH", 500, 375), "GIF"),
        (jpeg(0xC0), "JPEG"),
        (jpeg(0xC2), "JPEG"),
        (
            jpeg(0xC0, segment(0xE0, b"JFIF\0" + bytes(9)), segment(0xE1, bytes(20_000)), segment(0xC4, bytes(30))),
            "JPEG",
        ),
        (jpeg(0xC0, b"\xff\xff\xff\xff" + segment(0xDB, bytes(65))[1:]), "JPEG"),  # padding before a marker
        (webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 500, 375)), "WebP"),
        (webp(b"VP8L", b"\x2f" + struct.pack("<I", 499 | 374 << 14)), "WebP"),
        (webp(b"VP8X", bytes(4) + struct.pack("<HBHB", 499, 0, 374, 0)), "WebP"),
        (bmp(40, struct.pack("<ii", 500, 375)), "BMP"),
        (bmp(40, struct.pack("<ii", 500, -375)), "BMP"),
        (bmp(12, struct.pack("<HH", 500, 375)), "BMP"),
    ],
)
def test_the_size_is_read(data, name):
    assert title_of(data) == f"{name} of 500×375"
    for length in range(len(data)):  # cut anywhere: nothing is raised, and no other size is invented
        assert title_of(data[:length]) in (None, f"{name} of 500×375")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8" + segment(0xDA, bytes(10)),
        b"\xff\xd8\xff\xe0\x00\x00" * 10,
        b"BM is how this text begins, and it goes on for a while",
        b"RIFF\x00\x00\x00\x00WAVEfmt ",
        webp(b"ANIM", bytes(20)),
        b"plain text",
        bytes(100),
    ],
)
def test_other_data_is_no_image(data):
    assert read_header(data) is None


@pytest.mark.parametrize("name", ["JPEG", "PNG", "GIF", "WebP", "BMP"])
def test_what_pillow_writes(name):
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.new("RGB", (123, 45), (200, 30, 30)).save(file, name.lower())
    assert title_of(file.getvalue()) == f"{name} of 123×45"
