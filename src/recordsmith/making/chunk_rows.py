"""The rows of a chunk while they are encoded."""

from __future__ import annotations

from typing import Any

from recordsmith.columns import PackedColumn
from recordsmith.errors import EncodeError, RecordsmithError
from recordsmith.formats.source import Loaded, Reject
from recordsmith.schema.features.label import UnknownClassError
from recordsmith.schema.input.conversion import understand_column

__all__ = ["ChunkRows", "shown"]

_LONGEST_VALUE = 200


class ChunkRows:
    """The rows of a chunk: columns as they were loaded, or mappings once each row is needed by itself."""

    def __init__(self, loaded: Loaded) -> None:
        self.columns = loaded.columns
        self.count = loaded.rows
        self.places = loaded.places
        self.rejects = list(loaded.rejects)
        self.mappings: list[dict[str, Any]] | None = None
        self.origins: list[int] = []  # which loaded row each mapping came from
        self.groups: dict[int, int] = {}  # the key of each mapping's group, where rows are grouped
        self.dropped = 0
        self._understood: dict[str, tuple[Any, Any]] | None = None

    def as_mappings(self) -> list[dict[str, Any]]:
        """Return the rows as they were loaded, as mappings."""
        return [self._loaded_row(number) for number in range(self.count)]

    def mapping(self, number: int) -> dict[str, Any]:
        """Return one row as it is now."""
        return self._loaded_row(number) if self.mappings is None else self.mappings[number]

    def place(self, number: int) -> str:
        """Say where a row comes from."""
        return self.places.of(number if self.mappings is None else self.origins[number])

    def leave_out(self, places: set[int]) -> None:
        """Leave some rows out, by their place; the others are mappings from now on."""
        if self.mappings is None:
            self.mappings, self.origins = self.as_mappings(), list(range(self.count))
        kept = [place for place in range(len(self.mappings)) if place not in places]
        self.mappings = [self.mappings[place] for place in kept]
        self.origins = [self.origins[place] for place in kept]

    def reject(self, number: int, error: RecordsmithError) -> None:
        """Note that a loaded row is left out, and why."""
        value = None if error.found is None else shown(error.found)
        reason = error.problem if error.expected is None else f"{error.problem} Expected: {error.expected}."
        if not isinstance(error, UnknownClassError) and error.advice:
            reason += f" {error.advice}"  # the nearest class is not searched for: there may be a million such rows
        self.rejects.append(Reject(self.places.of(number), None, error.feature, reason, value))

    def _loaded_row(self, number: int) -> dict[str, Any]:
        if self._understood is None:
            self._understood = {name: _understood(column) for name, column in self.columns.items()}
        return {
            name: None if present is not None and not present[number] else given[number]
            for name, (given, present) in self._understood.items()
        }


def _understood(column: Any) -> tuple[Any, Any]:
    """Return the values of a column, and which rows are present; rows with gaps are lists with None."""
    # A packed column is a sequence of rows and a mapping of columns: it is taken for the former here.
    given: Any = list(column) if isinstance(column, PackedColumn) else column
    try:
        return understand_column(given)
    except EncodeError as error:
        if error.row is None or not hasattr(given, "to_pylist"):
            raise
    values = given.to_pylist()
    whole = [row for row, value in enumerate(values) if not _has_gap(value)]
    found, present = understand_column(given.take(whole))
    for place, row in enumerate(whole):
        values[row] = None if present is not None and not present[place] else found[place]
    return values, None


def _has_gap(value: Any) -> bool:
    return isinstance(value, list) and any(entry is None or _has_gap(entry) for entry in value)


def shown(value: Any) -> str:
    """Return a value as a message shows it, shortened."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."
