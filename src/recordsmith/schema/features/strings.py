"""Features of strings: Text, stored as UTF-8, and Bytes."""

from __future__ import annotations

import base64
import binascii
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import SchemaError
from recordsmith.schema.features.constraints import (
    LengthBounds,
    Violation,
    checked_strings,
    length_violations,
    raise_first,
    string_violations,
)
from recordsmith.schema.features.feature import Feature, checked_shape
from recordsmith.schema.input.conversion import check_presence, check_rows
from recordsmith.schema.input.string_input import one_string_a_row, several_strings_a_row
from recordsmith.schema.plan import Bools, ColumnParts, Int64s, Parts, PlanColumn

__all__ = ["Bytes", "Text"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class StringFeature(Feature):
    """What Text and Bytes share: one string a record, a fixed number of them, or a number that varies."""

    shape: tuple[int | None, ...] = ()
    min_length: int | None = field(default=None, kw_only=True)
    max_length: int | None = field(default=None, kw_only=True)
    one_of: tuple[Any, ...] | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def text(self) -> bool:
        """Whether the strings are text."""

    def __init__(
        self,
        shape: Sequence[int | None] = (),
        *,
        min_length: int | None = None,
        max_length: int | None = None,
        one_of: Sequence[Any] | None = None,
        optional: bool = False,
        default: Any = None,
        description: str = "",
    ) -> None:
        self._set(shape=checked_shape(shape))
        if len(self.shape) > 1:  # a list of strings is all that an Example has
            raise SchemaError(
                "Strings have at most one dimension.",
                found=f"shape {self.shape}",
                expected="() for one string, (k,) for k strings, (None,) for a variable number",
            )
        lengths = LengthBounds.checked(min_length, max_length, varies=None if self._fixed_list else "length")
        self._set(min_length=lengths.least, max_length=lengths.most)
        self._set(one_of=None if one_of is None else checked_strings(one_of, str if self.text else bytes))
        self._set_common(optional=optional, default=default, description=description)

    @cached_property
    def lengths(self) -> LengthBounds:
        """What the length of every row must keep to."""
        return LengthBounds(self.min_length, self.max_length)

    @cached_property
    def constrained(self) -> bool:
        """Whether values must keep to more than the type."""
        return self.lengths.any or self.one_of is not None

    @property
    def _fixed_list(self) -> bool:
        return bool(self.shape) and self.shape[0] is not None

    @property
    def _count(self) -> int | None:
        """The number of strings in a record; None if it varies."""
        return self.shape[0] if self.shape else 1

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the one stored feature that holds the strings."""
        default = None if self.default is None else self.value_to_canonical(self.default)
        if isinstance(default, list) and self._count == 1:
            default = default[0]
        return (PlanColumn(name, "bytes", self._count, None, self.presence, default),)

    def assemble(self, parts: Sequence[Parts]) -> ByteColumn | Ragged:
        """Return a ByteColumn, or a Ragged of them where a record holds several strings."""
        values, _, present, _ = parts[0]
        offsets = cast("Int64s", parts[0][1])  # the core gives them with every column of strings
        if not self.shape:
            return ByteColumn.unchecked(values, offsets, text=self.text, present=present)
        if self._count == 1:  # the core gives no second level of offsets for exactly one string
            counts = np.ones(len(offsets) - 1, np.int64) if present is None else present.astype(np.int64)
            strings = ByteColumn.unchecked(values, offsets, text=self.text)
            if present is not None:
                strings = strings[present]
            return Ragged.unchecked(strings, np.concatenate([[0], np.cumsum(counts)]), present=present)
        data, value_offsets = values
        strings = ByteColumn.unchecked(data, value_offsets, text=self.text)
        return Ragged.unchecked(strings, offsets, present=present)

    def row(self, column: Any, index: int) -> Any:
        """Return one row: a str or bytes, or a list of them; None if it is absent."""
        value = column[index]
        return value.to_list() if isinstance(value, ByteColumn) else value

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:  # noqa: ARG002 - strings are never cast
        """Return what the core writes for a column of strings; a list of bytes is passed on as it is."""
        if not self.shape:
            strings, present = one_string_a_row(values, text=self.text)
            check_rows(len(strings), rows)
            present = check_presence(present, optional=self.optional)
            if self.constrained:
                raise_first(self._single_violations(_as_column(strings, text=self.text), present))
            if isinstance(strings, list):
                return ((strings, None, present),)
            return ((strings.data, strings.offsets, present),)
        strings, offsets, present = several_strings_a_row(values, text=self.text, count=self._count)
        check_rows(len(offsets) - 1, rows)
        present = check_presence(present, optional=self.optional)
        if self.constrained:
            raise_first(self._list_violations(_as_column(strings, text=self.text), offsets, present))
        if self._count != 1:
            return (((strings.data, strings.offsets), offsets, present),)
        # One string a row, or none where the row is absent: its own offsets are all that the core takes.
        return ((strings.data, strings.offsets[offsets], present),)

    def violations(self, column: Any) -> list[Violation]:
        """List the rows of an assembled column that break a constraint."""
        if not self.constrained:
            return []
        if isinstance(column, ByteColumn):
            return self._single_violations(column, column.present)
        start = int(column.offsets[0])
        return self._list_violations(
            column.values[start : int(column.offsets[-1])], column.offsets - start, column.present
        )

    def _single_violations(self, strings: ByteColumn, present: Bools | None) -> list[Violation]:
        found = []
        if self.lengths.any:
            lengths = _characters(strings) if self.text else strings.lengths
            unit = "character" if self.text else "byte"
            found.extend(length_violations(lengths, self.lengths, present, unit))
        if self.one_of is not None:
            there = strings if present is None else strings[present]
            numbers = np.arange(len(strings)) if present is None else np.flatnonzero(present)
            found.extend(string_violations(there, frozenset(self.one_of), lambda positions: numbers[positions]))
        return sorted(found, key=lambda violation: violation.row)

    def _list_violations(self, strings: ByteColumn, offsets: Int64s, present: Bools | None) -> list[Violation]:
        found = length_violations(np.diff(offsets), self.lengths, present, "string")
        if self.one_of is not None:
            found.extend(
                string_violations(
                    strings,
                    frozenset(self.one_of),
                    lambda positions: np.searchsorted(offsets, positions, side="right") - 1,
                )
            )
        return sorted(found, key=lambda violation: violation.row)

    def _canonical(self, value: Any, *, cast: bool) -> bytes | list[bytes]:  # noqa: ARG002 - strings are never cast
        if not self.shape:
            strings, _ = one_string_a_row([value], text=self.text)
            if self.constrained:
                raise_first(self._single_violations(_as_column(strings, text=self.text), None))
            return bytes(strings[0])
        several, offsets, _ = several_strings_a_row([value], text=self.text, count=self._count)
        if self.constrained:
            raise_first(self._list_violations(_as_column(several, text=self.text), offsets, None))
        return [bytes(entry) for entry in ByteColumn.unchecked(several.data, several.offsets).to_list()]

    def _checked_default(self, default: Any) -> Any:
        canonical = self.value_to_canonical(default)
        if isinstance(canonical, bytes):
            return canonical.decode() if self.text else canonical
        return tuple(entry.decode() if self.text else entry for entry in canonical)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Text(StringFeature):
    """Text, stored as UTF-8.

    Args:
        shape: () for one string, (k,) for k strings, (None,) for a variable number.
        min_length: the minimum number of characters, or of strings if their number varies.
        max_length: the maximum number of them.
        one_of: the allowed strings.
        optional: records may lack it; absent rows are read as None.
        default: the value for records without it.
        description: a sentence for readers of the schema.

    >>> Text((None,), description="the words of the caption")
    Text((None,), description='the words of the caption')
    """

    type_name: ClassVar[str] = "text"

    @property
    def text(self) -> bool:
        """Whether the strings are text."""
        return True


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Bytes(StringFeature):
    """Byte strings, stored as they are.

    Args:
        shape: () for one string, (k,) for k strings, (None,) for a variable number.
        min_length: the minimum number of bytes, or of strings if their number varies.
        max_length: the maximum number of them.
        one_of: the allowed strings.
        optional: records may lack it; absent rows are read as None.
        default: the value for records without it.
        description: a sentence for readers of the schema.

    >>> Bytes(optional=True)
    Bytes(optional=True)
    """

    type_name: ClassVar[str] = "bytes"

    @property
    def text(self) -> bool:
        """Whether the strings are text."""
        return False

    def _setting_to_json(self, name: str) -> Any:
        if name not in ("default", "one_of"):
            return super()._setting_to_json(name)
        value = getattr(self, name)
        if isinstance(value, tuple):
            return [base64.b64encode(entry).decode() for entry in value]
        return base64.b64encode(value).decode()

    @classmethod
    def _setting_from_json(cls, name: str, value: Any, settings: Mapping[str, Any]) -> Any:
        if name not in ("default", "one_of"):
            return super()._setting_from_json(name, value, settings)
        try:
            if isinstance(value, list):
                return tuple(base64.b64decode(entry, validate=True) for entry in value)
            return base64.b64decode(value, validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise SchemaError(f"The setting {name!r} of a bytes feature must be base64.", found=value) from None


def _as_column(strings: list[bytes] | ByteColumn, *, text: bool) -> ByteColumn:
    if isinstance(strings, ByteColumn):
        return ByteColumn.unchecked(strings.data, strings.offsets, text=text)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    return ByteColumn.unchecked(np.frombuffer(b"".join(strings), np.uint8), offsets_of(lengths), text=text)


def _characters(column: ByteColumn) -> Int64s:
    """Count the characters of each row: those bytes that do not continue one."""
    starts = np.zeros(len(column.data) + 1, np.int64)
    np.cumsum((column.data & 0xC0) != 0x80, out=starts[1:])
    return np.diff(starts[column.offsets])
