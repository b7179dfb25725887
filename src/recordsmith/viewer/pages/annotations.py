"""Finds the boxes, points and masks that belong to an image: by the schema's shapes and by the names that are usual.

    the schema                    Boxes, Points, Mask and Masks
    TensorFlow Object Detection   image/object/bbox/{xmin,xmax,ymin,ymax}, .../class/text, .../class/label, .../mask
    TensorFlow Datasets           objects/bbox or bbox: (ymin, xmin, ymax, xmax) from 0 to 1
    COCO                          bbox in pixels: (x, y, width, height); keypoints: (x, y, visible) in turns

Boxes in pixels that fit the image as corners (x, y, x, y), and do not as widths and heights, are read as corners. How
boxes were read is said next to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.images import read_header
from recordsmith.schema import Feature, Mask, Points
from recordsmith.viewer.data.class_colours import ClassColours
from recordsmith.wording.markup import Markup, element
from recordsmith.wording.visible_text import clipped

__all__ = ["Overlay", "is_box_name", "is_class_name", "overlay_markup", "overlay_of"]

_MOST_BOXES = 300
_BOX_NAMES = ("bbox", "bboxes", "boxes", "box", "objects/bbox", "gt_boxes")
_POINT_NAMES = ("keypoints", "keypoint", "landmarks", "points")
_MASK_NAMES = (
    "segmentation/class/encoded",
    "mask",
    "masks",
    "segmentation_mask",
    "segmentation",
    "label_map",
    "semantic",
    "labels/mask",
)
_LABEL_NAMES = (
    *("class/text", "class/label", "label", "labels", "class", "classes"),
    *("category", "category_id", "name", "names"),
)

Floats = npt.NDArray[np.float64]
Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is drawn over an image, in parts of its width and height.

    Attributes:
        boxes: (left, top, right, bottom) each.
        labels: the words at each box; "" for none.
        classes: a number for each box, for its colour.
        points: (x, y) each.
        masks: the features, and the place in their lists, that are maps of the image's pixels.
        reading: how boxes were read.
        features: the features that are drawn, and need not be listed as numbers.
    """

    boxes: tuple[tuple[float, float, float, float], ...] = ()
    labels: tuple[str, ...] = ()
    classes: tuple[int, ...] = ()
    points: tuple[tuple[float, float], ...] = ()
    masks: tuple[tuple[str, int], ...] = ()
    reading: str = ""
    features: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.boxes or self.points or self.masks)


def overlay_of(
    values: Mapping[str, Any],
    image: str,
    size: tuple[int, int],
    names: Names,
    colours: ClassColours,
    types: Mapping[str, Feature | None],
) -> Overlay:
    """Return what belongs to the image of this feature.

    Args:
        values: the values of the record.
        image: the feature of the image.
        size: its height and width.
        names: the class names of the features that are labels.
        colours: of the classes.
        types: the types of the features.
    """
    if _is_called(image, _MASK_NAMES) or isinstance(types.get(image), Mask):
        return Overlay()
    used: set[str] = set()
    boxes, prefix, reading = _boxes(values, size, used)
    labels, classes = _labels(values, prefix, len(boxes), names, colours, used)
    points = _declared_points(values, size, types, used) or _points(values, size, used)
    masks = _masks(values, size, used)
    return Overlay(tuple(boxes), labels, classes, tuple(points), tuple(masks), reading, frozenset(used))


def _boxes(
    values: Mapping[str, Any], size: tuple[int, int], used: set[str]
) -> tuple[list[tuple[float, float, float, float]], str, str]:
    for name in values:
        if name.rpartition("/")[2] != "xmin":
            continue
        prefix = name[: -len("xmin")]
        sides = [_numbers(values.get(prefix + side)) for side in ("xmin", "ymin", "xmax", "ymax")]
        if all(side is not None for side in sides) and len({len(side) for side in sides if side is not None}) == 1:
            corners = np.stack([side for side in sides if side is not None], axis=1)
            used.update(prefix + side for side in ("xmin", "ymin", "xmax", "ymax"))
            scaled, words = _scaled_corners(corners, size)
            return scaled, prefix.rstrip("/").removesuffix("bbox").rstrip("/"), f"boxes read as corners{words}"
    for name, value in values.items():
        if not _is_called(name, _BOX_NAMES):
            continue
        flat = _numbers(value)
        if flat is None or not len(flat) or len(flat) % 4:
            continue
        used.add(name)
        scaled, words = _quadruples(flat.reshape(-1, 4), size)
        return scaled, name.rpartition("/")[0], words
    return [], "", ""


def _scaled_corners(corners: Floats, size: tuple[int, int]) -> tuple[list[tuple[float, float, float, float]], str]:
    in_pixels = bool(np.nanmax(corners, initial=0.0) > 2.0)
    height, width = size
    whole = np.array([width, height, width, height], np.float64) if in_pixels else np.ones(4)
    return _bounded(corners / whole), " in pixels" if in_pixels else ""


def _quadruples(boxes: Floats, size: tuple[int, int]) -> tuple[list[tuple[float, float, float, float]], str]:
    if np.nanmax(boxes, initial=0.0) <= 1.5:
        return _bounded(boxes[:, [1, 0, 3, 2]]), "boxes read as ymin, xmin, ymax, xmax from 0 to 1"
    height, width = size
    whole = np.array([width, height, width, height], np.float64)
    as_sizes = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
    corners_fit = bool((boxes[:, 2:] > boxes[:, :2]).all() and (boxes <= whole * 1.01).all())
    sizes_fit = bool((as_sizes <= whole * 1.01).all())
    if corners_fit and not sizes_fit:
        return _bounded(boxes / whole), "boxes read as x, y, x, y in pixels"
    return _bounded(as_sizes / whole), "boxes read as x, y, width, height in pixels"


def _bounded(boxes: Floats) -> list[tuple[float, float, float, float]]:
    sound = boxes[np.isfinite(boxes).all(axis=1)][:_MOST_BOXES]
    return [tuple(box) for box in np.clip(sound, -1, 2).tolist()]


def _labels(
    values: Mapping[str, Any], prefix: str, count: int, names: Names, colours: ClassColours, used: set[str]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    for name in (f"{prefix}/{known}" if prefix else known for known in _LABEL_NAMES):
        value = values.get(name)
        texts = _texts(value, names.get(name, ()))
        if count and texts is not None and len(texts) == count:
            used.add(name)
            return tuple(texts), tuple(colours.of(name, text) for text in texts)
    return ("",) * count, (0,) * count


def _texts(value: Any, names: Sequence[str]) -> list[str] | None:
    if isinstance(value, (str, bytes)):
        value = [value]
    if isinstance(value, np.integer):
        value = np.array([value])
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu":
        return [names[one] if 0 <= one < len(names) else str(one) for one in value[:_MOST_BOXES].tolist()]
    if isinstance(value, (list, np.ndarray)) and all(isinstance(one, (str, bytes)) for one in value):
        return [one if isinstance(one, str) else one.decode(errors="backslashreplace") for one in value[:_MOST_BOXES]]
    return None


def _points(values: Mapping[str, Any], size: tuple[int, int], used: set[str]) -> list[tuple[float, float]]:
    height, width = size
    for name, value in values.items():
        if name.endswith("keypoint/x"):
            across, down = _numbers(value), _numbers(values.get(name[:-1] + "y"))
            if across is not None and down is not None and len(across) == len(down):
                used.update((name, name[:-1] + "y"))
                return _scaled_points(np.stack([across, down], axis=1), width, height)
        if not _is_called(name, _POINT_NAMES):
            continue
        flat = _numbers(value)
        shape: tuple[int, ...] = getattr(value, "shape", ())
        each = shape[-1] if len(shape) > 1 else 3 if flat is not None and len(flat) % 3 == 0 else 2
        if flat is not None and len(flat) and each in (2, 3) and len(flat) % each == 0:
            used.add(name)
            rows = flat.reshape(-1, each)
            return _scaled_points(rows[rows[:, 2] > 0, :2] if each == 3 else rows, width, height)
    return []


def _declared_points(
    values: Mapping[str, Any], size: tuple[int, int], types: Mapping[str, Feature | None], used: set[str]
) -> list[tuple[float, float]]:
    """Return the points that the schema declares, y before x; those that are marked as not labelled are left out."""
    height, width = size
    for name, value in values.items():
        if not isinstance(types.get(name), Points) or not isinstance(value, np.ndarray) or not value.size:
            continue
        points = value.reshape(-1, 2)[:, ::-1].astype(np.float64)
        visible = next((values[one] for one in (f"{name}/visibility", f"{name}_visibility") if one in values), None)
        if isinstance(visible, np.ndarray) and visible.size == len(points):
            points = points[visible.reshape(-1) > 0]
        used.add(name)
        return _scaled_points(points, width, height)
    return []


def _scaled_points(points: Floats, width: int, height: int) -> list[tuple[float, float]]:
    sound = points[np.isfinite(points).all(axis=1)][:_MOST_BOXES]
    if np.nanmax(sound, initial=0.0) > 2.0:
        sound = sound / np.array([width, height])
    return [(x, y) for x, y in np.clip(sound, -1, 2).tolist()]


def _masks(values: Mapping[str, Any], size: tuple[int, int], used: set[str]) -> list[tuple[str, int]]:
    found = []
    for name, value in values.items():
        if not _is_called(name, _MASK_NAMES):
            continue
        parts = value if isinstance(value, list) else [value]
        for place, part in enumerate(parts[:20]):
            if _mask_size(part) == size:
                found.append((name, place))
                used.add(name)
    return found


def is_box_name(name: str) -> bool:
    """Whether a feature is called as those are that have boxes."""
    return _is_called(name, _BOX_NAMES)


def is_class_name(name: str) -> bool:
    """Whether a feature is called as those are that have the classes of boxes."""
    return _is_called(name, _LABEL_NAMES)


def _is_called(name: str, known: Sequence[str]) -> bool:
    folded = name.lower()
    return any(folded == one or folded.endswith(f"/{one}") for one in known)


def _mask_size(value: Any) -> tuple[int, int] | None:
    if isinstance(value, bytes):
        header = read_header(value)
        return None if header is None or (header.channels > 1 and header.format == "jpeg") else header.upright
    return value.shape[:2] if isinstance(value, np.ndarray) and value.ndim >= 2 else None


def _numbers(value: Any) -> Floats | None:
    if isinstance(value, (float, int, np.floating, np.integer)):
        value = np.array([value])
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
        return None
    return value.reshape(-1).astype(np.float64)


def overlay_markup(overlay: Overlay, size: tuple[int, int], *, labelled: bool) -> Markup | None:
    """Draw boxes and points as SVG that lies over the image, in the same proportions."""
    if not overlay.boxes and not overlay.points:
        return None
    height, width = size
    stroke = max(width, height) / 160
    drawn = []
    for (left, top, right, bottom), label, number in zip(overlay.boxes, overlay.labels, overlay.classes, strict=True):
        x, y = left * width, top * height
        box = element(
            "rect",
            element("title", clipped(label, 120) or "box"),
            x=round(x, 2),
            y=round(y, 2),
            width=round(max(0.0, right - left) * width, 2),
            height=round(max(0.0, bottom - top) * height, 2),
            stroke_width=round(stroke, 2),
            class_=f"box c{number}",
        )
        words = (
            element(
                "text",
                clipped(label, 40),
                x=round(x + stroke, 2),
                y=round(max(y, 6 * stroke) - stroke, 2),
                font_size=round(6 * stroke, 2),
                class_=f"c{number}",
            )
            if labelled and label
            else None
        )
        drawn.append([box, words])
    dots = [
        element("circle", cx=round(x * width, 2), cy=round(y * height, 2), r=round(1.6 * stroke, 2), class_="point")
        for x, y in overlay.points
    ]
    return element(
        "svg",
        drawn,
        dots,
        viewBox=f"0 0 {width} {height}",
        preserveAspectRatio="xMidYMid meet",
        class_="overlay",
        role="img",
        aria_label=f"{len(overlay.boxes)} boxes, {len(overlay.points)} points",
    )
