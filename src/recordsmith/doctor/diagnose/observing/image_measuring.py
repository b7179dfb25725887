"""What images look like when they arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.batch import Values
from recordsmith.doctor.diagnose.observing.observations import ImageFacts

__all__ = ["as_images", "channels_first", "measure_images", "measure_jumps"]

Array = npt.NDArray[Any]
_CHANNELS = (1, 3, 4)
_LEAST_SIDE = 8
_LOOKED_AT = 512
_FOR_LAYOUT = 32


def as_images(part: Values) -> Array | None:
    """Return rows that are images as (rows, height, width, channels); None for other rows.

    >>> as_images(np.zeros((2, 3, 32, 32))).shape, as_images(np.zeros((2, 28, 28))).shape
    ((2, 32, 32, 3), (2, 28, 28, 1))
    >>> as_images(np.zeros((2, 7))) is None
    True
    """
    if isinstance(part, list) or part.dtype.kind not in "uif":
        return None
    if part.ndim == 3 and part.shape[1] == part.shape[2] and part.shape[1] >= 2 * _LEAST_SIDE:
        return part[..., np.newaxis]
    if part.ndim != 4:
        return None
    if part.shape[3] in _CHANNELS and min(part.shape[1:3]) >= _LEAST_SIDE:
        return part
    if channels_first(part.shape[1:]):
        return np.moveaxis(part, 1, 3)
    return None


def channels_first(shape: tuple[int | None, ...]) -> bool:
    """Whether a row's shape is that of an image with its channels first.

    >>> channels_first((3, 32, 32)), channels_first((32, 32, 3))
    (True, False)
    """
    sides = [side or 0 for side in shape]
    return len(sides) == 3 and sides[0] in _CHANNELS and min(sides[1:]) >= _LEAST_SIDE and sides[2] not in _CHANNELS


def measure_images(parts: list[Values]) -> ImageFacts | None:
    """Measure images; None for other rows.

    >>> measure_images([np.zeros((4, 16, 16, 3), np.uint8)]).flat
    4
    >>> measure_images([np.zeros((4, 7))]) is None
    True
    """
    found = [as_images(part) for part in parts]
    images = [part for part in found if part is not None]
    if not images or len(images) != len(parts) or len({part.shape[1:] for part in images}) != 1:
        return None
    kept: list[Array] = []
    for part in images:
        kept.append(part[: _LOOKED_AT - sum(map(len, kept))])
        if sum(map(len, kept)) >= _LOOKED_AT:
            break
    every = np.concatenate(kept).astype(np.float32)
    first = parts[0]
    moved = isinstance(first, np.ndarray) and first.ndim == 4 and channels_first(first.shape[1:])
    flat = every.reshape(len(every), -1)
    with np.errstate(invalid="ignore", over="ignore"):
        least, most = (
            np.nanmin(flat) if np.isfinite(flat).any() else 0,
            np.nanmax(np.where(np.isfinite(flat), flat, -1)),
        )
        means, deviations = flat.mean(axis=1), flat.std(axis=1)
        layout, smoother = _other_layout(every[:_FOR_LAYOUT], moved=moved and every.shape[3] > 1)
        jumps, wrapping = measure_jumps(every[:_FOR_LAYOUT])
        one_colour = (flat == flat[:, :1]).all(axis=1)
        return ImageFacts(
            looked_at=len(flat),
            flat=int(one_colour.sum()),
            blank=int((one_colour & ((flat[:, 0] == least) | (flat[:, 0] == most))).sum()),
            extreme=float(((flat == least) | (flat == most)).mean()),
            within=_finite(deviations.mean()),
            between=_finite(means.std()),
            other_layout=layout,
            smoother=smoother,
            jumps=jumps,
            wrapping=wrapping,
        )


def measure_jumps(images: Array) -> tuple[float, float]:
    """Return the share of neighbours far apart, and how much less neighbours differ if 0 follows 255.

    Values are bytes, or bytes that were divided by 255; others are not measured.

    >>> ramp = np.add.outer(np.arange(64), np.arange(64))[np.newaxis, :, :, np.newaxis]
    >>> jumps, wrapping = measure_jumps(((ramp * 2 + 200) % 256).astype(np.uint8))
    >>> jumps > 0.005, wrapping < 0.6
    (True, True)
    """
    values = images.astype(np.float32)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if low >= 0 and high <= 1.01:
        values, high = values * 255, high * 255
    whole = np.abs(values - np.round(values)).max(initial=0.0) < 0.02
    if not (whole and low >= 0 and 2 < high <= 255.5):
        return 0.0, 1.0
    apart = [np.abs(np.diff(values, axis=axis)) for axis in (1, 2)]
    total = sum(float(one.sum()) for one in apart)
    if not total:
        return 0.0, 1.0
    around = sum(float(np.minimum(one, 256 - one).sum()) for one in apart)
    count = sum(one.size for one in apart)
    return sum(int((one > 128).sum()) for one in apart) / count, around / total


def _finite(value: Any) -> float:
    return float(value) if np.isfinite(value) else 0.0


def _roughness(images: Array) -> float:
    """Return how much neighbours differ, all images and both directions together."""
    across = np.abs(np.diff(images, axis=2)).mean()
    down = np.abs(np.diff(images, axis=1)).mean()
    return float(across + down)


def _other_layout(images: Array, *, moved: bool) -> tuple[str, float]:
    """Return another way to read the same values in which neighbours are far more alike, and how much more.

    Images that came with their channels first (`moved`) may be values that were stored with their channels last.
    """
    count, height, width, channels = images.shape
    if count < 4 or not np.isfinite(images).all():
        return "", 1.0
    flat = np.ascontiguousarray(images).reshape(count, -1)
    candidates = {}
    if height != width:
        candidates["width before height"] = flat.reshape(count, width, height, channels)
    if moved:
        as_given = np.ascontiguousarray(np.moveaxis(images, 3, 1)).reshape(count, -1)
        candidates = {"channels last": as_given.reshape(count, height, width, channels)}
    elif channels > 1:
        candidates["channels first"] = np.moveaxis(flat.reshape(count, channels, height, width), 1, 3)
    now = _roughness(images)
    if not candidates or now <= 0:
        return "", 1.0
    ratios = {name: _roughness(other) / now for name, other in candidates.items()}
    best = min(ratios, key=lambda name: ratios[name])
    return (best, ratios[best]) if ratios[best] < 0.6 else ("", 1.0)
