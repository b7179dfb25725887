"""What images and sounds have in common: one encoded file per record, stored unchanged and read as its bytes."""

from __future__ import annotations

import base64
import binascii
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from recordsmith.columns import ByteColumn
from recordsmith.errors import EncodeError, SchemaError
from recordsmith.schema.features.constraints import Violation
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.strings import Bytes

if TYPE_CHECKING:
    from recordsmith.schema.plan import ColumnParts, Parts, PlanColumn

__all__ = ["EncodedFeature"]

_BYTES = {optional: Bytes(optional=optional) for optional in (False, True)}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class EncodedFeature(Feature):
    """One encoded file per record.

    Attributes:
        medium: what one value is called in messages.
    """

    medium: ClassVar[str]

    @abstractmethod
    def mismatch(self, data: bytes) -> tuple[str, str] | None:
        """Say what a value's header shows against the declaration: (found, expected); None if it agrees."""

    @abstractmethod
    def _encoded(self, values: Any, *, cast: bool) -> Any:
        """Return a column of values of any kind as encoded bytes, with None for absent rows."""

    def plan(self, name: str) -> tuple[PlanColumn, ...]:
        """Return the one stored feature that holds the encoded bytes."""
        return Bytes(optional=self.optional, default=self.default).plan(name)

    def assemble(self, parts: Sequence[Parts]) -> ByteColumn:
        """Return a ByteColumn of encoded values."""
        column = _BYTES[self.optional].assemble(parts)
        assert isinstance(column, ByteColumn)  # noqa: S101 - for the type checker: one string a row
        return column

    def row(self, column: Any, index: int) -> Any:
        """Return the bytes of one row; None if it is absent."""
        return column[index]

    def column_to_parts(self, values: Any, rows: int | None = None, *, cast: bool = False) -> tuple[ColumnParts, ...]:
        """Return what the core writes for a column; a list of bytes is passed on as it is."""
        parts = _BYTES[self.optional].column_to_parts(self._encoded(values, cast=cast), rows)
        stored, offsets, present = parts[0][:3]
        strings = stored if offsets is None else ByteColumn.unchecked(stored, offsets)
        for row, data in enumerate(strings):
            wrong = self.mismatch(data) if present is None or present[row] else None
            if wrong is not None:
                raise EncodeError(
                    f"The {self.medium} does not match the declared feature.",
                    row=row,
                    found=wrong[0],
                    expected=wrong[1],
                    advice=f"Convert the {self.medium}, or change the feature so that it matches all of them.",
                )
        return parts

    def violations(self, column: Any) -> list[Violation]:
        """List the rows of a column whose headers disagree with the declaration."""
        found = ((row, None if data is None else self.mismatch(data)) for row, data in enumerate(column))
        return [Violation(row, self.type_name, *wrong) for row, wrong in found if wrong is not None]

    def _canonical(self, value: Any, *, cast: bool) -> bytes:
        strings, _, _ = self.column_to_parts([value], 1, cast=cast)[0][:3]
        return bytes(strings[0])

    def _checked_default(self, default: Any) -> Any:
        return self.value_to_canonical(default)

    def _setting_to_json(self, name: str) -> Any:
        return base64.b64encode(self.default).decode() if name == "default" else super()._setting_to_json(name)

    @classmethod
    def _setting_from_json(cls, name: str, value: Any, settings: Mapping[str, Any]) -> Any:
        if name != "default":
            return super()._setting_from_json(name, value, settings)
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise SchemaError(f"The default of an {cls.medium} feature must be base64.", found=value) from None
