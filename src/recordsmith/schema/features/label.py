"""Label: the class of a record, one of a known number, stored as int64 and given by name or by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recordsmith.columns import ByteColumn
from recordsmith.errors import EncodeError, SchemaError, did_you_mean, list_names
from recordsmith.schema.features.constraints import NumberBounds, Violation, number_violations
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.tensor import Scalar
from recordsmith.schema.input.casting import describe_value
from recordsmith.schema.input.conversion import is_missing, understand_column
from recordsmith.schema.input.foreign_values import plain_values

if TYPE_CHECKING:
    import numpy.typing as npt

    from recordsmith.schema.plan import ColumnParts, Parts, PlanColumn

__all__ = ["MOST_NUMBERED", "Label"]

MOST_NUMBERED = 1_000_000  # classes without names of their own: each gets its number as a name

_NUMBERS = {optional: Scalar("int64", optional=optional) for optional in (False, True)}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Label(Feature):
    """One of a known number of classes.

    Write the name or the number of a class. The number is stored and read.

    Args:
        names: the names of the classes in the order of their numbers; or the number of classes, which are then named
            "0", "1" and so on.
        optional: records may lack it; the column is then a masked array.
        default: the value for records without it: a name or a number.
        description: a sentence for readers of the schema.

    >>> label = Label(["cat", "dog"])
    >>> label.value_to_canonical("dog"), label.value_to_canonical(0)
    (array([1]), array([0]))
    >>> label.label_of(1), label.size
    ('dog', 2)
    >>> Label(10)
    Label(10)
    """

    type_name: ClassVar[str] = "label"

    names: tuple[str, ...]

    def __init__(
        self, names: Sequence[str] | int, *, optional: bool = False, default: Any = None, description: str = ""
    ) -> None:
        self._set(names=_checked_names(names))
        self._set_common(optional=optional, default=default, description=description)

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.names)

    def label_of(self, number: int) -> str:
        """Return the name of a class."""
        if not 0 <= number < self.size:
            raise IndexError(f"there is no class {number}: the classes are numbered from 0 to {self.size - 1}")
        return self.names[number]

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the one stored feature that holds the number."""
        return Scalar("int64", optional=self.optional, default=self.default).plan(name)

    def assemble(self, parts: Sequence[Parts]) -> npt.NDArray[np.int64]:
        """Return an int64 array, a masked one if rows may be absent."""
        numbers: npt.NDArray[np.int64] = _NUMBERS[self.optional].assemble(parts)
        return numbers

    def row(self, column: Any, index: int) -> Any:
        """Return the number of one row's class; None if it is absent."""
        return _NUMBERS[self.optional].row(column, index)

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column of names or numbers."""
        given, present = understand_column(values)
        if isinstance(given, ByteColumn) or (isinstance(given, np.ndarray) and given.dtype.kind in "SUT"):
            given = given.tolist() if isinstance(given, np.ndarray) else given.to_list()
        if isinstance(given, list):
            if present is not None:
                given = [value if there else None for value, there in zip(given, present.tolist(), strict=True)]
            given = self._numbered(plain_values(given, set(map(type, given))))
        elif present is not None:
            given = np.ma.MaskedArray(given, mask=~present)
        try:
            parts = _NUMBERS[self.optional].column_to_parts(given, rows, cast=cast)
        except EncodeError as error:
            if error.expected is not None and error.row is not None:  # about a value, which may also be a name
                error.expected = f"a class's name, or a number from 0 to {self.size - 1}"
                error.advice = f"Give the name or the number of a class: {list_names(self.names)}."
            raise
        numbers, _, there = parts[0][:3]
        wrong = self.violations(numbers)  # absent rows hold 0, which is a class
        if wrong:
            raise EncodeError(
                "There is no class with this number.",
                row=wrong[0].row,
                found=wrong[0].found,
                expected=wrong[0].expected,
                advice="If a row has no label, give None and declare the feature with optional=True.",
            )
        return ((numbers, None, there),)

    def violations(self, column: Any) -> list[Violation]:
        """List the rows of a column of numbers that are not a class."""
        bounds = NumberBounds(0, self.size - 1, None, finite=False)
        there = ~np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
        found = number_violations(np.asarray(column), bounds, lambda rows: rows, there)
        expected = f"a number from 0 to {self.size - 1}"
        return [Violation(violation.row, "names", violation.found, expected) for violation in found]

    def _canonical(self, value: Any, *, cast: bool) -> Any:
        numbers, _, _ = self.column_to_parts([value], 1, cast=cast)[0][:3]
        return numbers

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def _numbered(self, values: list[Any]) -> list[Any]:
        """Put numbers in the place of names, and leave everything else as it is."""
        kinds = set(map(type, values))
        if not any(issubclass(kind, (str, bytes, np.ndarray)) for kind in kinds):
            return values
        ids = self._ids
        if kinds == {str}:
            numbers = list(map(ids.get, values))
            if None not in numbers:
                return numbers
        return [self._number_of(value, row) for row, value in enumerate(values)]

    def _number_of(self, value: Any, row: int) -> Any:
        if isinstance(value, np.ndarray) and value.ndim == 0 and not is_missing(value):
            value = value.item()
        if not isinstance(value, (str, bytes)):
            return value
        name = value.decode(errors="replace") if isinstance(value, bytes) else value
        number = self._ids.get(name)
        if number is None:
            raise UnknownClassError(value, name, self.names, row)
        return number

    def _checked_default(self, default: Any) -> Any:
        return int(self.value_to_canonical(default)[0])

    def _shown_setting(self, name: str) -> str:
        if name != "names":
            return super()._shown_setting(name)
        return str(self.size) if self._only_numbered else repr(list(self.names))

    def _setting_to_json(self, name: str) -> Any:
        if name == "names" and self._only_numbered:
            return self.size
        return super()._setting_to_json(name)

    @cached_property
    def _only_numbered(self) -> bool:
        return self.names == _numbered_names(self.size)


class UnknownClassError(EncodeError):
    """A name that none of the classes has. The nearest one is searched for only where the error is shown.

    >>> UnknownClassError("catt", "catt", ("cat", "dog"), 3).advice
    "Did you mean 'cat'? Add the class to the label's names, or correct the value."
    """

    def __init__(self, value: Any, name: str, names: Sequence[str], row: int) -> None:
        self._name, self._names = name, names
        super().__init__(
            "There is no class with this name.",
            row=row,
            found=describe_value(value),
            expected=f"one of the classes {list_names(names)}",
        )

    @property
    def advice(self) -> str:
        """What to do about it, with the class that may have been meant."""
        near = did_you_mean(self._name, self._names).lstrip()
        return f"{near} Add the class to the label's names, or correct the value.".lstrip()

    @advice.setter
    def advice(self, _: str | None) -> None:
        pass

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {name: getattr(self, name) for name in self._facts}
        return EncodeError.__reduce__(EncodeError(self.problem, **facts))


def _numbered_names(size: int) -> tuple[str, ...]:
    return tuple(map(str, range(size)))


def _checked_names(names: Any) -> tuple[str, ...]:
    if isinstance(names, (int, np.integer)) and not isinstance(names, bool):
        if names < 1:
            raise SchemaError("A label needs at least one class.", found=names)
        if names > MOST_NUMBERED:
            raise SchemaError(
                "A label has too many classes.",
                found=f"{names:,}",
                expected=f"at most {MOST_NUMBERED:,}",
                advice="Use Scalar('int64') for larger numbers.",
            )
        return _numbered_names(int(names))
    if isinstance(names, (str, bytes)) or not isinstance(names, (Sequence, np.ndarray)):
        raise SchemaError(
            "A label needs the names of its classes, or the number of classes.",
            found=names,
            advice="Write Label(['cat', 'dog']), or Label(10) for ten classes without names.",
        )
    found = [name.item() if isinstance(name, np.generic) else name for name in names]
    for name in found:
        if not isinstance(name, str) or not name or name.splitlines() != [name]:
            raise SchemaError(
                "A class name must be a string without line breaks.",
                found=name,
                advice="Class names are also stored in a text file, one per line.",
            )
    if not found:
        raise SchemaError("A label needs at least one class.", found=names)
    twice = sorted(name for name, count in Counter(found).items() if count > 1)
    if twice:
        raise SchemaError("Two classes have the same name.", found=list_names(twice))
    return tuple(found)
