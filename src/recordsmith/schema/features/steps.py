"""Steps: a feature with one value per step, stored in the feature lists of a SequenceExample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import EncodeError, SchemaError
from recordsmith.schema.features.audio import Audio
from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.image import Image
from recordsmith.schema.features.label import Label
from recordsmith.schema.features.strings import Bytes, Text
from recordsmith.schema.features.tensor import Scalar, Tensor
from recordsmith.schema.input.casting import describe_value
from recordsmith.schema.input.conversion import check_presence, check_rows, understand_column, without_missing
from recordsmith.schema.input.foreign_values import plain_value

if TYPE_CHECKING:
    from recordsmith.schema.plan import Bools, ColumnParts, Int64s, Parts, PlanColumn

__all__ = ["Steps", "name_step", "steps_of"]

_TYPES: dict[str, type[Feature]] = {kind.type_name: kind for kind in (Scalar, Tensor, Label, Text, Bytes, Image, Audio)}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Steps(Feature):
    """A variable number of steps, each with a value of another feature type.

    Args:
        feature: the type of one step: a Scalar, Tensor, Label, Text, Bytes, Image or Audio.
        optional: records may lack the whole list; absent rows are read as None.
        description: a sentence for readers of the schema.

    >>> steps = Steps(Scalar("float32"))
    >>> parts = (np.array([1, 2, 3], np.float32), None, None, np.array([0, 1, 3]))
    >>> steps.assemble([parts])
    Ragged(2 rows of float32 (None,): [1.], [2., 3.])
    """

    type_name: ClassVar[str] = "steps"

    feature: Feature

    def __init__(self, feature: Feature, *, optional: bool = False, description: str = "") -> None:
        if type(feature) not in _TYPES.values():
            raise SchemaError(
                "Steps needs the feature of a single step.",
                found=feature,
                expected=", ".join(kind.__name__ for kind in _TYPES.values()),
            )
        if len(feature.plan("")) > 1:
            raise SchemaError(
                "Steps needs a feature that is stored as a single list.",
                found=feature,
                advice="Give the step at most one variable dimension.",
            )
        if feature.optional:
            raise SchemaError(
                "A single step cannot be optional or have a default.",
                found=feature,
                advice="Use optional=True on Steps itself if records may lack the whole list.",
            )
        self._set(feature=feature)
        self._set_common(optional=optional, default=None, description=description)

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the stored features of one step, marked as stored in the feature lists."""
        return tuple(replace(column, presence=self.presence, steps=True) for column in self.feature.plan(name))

    def assemble(self, parts: Sequence[Parts]) -> Ragged:
        """Return a Ragged with the steps of each record as its rows."""
        present = parts[0][2]
        step_offsets = cast("Int64s", parts[0][3])  # the core gives them with every column of steps
        steps = self.feature.assemble([(values, offsets, None, None) for values, offsets, _, _ in parts])
        return Ragged.unchecked(steps, step_offsets, present=present)

    def row(self, column: Any, index: int) -> Any:
        """Return the steps of one record: an array where they are of one shape, else a list; None if absent."""
        steps = column[index]
        if steps is None or isinstance(steps, np.ndarray):
            return steps
        return [self.feature.row(steps, step) for step in range(len(steps))]

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of lists of steps; each entry ends with the step offsets."""
        steps, step_offsets, present = steps_of(values)
        check_rows(len(step_offsets) - 1, rows)
        present = check_presence(present, optional=self.optional)
        try:
            parts = self.feature.column_to_parts(steps, int(step_offsets[-1]), cast=cast)
        except EncodeError as error:
            step = error.row or 0  # without one, all steps are wrong alike
            error.row = int(np.searchsorted(step_offsets, step, side="right")) - 1
            name_step(error, step - int(step_offsets[error.row]))
            raise
        return tuple((part[0], part[1], present, step_offsets) for part in parts)

    def violations(self, column: Any) -> list[Violation]:
        """List the records with a step that breaks a constraint of its feature."""
        start = int(column.offsets[0])
        offsets = column.offsets - start
        found: dict[tuple[int, str], Violation] = {}
        for one in self.feature.violations(column.values[start : int(column.offsets[-1])]):
            row = int(np.searchsorted(offsets, one.row, side="right")) - 1
            words = f"step {one.row - int(offsets[row])}: {one.found}"
            found.setdefault((row, one.constraint), Violation(row, one.constraint, words, one.expected))
        return list(found.values())

    def _canonical(self, value: Any, *, cast: bool) -> list[Any]:
        canonical = []
        for number, step in enumerate(_list_of_steps(plain_value(value), None)):
            try:
                canonical.append(self.feature.value_to_canonical(step, cast=cast))
            except EncodeError as error:
                name_step(error, number)
                raise
        return canonical

    def _setting_to_json(self, name: str) -> Any:
        return self.feature.to_json() if name == "feature" else super()._setting_to_json(name)

    @classmethod
    def _setting_from_json(cls, name: str, value: Any, settings: Mapping[str, Any]) -> Any:
        if name != "feature":
            return super()._setting_from_json(name, value, settings)
        if not isinstance(value, Mapping) or str(value.get("type")) not in _TYPES:
            raise SchemaError(
                "Steps needs the feature of one step.",
                found=value,
                expected=f"a feature with one of the types {', '.join(_TYPES)}",
            )
        return _TYPES[str(value["type"])].from_json({key: entry for key, entry in value.items() if key != "type"})


def name_step(error: EncodeError, step: int) -> None:
    """Say in an error which step it is about."""
    error.problem = f"Step {step}: {error.problem}"
    if error.found == "None":
        error.problem = f"Step {step} has no value."
        error.advice = "A list cannot contain None: give a value, or leave out the step."


def steps_of(values: Any) -> tuple[Any, Int64s, Bools | None]:
    """Return a column of lists of steps as one column of all steps, their offsets by record, and what is present."""
    given, present = understand_column(values)
    whole = present is None or bool(present.all())
    if isinstance(given, np.ndarray) and given.ndim > 1 and whole:
        rows, steps = given.shape[:2]
        return given.reshape(rows * steps, *given.shape[2:]), np.arange(rows + 1, dtype=np.int64) * steps, None
    if isinstance(given, Ragged) and given.row_shape[0] is None:
        steps_given = given.values[int(given.offsets[0]) : int(given.offsets[-1])]
        step_offsets = offsets_of(given.lengths)
        if isinstance(steps_given, np.ndarray):
            sizes = [size for size in given.row_shape[1:] if size is not None]
            steps_given = steps_given.reshape(int(step_offsets[-1]), *sizes)
        return steps_given, step_offsets, present
    rows_given, present = without_missing(list(given), present)
    numbers = np.arange(len(rows_given)) if present is None else np.flatnonzero(present)
    lists = [_list_of_steps(row, int(number)) for row, number in zip(rows_given, numbers, strict=True)]
    lengths = np.zeros(len(rows_given) if present is None else len(present), np.int64)
    lengths[numbers] = [len(row) for row in lists]
    return _joined(lists), offsets_of(lengths), present


def _list_of_steps(row: Any, number: int | None) -> Any:
    if isinstance(row, (list, tuple, ByteColumn, Ragged)) or (isinstance(row, np.ndarray) and row.ndim):
        return row
    raise EncodeError(
        "A row must be a list of steps.",
        row=number,
        found=describe_value(row),
        expected="a list, or an array whose first axis is the step",
        advice="Put a single step in a list, or declare the feature without Steps.",
    )


def _joined(lists: list[Any]) -> list[Any] | npt.NDArray[Any]:
    if lists and all(type(row) is np.ndarray and row.dtype.kind != "O" for row in lists):
        layouts = {(row.dtype, row.shape[1:]) for row in lists}
        if len(layouts) == 1:
            return np.concatenate(lists)
    return list(chain.from_iterable(lists))
