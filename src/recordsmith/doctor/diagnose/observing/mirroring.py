"""Images beside masks or boxes: which of them come again mirrored, while the mask or the boxes stay as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.batch import Batch, Values
from recordsmith.doctor.diagnose.observing.content import image_signature
from recordsmith.doctor.diagnose.observing.image_measuring import as_images
from recordsmith.doctor.diagnose.observing.loading_facts import MirrorFacts

__all__ = ["ImagePlace", "find_mirrored", "image_places"]

Array = npt.NDArray[Any]
_SAME = 0.9  # the correlation of two small images from which on they show the same
_OTHER = 0.75  # below it, they do not
_FEWEST = 4
_LEAST_SHARE = 0.1
_SIDE = 16
_MOST_BOXES = 512
_MIRRORED: dict[str, Any] = {"left to right": np.s_[:, ::-1], "upside down": np.s_[::-1]}


@dataclass(frozen=True, slots=True, eq=False)
class ImagePlace:
    """A small image, and the mask or the boxes that came with it, as a number."""

    kind: str
    name: str
    beside: int
    small: Array


def image_places(batch: Batch, among: Container[int] | None = None) -> Iterator[ImagePlace]:
    """Yield the images of a batch that have a mask or boxes, which are not the same after mirroring.

    Args:
        batch: the batch.
        among: yield only those whose mask or boxes have one of these numbers; None yields all.

    >>> image, mask = np.arange(2048.0).reshape(2, 32, 32, 1), np.zeros((2, 32, 32), int)
    >>> mask[:, :8, :8] = 1
    >>> [place.kind for place in image_places(Batch({"": image}, {"": mask}, 2, "pair"))]
    ['mask', 'mask']
    """
    images = {name: found for name, part in batch.inputs.items() if (found := as_images(part)) is not None}
    detailed = [name for name, found in images.items() if len(np.unique(found[0])) > 2 * _SIDE]
    if len(detailed) != 1 or len(images[detailed[0]]) != batch.rows:
        return
    every = images[detailed[0]]
    others = [(name, part) for name, part in (*batch.inputs.items(), *batch.target.items()) if part is not None]
    for name, part in others:
        if name == detailed[0] and part is batch.inputs.get(name):
            continue
        kind = _kind(part, every.shape[1:3])
        if not kind or len(part) != len(every):
            continue
        for image, row in zip(every, part, strict=True):
            place = np.asarray(row)
            number = hash(place.tobytes())
            wanted = (among is None or number in among) and _is_lopsided(kind, place, every.shape[1:3])
            small = image_signature(image) if wanted else None
            if small is not None:
                yield ImagePlace(kind, name, number, small.reshape(_SIDE, _SIDE))
        return


def _kind(part: Values, sides: tuple[int, ...]) -> str:
    """Return what a column is: "mask", "boxes", or nothing of that."""
    row = np.asarray(part[0]) if len(part) else np.empty(0)
    if row.dtype.kind not in "uifb":
        return ""
    if sides in (row.shape[:2], row.shape[1:3]):
        return "mask"
    return "boxes" if row.ndim in (1, 2) and row.shape[-1] == 4 and len(row) <= _MOST_BOXES else ""


def _is_lopsided(kind: str, place: Array, sides: tuple[int, ...]) -> bool:
    """It would be another mask, or other boxes, after mirroring: it is neither empty nor in the middle."""
    if kind == "mask":
        flat = place.reshape(sides) if place.size == sides[0] * sides[1] else place.squeeze()
        flat = flat if flat.shape[:2] == sides else np.moveaxis(flat, 0, -1)
        return all(float(np.mean(flat != flat[how])) > 0.02 for how in _MIRRORED.values())
    boxes = place.reshape(-1, 4).astype(np.float64)
    boxes = boxes[(boxes != 0).any(axis=1)]
    size = float(max(sides)) if boxes.size and boxes.max() > 1.5 else 1.0
    inside = bool(boxes.size) and boxes.min() >= 0 and boxes.max() <= 1.05 * size
    if not inside or np.isin(boxes, (0.0, 1.0)).all():
        return False
    by_corners = (boxes[:, 2:] > boxes[:, :2]).all()
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2 if by_corners else boxes[:, :2]
    return bool((np.abs(middles.mean(axis=0) / size - 0.5) > 0.05).all())


def find_mirrored(epochs: Iterable[Iterable[ImagePlace]]) -> MirrorFacts | None:
    """Return what is known of images with the same mask or boxes in two epochs, of which some are mirrored.

    >>> find_mirrored([[], []]) is None
    True
    """
    first, second = ({(one.kind, one.name, one.beside): one for one in places} for places in epochs)
    twice, axes = 0, Counter[str]()
    for key, one in first.items():
        other = second.get(key)
        if other is None:
            continue
        same = float((one.small * other.small).sum())
        turned = {axis: float((one.small * other.small[how]).sum()) for axis, how in _MIRRORED.items()}
        turned["upside down and left to right"] = float((one.small * other.small[::-1, ::-1]).sum())
        axis = max(turned, key=lambda name: turned[name])
        twice += same >= _SAME or turned[axis] >= _SAME
        if turned[axis] >= _SAME and same < _OTHER:
            axes[axis.partition(" and ")[0]] += 1
    mirrored = sum(axes.values())
    if mirrored < _FEWEST or mirrored < _LEAST_SHARE * twice:
        return None
    kind, name, _ = next(iter(first))
    return MirrorFacts(kind, name, twice, mirrored, axes.most_common(1)[0][0])
