"""What headers say: channels, orientation, bits. Formats and sizes: test_header_sizes.py."""

from __future__ import annotations

import struct

import pytest

from recordsmith.images import FORMATS, read_header
from tests.images.made_images import HEIGHT, WIDTH, oriented
from tests.images.made_images import images as made_images

IMAGES = made_images()


@pytest.mark.parametrize("name", IMAGES)
def test_format_size_and_channels(name):
    data, channels = IMAGES[name]
    header = read_header(data)
    assert header is not None
    assert header.format == name.split()[0]
    assert (header.height, header.width, header.channels) == (HEIGHT, WIDTH, channels)
    assert header.orientation == 1
    assert header.bits == (16 if "16 bits" in name else 8)
    assert header.plain == (name not in {"jpeg cmyk", "bmp palette", "bmp 1 bit"})


def test_every_format_is_among_the_images():
    assert {name.split()[0] for name in IMAGES} == set(FORMATS)


@pytest.mark.parametrize("name", IMAGES)
def test_a_cut_header_raises_nothing_and_invents_no_size(name):
    data, _ = IMAGES[name]
    for length in [*range(min(len(data), 700)), *range(700, len(data), 97)]:
        header = read_header(data[:length])
        assert header is None or (header.height, header.width) == (HEIGHT, WIDTH)


@pytest.mark.parametrize("name", ["jpeg", "png", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(orientation, name):
    header = read_header(oriented(orientation, name))
    assert header is not None
    assert header.orientation == orientation
    assert header.upright == ((WIDTH, HEIGHT) if orientation > 4 else (HEIGHT, WIDTH))


@pytest.mark.parametrize(
    "tiff",
    [
        b"",
        b"II*\0",
        b"XX*\0" + bytes(30),
        b"II*\0" + struct.pack("<I", 4_000_000_000),
        b"II*\0" + struct.pack("<IH", 8, 65_535),
        b"II*\0" + struct.pack("<IHHHIHH", 8, 1, 0x0112, 3, 1, 9, 0),  # no such orientation
        b"II*\0" + struct.pack("<IHHHIHH", 8, 1, 0x0112, 3, 1, 0, 0),
        b"II*\0" + struct.pack("<IHHHII", 8, 1, 0x0112, 4, 1, 6),  # not a short
    ],
)
def test_senseless_exif_means_upright(tiff):
    content = b"Exif\0\0" + tiff
    data = b"\xff\xd8\xff\xe1" + struct.pack(">H", len(content) + 2) + content + IMAGES["jpeg"][0][2:]
    header = read_header(data)
    assert header is not None
    assert header.orientation == 1


def test_a_long_chunk_length_ends_the_walk():
    data = bytearray(IMAGES["png"][0])
    data[33:37] = b"\xff\xff\xff\xff"
    header = read_header(bytes(data))
    assert header is not None
    assert header.channels == 3
