"""Sequence: several values of another feature in one list of an Example, as TensorFlow Datasets stores them.

    Sequence(Image())               name                        one string for each image
    Sequence(Sequence(Scalar(..)))  name/ragged_flat_values     the values of all lists
                                    name/ragged_row_lengths_0   how long the inner lists are

A column is a Ragged over the column of the innermost feature, or a Ragged of them for lists in lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError
from recordsmith.schema.features.audio import Audio
from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.image import Image
from recordsmith.schema.features.label import Label
from recordsmith.schema.features.numeric import NumericFeature
from recordsmith.schema.features.steps import name_step, steps_of
from recordsmith.schema.features.strings import Bytes, Text
from recordsmith.schema.features.tensor import Scalar, Tensor
from recordsmith.schema.input.conversion import check_presence, check_rows
from recordsmith.schema.plan import PlanColumn
from recordsmith.wording.numbers import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence as SequenceOf

    from recordsmith.schema.plan import ColumnParts, Int64s, Parts

__all__ = ["Sequence"]

_LEAVES: dict[str, type[Feature]] = {
    kind.type_name: kind for kind in (Scalar, Tensor, Label, Text, Bytes, Image, Audio)
}
_DEEPEST = 8


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Sequence(Feature):
    """A list of values of another feature type, such as the frames of a video, stored in a plain Example.

    It is what TensorFlow Datasets calls Sequence, Dataset or Video, and stored in the same way. `rs.Steps` is for
    SequenceExamples. A list of numbers can be declared as a Tensor of shape (None,) as well.

    Args:
        feature: the type of one value: a Scalar, Tensor, Label, Text, Bytes, Image, Audio, or another Sequence.
        length: the number of values; None if it varies.
        optional: records may lack the whole list; absent rows are read as None.
        description: a sentence for readers of the schema.

    >>> [column.key for column in Sequence(Sequence(Scalar("int64"))).plan("words")]
    ['words/ragged_flat_values', 'words/ragged_row_lengths_0']
    >>> Sequence(Image(64, 64), length=16)
    Sequence(Image(height=64, width=64), length=16)
    """

    type_name: ClassVar[str] = "sequence"

    feature: Feature
    length: int | None = field(default=None, kw_only=True)

    def __init__(
        self, feature: Feature, *, length: int | None = None, optional: bool = False, description: str = ""
    ) -> None:
        if type(feature) not in (*_LEAVES.values(), Sequence):
            raise SchemaError(
                "Sequence needs the feature of a single value.",
                found=feature,
                expected=", ".join([*(kind.__name__ for kind in _LEAVES.values()), "Sequence"]),
            )
        if feature.optional:
            raise SchemaError(
                "A single value of a Sequence cannot be optional or have a default.",
                found=feature,
                advice="Use optional=True on the Sequence itself if records may lack the whole list.",
            )
        whole = length is None or (hasattr(length, "__index__") and not isinstance(length, bool) and length >= 1)
        if not whole or (length is not None and optional):
            raise SchemaError(
                "The length must be an integer of at least 1, or None if it varies or may be absent.", found=length
            )
        self._set(feature=feature, length=None if length is None else length.__index__())
        if not isinstance(feature, Sequence):
            columns = feature.plan("")
            if len(columns) > 1 or (columns[0].kind != "bytes" and columns[0].count is None) or _is_list(feature):
                raise SchemaError(
                    "Sequence needs a feature that is stored as one string, or as a fixed number of numbers.",
                    found=feature,
                    advice="Declare fixed dimensions, or storage='bytes' with at most one that varies.",
                )
        elif self._depth > _DEEPEST:
            raise SchemaError(f"A Sequence has at most {_DEEPEST} levels.", found=self._depth)
        self._set_common(optional=optional, default=None, description=description)

    @cached_property
    def leaf(self) -> Feature:
        """The innermost feature."""
        return self.feature.leaf if isinstance(self.feature, Sequence) else self.feature

    @cached_property
    def _depth(self) -> int:
        return 1 + (self.feature._depth if isinstance(self.feature, Sequence) else 0)  # noqa: SLF001 - of its own kind

    @cached_property
    def _lengths(self) -> tuple[int | None, ...]:
        """The declared length at each level."""
        return (self.length, *(self.feature._lengths if isinstance(self.feature, Sequence) else ()))  # noqa: SLF001 - of its own kind

    @cached_property
    def _value(self) -> PlanColumn:
        return self.leaf.plan("")[0]

    @property
    def _unit(self) -> int:
        """The number of stored values for one value of the list."""
        return 1 if self._value.kind == "bytes" else self._value.count or 1

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the stored features: the values, and the lengths of inner lists."""
        value = replace(self._value, row_bytes=None, presence=self.presence, raw_dtype=self._value.raw_dtype)
        if self._depth == 1:
            return (replace(value, key=name, count=None if self.length is None else self.length * self._unit),)
        lengths = [
            PlanColumn(f"{name}/ragged_row_lengths_{level}", "int64", None, None, self.presence)
            for level in range(self._depth - 1)
        ]
        return (replace(value, key=f"{name}/ragged_flat_values", count=None), *lengths)

    def assemble(self, parts: SequenceOf[Parts]) -> Ragged:
        """Return a Ragged with the values of each record as its rows."""
        present = parts[0][2]
        column, offsets = self._values(parts[0])
        for level in reversed(range(1, self._depth)):
            lengths, outer = parts[level][0], parts[level][1]
            assert outer is not None  # noqa: S101 - for the type checker: their number varies
            inner = _checked_lengths(lengths, outer, offsets, self._lengths[level])
            column, offsets = Ragged.unchecked(column, inner), outer
        if self._depth > 1 and self.length is not None:
            _check_length(np.diff(offsets), self.length)
        return Ragged.unchecked(column, offsets, present=present)

    def _values(self, part: Parts) -> tuple[Any, Int64s]:
        """Return the column of all values, and where those of each record begin."""
        values, offsets, _, _ = part
        unit = self._unit
        if self._value.kind != "bytes":
            if offsets is None:
                rows = len(values)
                offsets = np.arange(rows + 1, dtype=np.int64) * (self.length or 1) * unit
            start = int(offsets[0])
            flat = values.reshape(values.size)[start : int(offsets[-1])]
            offsets = offsets - start
            if unit > 1:
                uneven = np.flatnonzero(np.diff(offsets) % unit)
                if uneven.size:
                    raise self._uneven(int(uneven[0]), f"{int(np.diff(offsets)[uneven[0]])} values", unit)
                flat, offsets = flat.reshape(-1, unit), offsets // unit
            return self.leaf.assemble([(flat, None, None, None)]), offsets
        if isinstance(values, tuple):
            data, value_offsets = values
        else:  # exactly one string a record
            assert offsets is not None  # noqa: S101 - for the type checker
            data, value_offsets = values, offsets
            offsets = np.arange(len(value_offsets), dtype=np.int64)
        assert offsets is not None  # noqa: S101 - for the type checker
        width = self._value.row_bytes
        if width is None:
            return self.leaf.assemble([(data, value_offsets, None, None)]), offsets
        sizes = np.diff(value_offsets)
        wrong = np.flatnonzero(sizes != width)
        if wrong.size:
            row = int(np.searchsorted(offsets, wrong[0], side="right")) - 1
            raise self._uneven(row, f"{int(sizes[wrong[0]])} bytes", width)
        dense = data[int(value_offsets[0]) : int(value_offsets[-1])].reshape(len(sizes), width)
        return self.leaf.assemble([(dense, None, None, None)]), offsets

    def _uneven(self, row: int, found: str, unit: int) -> SchemaMismatchError:
        return SchemaMismatchError(
            f"Row {row} of the batch does not match the feature's shape.",
            row=row,
            found=found,
            expected=f"a multiple of {unit}, for {self.leaf}",
        )

    def row(self, column: Any, index: int) -> Any:
        """Return the values of one record: an array for numbers of one shape, else a list; None if absent."""
        values = column[index]
        return None if values is None else self._plain(values)

    def _plain(self, values: Any) -> Any:
        if isinstance(values, np.ndarray):
            return values
        if isinstance(self.feature, Sequence):
            return [self.feature._plain(values[place]) for place in range(len(values))]  # noqa: SLF001 - of its own kind
        return [self.feature.row(values, place) for place in range(len(values))]

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of lists."""
        given, offsets, present = steps_of(values)
        check_rows(len(offsets) - 1, rows)
        present = check_presence(present, optional=self.optional)
        _check_written_length(np.diff(offsets), self.length)
        levels: list[tuple[Any, Int64s]] = []
        bounds = offsets  # of records, in what the level below counts
        for length in self._lengths[1:]:
            given, inner, absent = steps_of(given)
            if absent is not None:
                raise EncodeError("An inner list has no value.", advice="Write an empty list.")
            lengths = np.diff(inner)
            _check_written_length(lengths, length)
            levels.append((lengths, bounds))
            bounds = inner[bounds]
        try:
            part = self.leaf.column_to_parts(given, int(bounds[-1]), cast=cast)[0]
        except EncodeError as error:
            step = error.row or 0
            error.row = int(np.searchsorted(bounds, step, side="right")) - 1
            name_step(error, step - int(bounds[error.row]))
            raise
        return (self._stored(part, bounds, present), *((lengths, at, present) for lengths, at in levels))

    def _stored(self, part: ColumnParts, bounds: Int64s, present: Any) -> ColumnParts:
        """Lay out the values of the innermost feature as they are stored."""
        values, offsets = part[0], part[1]
        fixed = self.length if self._depth == 1 else None
        if self._value.kind != "bytes":
            flat = values.reshape(values.size)
            if fixed is None:
                return flat, bounds * self._unit, present
            count = fixed * self._unit
            return flat if count == 1 else flat.reshape(len(bounds) - 1, count), None, present
        if isinstance(values, list):
            data = np.frombuffer(b"".join(values), np.uint8)
            offsets = offsets_of([len(one) for one in values])
        elif offsets is None:
            data, offsets = values.reshape(values.size), np.arange(len(values) + 1, dtype=np.int64) * values.shape[1]
        else:
            data = values
        if fixed == 1:
            return data, offsets, present
        return (data, offsets), bounds, present

    def violations(self, column: Any) -> list[Violation]:
        """List the records with a value that breaks a constraint of its feature."""
        bounds = column.offsets
        values = column.values
        while isinstance(values, Ragged) and isinstance(self.feature, Sequence) and values.row_shape[0] is None:
            bounds, values = values.offsets[bounds], values.values
        start = int(bounds[0])
        found: dict[tuple[int, str], Violation] = {}
        for one in self.leaf.violations(values[start : int(bounds[-1])]):
            row = int(np.searchsorted(bounds - start, one.row, side="right")) - 1
            words = f"value {one.row - int(bounds[row] - start)}: {one.found}"
            found.setdefault((row, one.constraint), Violation(row, one.constraint, words, one.expected))
        return list(found.values())

    def _canonical(self, value: Any, *, cast: bool) -> Any:
        stored = []
        for values, *_ in self.column_to_parts([value], 1, cast=cast):
            if isinstance(values, tuple):
                stored.append([bytes(one) for one in ByteColumn.unchecked(*values).to_list()])
            elif self._value.kind == "bytes" and not stored:
                stored.append([bytes(values)])
            else:
                stored.append(values.reshape(values.size))
        return stored[0] if len(stored) == 1 else tuple(stored)

    def _setting_to_json(self, name: str) -> Any:
        return self.feature.to_json() if name == "feature" else super()._setting_to_json(name)

    @classmethod
    def _setting_from_json(cls, name: str, value: Any, settings: Mapping[str, Any]) -> Any:
        if name != "feature":
            return super()._setting_from_json(name, value, settings)
        kinds: dict[str, type[Feature]] = {**_LEAVES, "sequence": cls}
        if not isinstance(value, Mapping) or str(value.get("type")) not in kinds:
            raise SchemaError(
                "Sequence needs the feature of one value.",
                found=value,
                expected=f"a feature with one of the types {', '.join(kinds)}",
            )
        return kinds[str(value["type"])].from_json({key: entry for key, entry in value.items() if key != "type"})


def _is_list(feature: Feature) -> bool:
    """Say whether a feature is a list by itself, so that a list of it would have no bounds."""
    if isinstance(feature, (Text, Bytes)):
        return bool(feature.shape)
    return isinstance(feature, NumericFeature) and feature.stored_as == "list" and None in feature.row_shape


def _checked_lengths(lengths: Any, outer: Int64s, bounds: Int64s, declared: int | None) -> Int64s:
    """Return where each inner list begins, after a check that the lists of each record have its values."""
    if declared is not None:
        _check_length(lengths, declared)
    used = lengths[int(outer[0]) : int(outer[-1])]
    inner = offsets_of(np.clip(used, 0, 2**31))
    right = inner[outer - int(outer[0])] == bounds - int(bounds[0])
    if (used < 0).any() or not right.all():
        row = max(0, int(np.argmin(right)) - 1) if not right.all() else 0
        raise SchemaMismatchError(
            f"Row {row} of the batch has inner lists with lengths that do not add up to the number of values.",
            row=row,
            expected="lengths of at least 0 whose sum is the number of values",
        )
    return inner


def _check_length(lengths: Any, declared: int) -> None:
    wrong = np.flatnonzero(lengths != declared)
    if wrong.size:
        raise SchemaMismatchError(
            "A list does not have the declared length.", found=int(lengths[wrong[0]]), expected=declared
        )


def _check_written_length(lengths: Int64s, declared: int | None) -> None:
    wrong = np.flatnonzero(lengths != declared) if declared is not None else np.empty(0, np.int64)
    if wrong.size:
        raise EncodeError(
            "A list does not have the declared length.",
            row=int(wrong[0]),
            found=count_text(int(lengths[wrong[0]]), "value"),
            expected=count_text(declared or 0, "value"),
        )
