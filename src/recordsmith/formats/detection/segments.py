"""Outlines of objects as masks: polygons, COCO's run lengths, and the palettes of PNG masks.

Run lengths count pixels column by column, outside and inside in turns. COCO writes them as a list, or as a string of 5
bits a character. Polygons are filled by pycocotools, which defines what COCO means by one.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import import_extra
from recordsmith.formats.detection.objects import AnnotationError, checked_numbers
from recordsmith.images import decode_image, encode_image

__all__ = ["index_png", "mask_of_polygons", "mask_of_runs", "png_of_mask", "resized_nearest"]

Pixels = npt.NDArray[np.uint8]

_MOST_POINTS = 100_000  # of the outline of one object


def mask_of_polygons(polygons: Sequence[Sequence[float]], height: int, width: int) -> Pixels:
    """Return a mask with 1 inside of the polygons, which are x, y, x, y, ... in pixels."""
    coco = import_extra("pycocotools.mask", "detection", purpose="Filling the outlines of objects")
    checked = []
    for polygon in polygons:
        points = checked_numbers(polygon, "A polygon")
        if len(points) < 6 or len(points) % 2 or len(points) > 2 * _MOST_POINTS:
            raise AnnotationError(f"A polygon has {len(points)} numbers: at least 3 points with x and y are needed.")
        # Points far outside would make the library walk along a very long line.
        if min(points) < -max(height, width) or max(points) > 2 * max(height, width):
            raise AnnotationError("A polygon is far outside of the image.")
        checked.append(points)
    if not checked:
        return np.zeros((height, width), np.uint8)
    merged = coco.merge(coco.frPyObjects(checked, height, width))
    return mask_of_runs({"size": [height, width], "counts": merged["counts"]}, height, width)


def mask_of_runs(runs: Any, height: int, width: int) -> Pixels:
    """Return the mask that run lengths stand for: {"size": [height, width], "counts": a list or a string}.

    >>> mask_of_runs({"size": [2, 2], "counts": [1, 2, 1]}, 2, 2).tolist()
    [[0, 1], [1, 0]]
    >>> mask_of_runs({"size": [2, 2], "counts": "121"}, 2, 2).tolist()
    [[0, 1], [1, 0]]
    """
    if not isinstance(runs, dict) or runs.get("size") != [height, width]:
        size = runs.get("size") if isinstance(runs, dict) else runs
        raise AnnotationError(f"The run lengths of a mask are for the size {str(size)[:60]}, not [{height}, {width}].")
    counts = runs.get("counts")
    lengths = _decoded_runs(counts) if isinstance(counts, (str, bytes)) else checked_numbers(counts, "A run length")
    numbers = np.array(lengths, np.float64)
    if not numbers.size or (numbers < 0).any() or (numbers % 1).any() or numbers.sum() != height * width:
        raise AnnotationError("The run lengths of a mask do not add up to its pixels.")
    inside = np.arange(len(numbers), dtype=np.uint8) % 2
    return np.repeat(inside, numbers.astype(np.int64)).reshape(width, height).T


def _decoded_runs(text: str | bytes) -> list[int]:
    """Decode COCO's string: numbers in groups of 5 bits, each the difference to the last but one."""
    found: list[int] = []
    number = shift = 0
    for character in text.encode("latin-1", "replace") if isinstance(text, str) else text:
        group = character - 48
        if not 0 <= group < 64 or shift > 60:
            raise AnnotationError("The run lengths of a mask are not in COCO's format.")
        number |= (group & 31) << shift
        shift += 5
        if group & 32:
            continue
        if group & 16:
            number -= 1 << shift
        found.append(number + found[-2] if len(found) > 2 else number)
        number = shift = 0
    if shift:
        raise AnnotationError("The run lengths of a mask are truncated.")
    return found


def png_of_mask(mask: Pixels, size: tuple[int, int] | None = None) -> bytes:
    """Return a mask as a PNG, resized if its image is."""
    if size is not None:
        mask = resized_nearest(mask, *size)
    return encode_image(np.ascontiguousarray(mask)[:, :, np.newaxis], "png")


def resized_nearest(mask: npt.NDArray[Any], height: int, width: int) -> npt.NDArray[Any]:
    """Resize by taking the nearest pixel, so that there are no new values.

    >>> resized_nearest(np.array([[1, 2], [3, 4]]), 1, 4).tolist()
    [[3, 3, 4, 4]]
    """
    down = ((np.arange(height) + 0.5) * (mask.shape[0] / height)).astype(np.int64)
    right = ((np.arange(width) + 0.5) * (mask.shape[1] / width)).astype(np.int64)
    taken: npt.NDArray[Any] = mask[down][:, right]
    return taken


def index_png(data: bytes) -> bytes:
    """Return a PNG whose pixels are the numbers of a palette, if this one has a palette: those numbers are the classes.

    Decoders give the colours of the palette instead. Without a palette, the same bytes are returned.
    """
    chunks = _png_chunks(data)
    if not chunks or chunks[0][0] != b"IHDR" or len(chunks[0][1]) != 13 or chunks[0][1][9] != 3:
        return data
    header = bytearray(chunks[0][1])
    bits, header[9] = header[8], 0  # the same samples, read as grey
    kept = [(b"IHDR", bytes(header)), *((kind, body) for kind, body in chunks[1:] if kind in (b"IDAT", b"IEND"))]
    grey = data[:8] + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in kept
    )
    if bits == 8:
        return grey
    spread = decode_image(grey, channels=1)  # decoders spread fewer bits over 0 to 255
    return encode_image((spread // (255 // (2**bits - 1))).astype(np.uint8), "png")


def _png_chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return []
    found = []
    at = 8
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        if at + 12 + length > len(data):
            break
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found
