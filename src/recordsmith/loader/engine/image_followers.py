"""Moves boxes, points and masks with their image: the same part, flips and rotation, drawn once for all of them.

A box that a crop cuts is cut off at the edge. If less than a quarter of it is left, its object is left out: its box,
and its entry in every other list of the same group ("image/object/..." of "image/object/bbox"). A rotated box becomes
the box around its corners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.augment import Crop
from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import PipelineError
from recordsmith.images import ImageError, decode_image, encode_image, read_header
from recordsmith.loader.engine.encoded_values import encoded_bytes, undecodable
from recordsmith.loader.engine.image_work import ImageWork
from recordsmith.loader.engine.row_access import ImageValues, RowValues
from recordsmith.loader.plan import Rows

__all__ = ["ImageFollowers"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LEAST_VISIBLE = 0.25  # of a box, below which its object is left out


@dataclass(frozen=True)
class ImageFollowers:
    """The features that follow an image.

    Attributes:
        image: the feature of the image.
        work: what becomes of the image.
        boxes: features of boxes, each with the features that have an entry for each of its boxes.
        points: features of points, and how many points an object has.
        mask: features with a mask of the image, which are decoded.
        masks: features with a mask of each object: decoded if images have one size, and PNGs otherwise.
    """

    image: str
    work: ImageWork
    boxes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    points: tuple[tuple[str, int], ...] = ()
    mask: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.boxes or self.points or self.mask or self.masks)

    def apply(self, rows: Rows) -> dict[str, Any]:
        """Return the columns of the rows in which everything has moved; the images themselves are still encoded."""
        work = self.work
        draws = work.draws(rows.numbers, rows.epochs, self.image)
        moves = []
        for row, drawn in enumerate(draws):
            record = int(rows.numbers[row])
            try:
                size = _size(encoded_bytes(rows.columns[self.image], row, "image", ImageError).tobytes())
            except ImageError as error:
                raise undecodable(error, self.image, record) from None
            moves.append(_Move(work, size, work.part(*size, drawn), drawn, record))
        columns = dict(rows.columns)
        for name in self.mask:
            columns[name] = self._moved_masks(rows.columns[name], moves, name)
        for name in self.masks:
            columns[name] = self._moved_lists(rows.columns[name], moves, name)
        for name, count in self.points:
            columns[name] = _moved_column(rows.columns[name], moves, _Move.points, (count, 2))
        for name, group in self.boxes:
            kept: list[Bools] = []

            def moved(move: _Move, boxes: Floats, kept: list[Bools] = kept) -> Floats:
                found, visible = move.boxes(boxes)
                kept.append(visible)
                return found

            columns[name] = _moved_column(rows.columns[name], moves, moved, (4,))
            if not all(map(np.all, kept)):
                columns |= {other: _filtered(columns[other], kept, other, name, moves) for other in (name, *group)}
        return columns

    def _moved_masks(self, column: Any, moves: Sequence[_Move], feature: str) -> npt.NDArray[Any] | ImageValues:
        found = ImageValues()
        for row, move in enumerate(moves):
            try:
                pixels = move.mask(decode_image(encoded_bytes(column, row, "mask", ImageError).tobytes(), channels=1))
            except ImageError as error:
                raise undecodable(error, feature, move.record) from None
            found.append(pixels.transpose(2, 0, 1) if self.work.planar else pixels)
        dense = self.work.size is not None or (self.work.dense and len({one.shape for one in found}) == 1)
        return np.stack(found) if dense and found else found

    def _moved_lists(self, column: Any, moves: Sequence[_Move], feature: str) -> Ragged:
        lists: list[list[npt.NDArray[Any]]] = []
        for row, move in enumerate(moves):
            given = column[row]
            given = given.to_list() if isinstance(given, ByteColumn) else given or []
            try:
                lists.append([move.mask(decode_image(bytes(png), channels=1)) for png in given])
            except ImageError as error:
                raise undecodable(error, feature, move.record) from None
        offsets = offsets_of(np.array([len(masks) for masks in lists], np.int64))
        flat = [mask for masks in lists for mask in masks]
        if self.work.size is None:
            pngs = [encode_image(mask, "png") for mask in flat]
            lengths = np.array([len(png) for png in pngs], np.int64)
            return Ragged(ByteColumn(np.frombuffer(b"".join(pngs), np.uint8), offsets_of(lengths)), offsets)
        values = np.stack(flat)[..., 0] if flat else np.zeros((0, *self.work.size), np.uint8)
        return Ragged(values, offsets)


@dataclass(frozen=True, slots=True)
class _Move:
    """What happens to one image."""

    work: ImageWork
    size: tuple[int, int]
    part: tuple[int, int, int, int]
    drawn: Sequence[Any]
    record: int

    def points(self, points: Floats) -> Floats:
        """Return where points (y, x) are afterwards."""
        top, left, height, width = self.part
        if self.part != (0, 0, *self.size):
            points = (points * np.array(self.size) - [top, left]) / [height, width]
        for change, value in zip(self.work.augment, self.drawn, strict=True):
            if not isinstance(change, Crop):
                points = change.move_points(points, value, self.work.size or (height, width))
        return points

    def boxes(self, boxes: Floats) -> tuple[Floats, Bools]:
        """Return where boxes are afterwards, cut off at the edge, and of which enough is left."""
        corners = np.stack([boxes[:, [0, 1]], boxes[:, [0, 3]], boxes[:, [2, 1]], boxes[:, [2, 3]]], axis=1)
        moved = self.points(corners)
        around = np.concatenate([moved.min(axis=1), moved.max(axis=1)], axis=1)
        cut = np.clip(around, 0, 1)
        before, after = _areas(around), _areas(cut)
        inside = ((around >= 0) & (around <= 1)).all(axis=1)
        enough = inside | ((after > 0) & (after >= LEAST_VISIBLE * before))
        return cut, enough

    def mask(self, mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a mask (height, width, 1) afterwards."""
        if mask.dtype != np.uint8:
            raise ImageError("The mask has 16 bits per pixel. Decode it with .map() instead.")
        if mask.shape[:2] != self.size:
            raise ImageError(
                f"The mask has {mask.shape[1]}×{mask.shape[0]} pixels, and its image {self.size[1]}×{self.size[0]}."
            )
        top, left, height, width = self.part
        mask = mask[top : top + height, left : left + width]
        if self.work.size is not None:
            down, right = (
                ((np.arange(wanted) + 0.5) * (have / wanted)).astype(np.int64)
                for wanted, have in zip(self.work.size, (height, width), strict=True)
            )
            mask = mask[down][:, right]
        for change, value in zip(self.work.augment, self.drawn, strict=True):
            if not isinstance(change, Crop):
                mask = change.change_mask(mask, value)
        return np.ascontiguousarray(mask)


def _size(data: bytes) -> tuple[int, int]:
    header = read_header(data)
    if header is None:
        raise ImageError("The record has no image that can be decoded.")
    return header.upright


def _areas(boxes: Floats) -> Floats:
    areas: Floats = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def _moved_column(column: Any, moves: Sequence[_Move], moved: Any, tail: tuple[int, ...]) -> Ragged:
    """Return a column of arrays in which those of each row have moved."""
    arrays = []
    for row, move in enumerate(moves):
        value = column[row]
        found = np.zeros((0, *tail)) if value is None else np.asarray(value, np.float64)
        arrays.append(moved(move, found.reshape(-1, *tail)).astype(np.float32))
    offsets = offsets_of(np.array([len(array) for array in arrays], np.int64))
    return Ragged(np.concatenate(arrays), offsets, present=getattr(column, "present", None))


def _filtered(column: Any, kept: Sequence[Bools], name: str, boxes: str, moves: Sequence[_Move]) -> Any:
    """Return a column with an entry for each box, without those of boxes that were left out."""
    for row, (value, keep) in enumerate(zip(column, kept, strict=True)):
        if value is not None and len(value) != len(keep):
            error = PipelineError(
                f"A crop leaves boxes out, and {name!r} does not have an entry for each box of {boxes!r}.",
                feature=name,
                found=f"{len(value)} entries for {len(keep)} boxes",
                advice="Leave the feature out with .select(), or augment without rs.augment.crop().",
            )
            error.record_number = moves[row].record  # type: ignore[attr-defined] # for those who know the files
            raise error
    if not isinstance(column, Ragged):
        return RowValues(
            value if value is None else [one for one, keeps in zip(value, keep, strict=True) if keeps]
            for value, keep in zip(column, kept, strict=True)
        )
    start, stop = int(column.offsets[0]), int(column.offsets[-1])
    mask = np.concatenate(kept)
    values: Any = column.values[start:stop]
    offsets = offsets_of(np.array([int(keep.sum()) for keep in kept], np.int64))
    return Ragged(values[mask], offsets, present=column.present)
