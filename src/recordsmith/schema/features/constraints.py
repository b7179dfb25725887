"""Constraints on the values of a feature, and the rows of a column that break them.

    min, max                 of every number; NaN is never within bounds
    one_of                   every number, or every string, is one of these
    finite                   no NaN and no infinity
    min_length, max_length   len() of a row: the characters of a text, the bytes of a byte string, the strings of a
                             list of them, the first free dimension of a tensor

Checks are made on whole arrays; only rows that break one become objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn
from recordsmith.errors import EncodeError, SchemaError, list_names
from recordsmith.schema.input.casting import cast_exactly, describe_dtype, describe_value
from recordsmith.wording.numbers import count_text

__all__ = [
    "LengthBounds",
    "NumberBounds",
    "Violation",
    "checked_strings",
    "length_violations",
    "number_violations",
    "raise_first",
    "string_violations",
]

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
RowsOf = Callable[[npt.NDArray[np.intp]], npt.NDArray[Any]]
"""The rows that the values at these positions belong to."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A row of a column that breaks a constraint of its feature.

    Attributes:
        row: the row's number in the column.
        constraint: the setting that it breaks, such as "max".
        found: the first value of the row that breaks it, as text.
        expected: what it should have been, as text.

    >>> from recordsmith.schema import Scalar
    >>> Scalar("float32", max=1).violations(np.array([0.5, 2.0], np.float32))
    [Violation(row=1, constraint='max', found='2.0 (float32)', expected='at most 1')]
    """

    row: int
    constraint: str
    found: str
    expected: str


def raise_first(violations: Sequence[Violation]) -> None:
    """Raise the EncodeError for the first row that breaks a constraint, if there is one."""
    if not violations:
        return
    first = min(violations, key=lambda violation: violation.row)
    raise EncodeError(
        f"A value breaks the feature's constraint {first.constraint!r}.",
        row=first.row,
        found=first.found,
        expected=first.expected,
        advice="Correct the value or leave the row out, or change the constraint in the schema.",
    )


@dataclass(frozen=True, slots=True)
class NumberBounds:
    """Constraints of numbers, checked when they are declared."""

    low: Any
    high: Any
    one_of: tuple[Any, ...] | None
    finite: bool

    @classmethod
    def checked(cls, dtype: np.dtype[Any], *, low: Any, high: Any, one_of: Any, finite: Any) -> NumberBounds:
        """Return the constraints as plain Python values, or raise a SchemaError for those that cannot work.

        >>> NumberBounds.checked(np.dtype("int8"), low=3, high=2, one_of=None, finite=False)
        Traceback (most recent call last):
        recordsmith.errors.SchemaError: min is greater than max.
          found:    min=3, max=2
        """
        low, high = (_checked_bound(name, bound, dtype) for name, bound in (("min", low), ("max", high)))
        if low is not None and high is not None and low > high:
            raise SchemaError("min is greater than max.", found=f"min={low}, max={high}")
        if not isinstance(finite, bool):
            raise SchemaError("finite must be True or False.", found=finite)
        if one_of is not None:
            one_of = _checked_choices(one_of, dtype)
        return cls(low, high, one_of, finite)

    @property
    def any(self) -> bool:
        """Whether there is anything to check."""
        return self.finite or any(limit is not None for limit in (self.low, self.high, self.one_of))


@dataclass(frozen=True, slots=True)
class LengthBounds:
    """Constraints of a row's length, checked when they are declared."""

    least: int | None
    most: int | None

    @classmethod
    def checked(cls, least: Any, most: Any, *, varies: str | None) -> LengthBounds:
        """Return the constraints, or raise a SchemaError; `varies` is None for a feature whose length is fixed.

        >>> LengthBounds.checked(3, 2, varies="")
        Traceback (most recent call last):
        recordsmith.errors.SchemaError: min_length is greater than max_length.
          found:    min_length=3, max_length=2
        """
        for name, length in (("min_length", least), ("max_length", most)):
            if length is None:
                continue
            if varies is None:
                raise SchemaError(f"{name} is only for rows of variable length, and this shape is fixed.", found=length)
            if isinstance(length, bool) or not isinstance(length, int) or length < 0:
                raise SchemaError(f"{name} must be an integer of at least 0.", found=length)
        if least is not None and most is not None and least > most:
            raise SchemaError("min_length is greater than max_length.", found=f"min_length={least}, max_length={most}")
        return cls(least, most)

    @property
    def any(self) -> bool:
        """Whether there is anything to check."""
        return self.least is not None or self.most is not None


def number_violations(flat: Array, bounds: NumberBounds, rows_of: RowsOf, there: Bools | None) -> list[Violation]:
    """List the rows with numbers that break a constraint; `there` marks, flat, the values of present rows.

    >>> bounds = NumberBounds(low=0, high=None, one_of=None, finite=False)
    >>> [violation.row for violation in number_violations(np.array([1, -1, 2, -2]), bounds, lambda n: n // 2, None)]
    [0, 1]
    """
    found: list[Violation] = []
    for constraint, wrong, expected in _broken(flat, bounds):
        positions = np.flatnonzero(wrong if there is None else wrong & there)
        if not positions.size:
            continue
        rows, first = np.unique(rows_of(positions), return_index=True)
        values = flat[positions[first]]
        found.extend(
            Violation(int(row), constraint, describe_value(value), expected)
            for row, value in zip(rows, values, strict=True)
        )
    return sorted(found, key=lambda violation: violation.row)


def length_violations(lengths: Array, bounds: LengthBounds, present: Bools | None, unit: str) -> list[Violation]:
    """List the rows that are too short or too long.

    >>> length_violations(np.array([1, 5]), LengthBounds(None, 3), None, "character")
    [Violation(row=1, constraint='max_length', found='5 characters', expected='at most 3 characters')]
    """
    found: list[Violation] = []
    for constraint, limit, words in (("min_length", bounds.least, "at least"), ("max_length", bounds.most, "at most")):
        if limit is None:
            continue
        wrong = lengths < limit if constraint == "min_length" else lengths > limit
        if present is not None:
            wrong &= present
        found.extend(
            Violation(row, constraint, count_text(lengths[row], unit), f"{words} {count_text(limit, unit)}")
            for row in np.flatnonzero(wrong).tolist()
        )
    return sorted(found, key=lambda violation: violation.row)


def string_violations(strings: ByteColumn, choices: frozenset[Any], rows_of: RowsOf) -> list[Violation]:
    """List the rows with strings that are not among the choices (bytes, or str for a column of text)."""
    values = strings.to_list()
    wrong = [n for n, value in enumerate(values) if value is not None and value not in choices]
    if not wrong:
        return []
    rows, first = np.unique(rows_of(np.array(wrong, np.intp)), return_index=True)
    expected = f"one of {_listed(sorted(choices))}"
    shown = (describe_value(values[wrong[position]]) for position in first.tolist())
    return [Violation(int(row), "one_of", found, expected) for row, found in zip(rows, shown, strict=True)]


def checked_strings(one_of: Any, kind: type[str | bytes]) -> tuple[Any, ...]:
    """Return the strings that a feature may hold as a tuple, or raise a SchemaError."""
    choices = _as_tuple(one_of)
    for choice in choices:
        if not isinstance(choice, kind):
            raise SchemaError(f"one_of must hold {kind.__name__} values.", found=choice)
    return choices


def _broken(flat: Array, bounds: NumberBounds) -> Iterable[tuple[str, Bools, str]]:
    """Give the constraints with the values that break them, marked."""
    with np.errstate(over="ignore", invalid="ignore"):  # a bound beyond the dtype is an infinity in it
        # Not `flat < low`: NaN is neither below nor above, and breaks the first bound that there is.
        if bounds.low is not None:
            yield "min", ~(flat >= bounds.low), f"at least {bounds.low}"
        if bounds.high is not None:
            wrong = ~(flat <= bounds.high) if bounds.low is None else flat > bounds.high
            yield "max", wrong, f"at most {bounds.high}"
    if bounds.one_of is not None:
        choices = np.array(bounds.one_of).astype(flat.dtype)
        yield "one_of", ~np.isin(flat, choices), f"one of {_listed(bounds.one_of)}"
    if bounds.finite and flat.dtype.kind in "fc":
        yield "finite", ~np.isfinite(flat), "a finite number"


def _checked_bound(name: str, bound: Any, dtype: np.dtype[Any]) -> Any:
    if bound is None:
        return None
    if dtype.kind in "bc":
        raise SchemaError(f"{name} needs numbers that can be ordered, and {dtype} values cannot.", found=bound)
    if isinstance(bound, (np.generic, np.ndarray)) and bound.ndim == 0:
        bound = bound.item()
    if isinstance(bound, bool) or not isinstance(bound, (int, float)):
        raise SchemaError(f"{name} must be a number.", found=bound)
    if not -np.inf < bound < np.inf:
        raise SchemaError(
            f"{name} must be finite.", found=bound, advice="Use finite=True to exclude NaN and infinities."
        )
    if dtype.kind == "f" and abs(bound) > int(np.finfo(np.float64).max):
        raise SchemaError(f"{name} does not fit in a float.", found=describe_value(bound))
    return bound


def _checked_choices(one_of: Any, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    choices = _as_tuple(one_of)
    try:
        numbers = cast_exactly(np.array(choices, dtype=object), dtype, int)
    except EncodeError as error:
        raise SchemaError(
            f"one_of contains a value that the feature cannot hold. {error.problem}",
            found=error.found,
            expected=describe_dtype(dtype),
        ) from None
    if dtype.kind in "fc" and bool(np.isnan(numbers).any()):
        raise SchemaError(
            "NaN is not equal to itself, so it cannot be one of the values.", found=list_names(map(str, choices))
        )
    return choices


def _as_tuple(one_of: Any) -> tuple[Any, ...]:
    if isinstance(one_of, (str, bytes)) or not isinstance(one_of, Iterable):
        raise SchemaError("one_of must be a list of values.", found=one_of)
    given = sorted(one_of) if isinstance(one_of, (set, frozenset)) else one_of
    choices = tuple(choice.item() if isinstance(choice, np.generic) else choice for choice in given)
    if not choices:
        raise SchemaError("one_of must contain at least one value.", found=one_of)
    return choices


def _listed(choices: Sequence[Any], limit: int = 8) -> str:
    shown = ", ".join(repr(choice) for choice in choices[:limit])
    return shown if len(choices) <= limit else f"{shown} and {len(choices) - limit} more"
