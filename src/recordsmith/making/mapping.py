"""The user's map function: what it makes of a row, and the schema of what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsmith.errors import EncodeError, RecordsmithError, list_names
from recordsmith.formats.source import Chunk
from recordsmith.making.chunk_rows import ChunkRows
from recordsmith.making.labels.class_names import with_class_names
from recordsmith.schema import Feature, Label, Schema

__all__ = ["MappedRows", "first_mapped_rows", "row_list", "schema_after_map", "why_no_row"]

_ROWS_TO_LOOK_AT = 100


def row_list(result: Any) -> list[dict[str, Any]]:
    """Return what a map function returned as rows: one, several, or none.

    >>> row_list({"n": 1}), row_list(None)
    ([{'n': 1}], [])
    """
    if result is None:
        return []
    if isinstance(result, Mapping):
        return [dict(result)]
    if isinstance(result, Iterable) and not isinstance(result, (str, bytes)):
        rows = list(result)
        if all(isinstance(row, Mapping) for row in rows):
            return [dict(row) for row in rows]
    raise TypeError(f"it must return a mapping, a list of mappings or None, not {type(result).__name__}")


@dataclass
class MappedRows:
    """What a user's function makes of some rows.

    Attributes:
        rows: what it returned.
        raised: the first exception, where that was, and the names that the row had.
        looked_at: how many rows it was given.
        failed: for how many of them it raised one.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    raised: tuple[Exception, str, list[str]] | None = None
    looked_at: int = 0
    failed: int = 0


def _mapped_rows(
    chunk: Chunk, function: Callable[[dict[str, Any]], Any], labels: Mapping[str, Label], limit: int
) -> MappedRows:
    """Return what a user's function makes of the first rows of a chunk, and the first exception that it raises."""
    found = MappedRows()
    rows = ChunkRows(chunk.load())
    found.looked_at = min(rows.count, limit)
    for number in range(found.looked_at):
        row = with_class_names(rows.mapping(number), labels)
        try:
            found.rows.extend(row_list(function(row)))
        except Exception as error:  # noqa: BLE001 - such a row is rejected, with its reason, when its turn comes
            found.failed += 1
            found.raised = found.raised or (error, rows.places.of(number), list(row))
    return found


def first_mapped_rows(
    chunks: Iterable[Chunk], function: Callable[[dict[str, Any]], Any], labels: Mapping[str, Label], *, needed: bool
) -> MappedRows:
    """Return what the user's function makes of the first rows.

    Args:
        chunks: the source's.
        function: the user's.
        labels: what it gets by name.
        needed: continue until there are rows; otherwise look only at the first ones.
    """
    found = MappedRows()
    for chunk in chunks:
        mapped = _mapped_rows(chunk, function, labels, _ROWS_TO_LOOK_AT - len(found.rows))
        found.rows.extend(mapped.rows)
        found.raised = found.raised or mapped.raised
        found.looked_at += mapped.looked_at
        found.failed += mapped.failed
        nothing = found.looked_at >= _ROWS_TO_LOOK_AT and (not needed or found.failed == found.looked_at)
        if len(found.rows) >= _ROWS_TO_LOOK_AT or nothing:
            break
    return found


def why_no_row(mapped: MappedRows) -> RecordsmithError:
    """Return the error for a function that gave no row."""
    if mapped.raised is None:
        return RecordsmithError(
            "The map function returned no row.",
            found=f"None for each of {mapped.looked_at} rows",
            advice="Look at the function, or give a schema.",
        )
    error, place, names = mapped.raised
    return RecordsmithError(
        f"The map function raised {type(error).__name__}: {error}",
        path=place,
        found=f"a row with {list_names(names)}",
        advice="Correct the function. Nothing has been written.",
    )


def schema_after_map(mapped: list[dict[str, Any]], before: Schema) -> Schema:
    """Infer a schema from what the user's function makes of the first rows."""
    from recordsmith.making.sources import rows

    inferred: Schema = rows(mapped).schema()
    return Schema({name: _kept(name, feature, before, mapped) for name, feature in inferred.items()})


def _kept(name: str, feature: Feature, before: Schema, rows: list[dict[str, Any]]) -> Feature:
    """Return the source's own feature where the values still fit it: a label stays a label, with its names."""
    if name not in before:
        return feature
    try:
        for row in rows:
            before[name].value_to_canonical(row.get(name))
    except EncodeError:
        return feature
    return before[name]
