"""Boxes and Points: places in an image, relative to its size, stored under the names that detectors read.

    image/object/bbox       stored as    image/object/bbox/ymin, .../xmin, .../ymax, .../xmax    (split)
    objects/bbox            stored as    objects/bbox: ymin, xmin, ymax, xmax of each box        (split=False)

The first is what the TensorFlow Object Detection API and the Model Garden read, the second what TensorFlow Datasets
reads. In both cases a row is one array, with the coordinates on its last axis. They are Tensors, so that everything
that is known about Tensors holds for them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from recordsmith.errors import SchemaError, SchemaMismatchError
from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.tensor import Tensor
from recordsmith.schema.plan import PlanColumn

if TYPE_CHECKING:
    import numpy.typing as npt

    from recordsmith.schema.plan import Bools, ColumnParts, Int64s, Parts

__all__ = ["BOX_SLACK", "Boxes", "Points", "SplitTensor", "box_problems"]

BOX_SLACK = 0.01
"""How far a box may be outside of its image, in parts of the image: annotations are rounded."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class SplitTensor(Tensor):
    """A float32 tensor whose last axis can be stored as one feature for each coordinate."""

    coordinates: ClassVar[tuple[str, ...]]
    """What the entries of the last axis are called in the stored names."""

    split: bool = field(default=True, kw_only=True)

    def _set_split(self, shape: tuple[int | None, ...], *, split: bool) -> None:
        if not isinstance(split, bool):
            raise SchemaError("split must be True or False.", found=split)
        self._set_numbers("float32", None, low=None, high=None, one_of=None, finite=True)
        self._set(shape=shape, min_length=None, max_length=None, split=split)

    def _settings(self) -> list[str]:
        return [name for name in super()._settings() if name not in ("dtype", "shape", "finite")]

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the stored features: one for each coordinate, or one for all of them."""
        if not self.split:
            return super().plan(name)
        default: Any = (None,) * len(self.coordinates)
        if self.default is not None:
            default = self.value_to_canonical(self.default)
        return tuple(
            PlanColumn(f"{name}/{coordinate}", "float", None, None, self.presence, part)
            for coordinate, part in zip(self.coordinates, default, strict=True)
        )

    def assemble(self, parts: Sequence[Parts]) -> Any:
        """Return a Ragged with an array a row."""
        if not self.split:
            return super().assemble(parts)
        starts = [cast("Int64s", part[1]) for part in parts]  # the core gives them with lists of any length
        counts = np.stack([np.diff(start) for start in starts])
        present = parts[0][2]
        uneven = (counts != counts[0]).any(axis=0)
        if present is not None:
            uneven |= np.stack([part[2] != present for part in parts]).any(axis=0)
        if uneven.any():
            row = int(uneven.argmax())
            found = ", ".join(f"{count} {name}" for name, count in zip(self.coordinates, counts[:, row], strict=True))
            raise SchemaMismatchError(
                f"Row {row} of the batch has different numbers of coordinates.",
                row=row,
                found=found,
                expected="as many of each",
            )
        used = [part[0][int(start[0]) : int(start[-1])] for part, start in zip(parts, starts, strict=True)]
        offsets = np.concatenate([[0], np.cumsum(counts[0])]) * len(parts)
        return super().assemble([(np.stack(used, axis=1).reshape(-1), offsets, present, None)])

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of arrays."""
        parts = super().column_to_parts(values, rows, cast=cast)
        if not self.split:
            return parts
        flat, offsets, present = parts[0][:3]
        table = flat.reshape(-1, len(self.coordinates))
        counts = None if offsets is None else offsets // len(self.coordinates)
        return tuple((np.ascontiguousarray(column), counts, present) for column in table.T)

    def _canonical(self, value: Any, *, cast: bool) -> Any:
        if not self.split:
            return super()._canonical(value, cast=cast)
        return tuple(part[0] for part in self.column_to_parts([value], 1, cast=cast))


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Boxes(SplitTensor):
    """The boxes of an image: a float32 array (n, 4) of ymin, xmin, ymax, xmax, from 0 to 1.

    0 is the top or the left edge of the image, and 1 the bottom or the right one, as in TensorFlow. Boxes with
    NaN, with a minimum above the maximum, or more than 1 % outside of the image cannot be written; `recordsmith check`
    finds them in existing files. `.images(augment=...)` moves boxes with their image.

    Args:
        split: store the coordinates as four features, `name/ymin`, `name/xmin`, `name/ymax` and `name/xmax`, as the
            TensorFlow Object Detection API does; False: as one, as TensorFlow Datasets does.
        optional: records may lack it; absent rows are read as None.
        default: the value for records without it.
        description: a sentence for readers of the schema.

    >>> boxes = Boxes()
    >>> [column.key for column in boxes.plan("image/object/bbox")][:2]
    ['image/object/bbox/ymin', 'image/object/bbox/xmin']
    >>> [column.key for column in Boxes(split=False).plan("objects/bbox")]
    ['objects/bbox']
    """

    type_name: ClassVar[str] = "boxes"
    coordinates: ClassVar[tuple[str, ...]] = ("ymin", "xmin", "ymax", "xmax")

    def __init__(
        self, *, split: bool = True, optional: bool = False, default: Any = None, description: str = ""
    ) -> None:
        self._set_split((None, 4), split=split)
        self._set_common(optional=optional, default=default, description=description)

    def _free_violations(self, flat: npt.NDArray[Any], offsets: Int64s, present: Bools | None) -> list[Violation]:  # noqa: ARG002 - absent rows have no boxes
        boxes = flat.reshape(-1, 4)
        problems = box_problems(boxes)
        wrong = np.flatnonzero(problems)
        rows, first = np.unique(np.searchsorted(offsets, wrong * 4, side="right") - 1, return_index=True)
        return [
            Violation(int(row), *_in_words(boxes[at], str(problems[at])))
            for row, at in zip(rows, wrong[first], strict=True)
        ]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Points(SplitTensor):
    """Points in an image, such as the keypoints of its objects: a float32 array (n, points, 2) of y and x, from 0 to 1.

    Args:
        points: how many points an object has.
        split: store the coordinates as two features, `name/y` and `name/x`, as the TensorFlow Object Detection API
            does; False: as one.
        optional: records may lack it; absent rows are read as None.
        default: the value for records without it.
        description: a sentence for readers of the schema.

    >>> Points(17).shape
    (None, 17, 2)
    >>> [column.key for column in Points(17).plan("image/object/keypoint")]
    ['image/object/keypoint/y', 'image/object/keypoint/x']
    """

    type_name: ClassVar[str] = "points"
    coordinates: ClassVar[tuple[str, ...]] = ("y", "x")

    points: int

    def __init__(
        self,
        points: int,
        *,
        split: bool = True,
        optional: bool = False,
        default: Any = None,
        description: str = "",
    ) -> None:
        if isinstance(points, bool) or not hasattr(points, "__index__") or not 1 <= points.__index__() < 2**16:
            raise SchemaError("The number of points must be an integer of at least 1.", found=points)
        self._set(points=points.__index__())
        self._set_split((None, self.points, 2), split=split)
        self._set_common(optional=optional, default=default, description=description)


def box_problems(boxes: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
    """Say of each box (ymin, xmin, ymax, xmax, from 0 to 1) what is wrong: "finite", "order", "inside", or None.

    >>> box_problems(np.array([[0, 0, 1, 1], [0.5, 0, 0.4, 1], [0, 0, 1, 1.6]])).tolist()
    [None, 'order', 'inside']
    """
    problems = np.full(len(boxes), None, object)
    with np.errstate(invalid="ignore"):
        problems[((boxes < -BOX_SLACK) | (boxes > 1 + BOX_SLACK)).any(axis=1)] = "inside"
        problems[(boxes[:, :2] > boxes[:, 2:]).any(axis=1)] = "order"
    problems[~np.isfinite(boxes).all(axis=1)] = "finite"
    return problems


_EXPECTED = {
    "finite": "numbers that are not NaN or infinite",
    "order": "ymin <= ymax and xmin <= xmax",
    "inside": "coordinates from 0 to 1, relative to the size of the image",
}


def _in_words(box: npt.NDArray[Any], problem: str) -> tuple[str, str, str]:
    found = ", ".join(f"{name} {value:.4g}" for name, value in zip(Boxes.coordinates, box.tolist(), strict=True))
    return problem, found, _EXPECTED[problem]
