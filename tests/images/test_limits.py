"""Small files that claim to be large: refused by a limit that can be set, or decoded in bounded time and memory."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordsmith as rs
from recordsmith.facts.similar_images import perceptual_hash
from recordsmith.images import ImageError, check_image, decode_image, read_header
from recordsmith.images.limits import decodable_bytes
from recordsmith.terminal.values.thumbnails import Thumbnails

SETTING = "RECORDSMITH_MAX_IMAGE_PIXELS"


def saved(pixels: Any, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width: int, height: int, *, rows: int = 0, extra: bytes = b"") -> bytes:
    body = zlib.compress(bytes((1 + width) * rows), 9)
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + extra + png_chunk(b"IDAT", body) + png_chunk(b"IEND", b"")


def jpeg_of(width: int, height: int, *, progressive: bool = False) -> bytes:
    data = bytearray(saved(np.zeros((16, 16), np.uint8), "jpeg", progressive=progressive))
    frame = data.index(b"\xff\xc2" if progressive else b"\xff\xc0")
    data[frame + 5 : frame + 9] = struct.pack(">HH", height, width)
    return bytes(data)


def gif_of(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b"\x2c" + bytes(40) + b"\x3b"


def bmp_of(width: int, height: int) -> bytes:
    return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 100, 0, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)


def webp_of(width: int, height: int) -> bytes:
    sizes = b"".join(struct.pack("<I", size - 1)[:3] for size in (width, height))
    data = b"VP8X" + struct.pack("<I", 10) + bytes(4) + sizes
    return b"RIFF" + struct.pack("<I", len(data) + 4) + b"WEBP" + data


CLAIMS: dict[str, Callable[[int, int], bytes]] = {
    "jpeg": jpeg_of,
    "progressive": lambda width, height: jpeg_of(width, height, progressive=True),
    "png": png_of,
    "gif": gif_of,
    "bmp": bmp_of,
    "webp": webp_of,
}


@pytest.mark.parametrize("kind", CLAIMS)
def test_what_claims_more_pixels_than_the_limit_is_refused_by_its_header(kind: str) -> None:
    data = CLAIMS[kind](12_000, 12_000)
    for look in (check_image, decode_image):
        with pytest.raises(ImageError, match=rf"144,000,000 pixels\. The limit is 100,000,000: set {SETTING}"):
            look(data)
    assert perceptual_hash(data) is None
    assert Thumbnails("blocks").of([data]) == []


def test_the_limit_can_be_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jpeg, png = (saved(np.zeros((40, 50, 3), np.uint8), kind) for kind in ("jpeg", "png"))
    schema = rs.Schema({"image": rs.Image()})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_columns({"image": [jpeg]}, schema)
    images = rs.open(tmp_path / "a.tfrecord", schema=schema).images((8, 8)).batch(1)
    monkeypatch.setenv(SETTING, "2000")
    for data in (jpeg, png):
        check_image(data)
    assert next(iter(images))["image"].shape == (1, 8, 8, 3)
    monkeypatch.setenv(SETTING, "1999")
    for data in (jpeg, png):
        with pytest.raises(ImageError, match=r"2,000 pixels\. The limit is 1,999"):
            check_image(data)
    with pytest.raises(rs.PipelineError, match="The limit is 1,999"):
        next(iter(images))
    report = rs.check(tmp_path / "a.tfrecord", decode="all", schema=schema)
    assert "The limit is 1,999" in str(report.to_json())


@pytest.mark.parametrize("value", ["", "many", "0", "-1", "1e6", str(1 << 31)])
def test_a_wrong_limit_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(SETTING, value)
    with pytest.raises(rs.RecordsmithError, match=f"{SETTING} must be a number of pixels"):
        decode_image(saved(np.zeros((4, 4), np.uint8), "png"))


def scans_of(data: bytes) -> list[int]:
    return [place for place in range(len(data) - 1) if data[place : place + 2] == b"\xff\xda"]


def with_scans(count: int, *, side: int = 64, progressive: bool = True) -> bytes:
    """A JPEG whose last scan is repeated, against the standard."""
    pixels = np.arange(side * side).astype(np.uint8).reshape(side, side)
    data = saved(pixels, "jpeg", progressive=progressive)
    last = data[scans_of(data)[-1] : -2]
    return data[:-2] + last * count + data[-2:]


@pytest.mark.parametrize("progressive", [True, False])
def test_scans_that_repeat_others_are_left_out_of_too_many(*, progressive: bool) -> None:
    sound, few, many, endless = (with_scans(count, progressive=progressive) for count in (0, 3, 600, 11_000))
    header = read_header(few)
    assert header is not None
    assert decodable_bytes(few, header) is few  # whatever OpenCV makes of it
    assert decodable_bytes(many, header) == sound
    assert (decode_image(many) == decode_image(sound)).all()
    with pytest.raises(ImageError, match=r"The JPEG of 64×64 has 11,0\d\d scans. The limit for its size is 500."):
        check_image(endless)


def test_a_large_image_has_fewer_scans() -> None:
    data = jpeg_of(9000, 9000, progressive=True)
    header, small = read_header(data), read_header(jpeg_of(64, 64))
    assert header is not None
    assert small is not None
    assert decodable_bytes(data, header) is data
    # One coefficient a scan: sound, but too many for 81 million pixels.
    scans = [b"\xff\xda\x00\x08\x01\x01\x00" + bytes([place, place, 0]) + b"\x00" for place in range(1, 64)]
    many = data[: scans_of(data)[0]] + b"".join(scans) + b"\xff\xd9"
    assert decodable_bytes(many, small) is many
    with pytest.raises(ImageError, match="The JPEG of 9000×9000 has 63 scans"):
        decodable_bytes(many, header)


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"progressive": True, "subsampling": 0}])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_what_encoders_make_is_decoded_as_it_is(mode: str, options: dict[str, Any]) -> None:
    file = io.BytesIO()
    Image.new(mode, (40, 30)).save(file, "jpeg", optimize=True, **options)
    data = file.getvalue()
    header = read_header(data)
    assert header is not None
    assert decodable_bytes(data, header) is data
    assert len(scans_of(data)) <= 18  # far from any limit


def test_much_text_in_a_png_is_not_inflated() -> None:
    text = png_chunk(b"zTXt", b"title\0\0" + zlib.compress(bytes(7_000_000), 9))
    plain, some, much = (png_of(8, 8, rows=8, extra=text * count) for count in (0, 2, 100))
    header = read_header(plain)
    assert header is not None
    assert decodable_bytes(some, header) is some
    assert decodable_bytes(much, header) == plain
    assert (decode_image(much) == decode_image(plain)).all()


BOMBS = r"""
import struct, zlib
from pathlib import Path
import numpy as np
from recordsmith.images import ImageError, check_image, decode_image, encode_image
from tests.images.test_limits import bmp_of, gif_of, jpeg_of, png_chunk, png_of, webp_of, with_scans

def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)

zeros = zlib.compress(bytes(100_000_000), 9)
control = png_chunk(b"acTL", struct.pack(">II", 1_000_000, 0))
frame = png_chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, 30_000, 30_000, 0, 0, 1, 10, 0, 0))
bombs = [
    *(make(9999, 9999) for make in (bmp_of, webp_of)),
    *(make(60_000, 60_000) for make in (png_of, jpeg_of, gif_of)),
    png_of(8, 8, rows=8, extra=png_chunk(b"iCCP", b"x\0\0" + zeros)),
    png_of(8, 8, rows=8, extra=png_chunk(b"zTXt", b"x\0\0" + zeros)),
    png_of(8, 8, rows=8, extra=png_chunk(b"iTXt", b"x\0\1\0\0\0" + zeros)),
    png_of(8, 8, rows=8, extra=control + frame),
    gif_of(8, 8)[:14] + struct.pack("<HHHHB", 0, 0, 65_535, 65_535, 0) + bytes(99),
    with_scans(400, side=512),
]
decode_image(encode_image(np.zeros((64, 64, 3), np.uint8), "jpeg"))
Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
before = peak()
for data in bombs:
    for look in (check_image, decode_image):
        try:
            look(data)
        except ImageError:
            pass
print((peak() - before) >> 10)
"""


def test_bombs_take_little_memory() -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-c", BOMBS]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) < 60  # MB
