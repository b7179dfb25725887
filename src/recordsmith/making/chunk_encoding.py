"""From a chunk of a source to framed records: loading, the user's function, encoding, and what is remembered of rows.

This runs in the workers. What it returns depends on the chunk and the recipe alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.columns import ByteColumn
from recordsmith.errors import EncodeError, RecordsmithError, did_you_mean, list_names
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.keyed_random import Uint64s
from recordsmith.making.chunk_rows import ChunkRows
from recordsmith.making.labels.class_names import with_class_names
from recordsmith.making.labels.label_translation import Translations, translated
from recordsmith.making.mapping import row_list
from recordsmith.making.round_trip_check import check_round_trip
from recordsmith.records.row_writing import RowWriter
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.record_facts import RecordFacts, group_key, has_no_value
from recordsmith.schema import Label, Schema
from recordsmith.schema.input.conversion import understand_column
from recordsmith.schema.native import compile_plan

__all__ = ["ChunkEncoder", "Recipe"]

_SHOWN_PLACES = 3
_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Recipe:
    """What is done to every chunk.

    Attributes:
        schema: what the records hold.
        function: the user's own, from a row to a row, to several rows, or to None for no row.
        label: the feature whose values are counted by class.
        stratum: the feature whose classes are to have the same shares in every split.
        labels: the labels of the source, which functions get by name.
        group: the column whose equal values stay in one split, which the schema need not have; or a function of a row.
        translations: class numbers of the source in the schema's numbering.
        ignored: features that do not count when rows are compared for being identical.
        cast: casts may lose information.
        strict: the first bad row is an error and not a reject.
        drop_unlabelled: rows without a label are left out.
    """

    schema: Schema
    function: Callable[[dict[str, Any]], Any] | None = None
    label: str | None = None
    stratum: str | None = None
    labels: Mapping[str, Label] = field(default_factory=dict)
    group: str | Callable[[dict[str, Any]], Any] | None = None
    translations: Translations = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    cast: bool = False
    strict: bool = False
    drop_unlabelled: bool = False


class ChunkEncoder:
    """Encodes chunks by one recipe."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._schema = recipe.schema
        self._names = set(recipe.schema)
        self._facts = RecordFacts(recipe.schema, recipe.label, recipe.stratum, recipe.ignored)

    def __reduce__(self) -> tuple[Any, ...]:
        return ChunkEncoder, (self._recipe,)

    def encode(self, chunk: Chunk) -> EncodedChunk:
        """Load a chunk and encode its rows; rows that do not fit the schema become rejects."""
        loaded = chunk.load()
        if self._recipe.strict and loaded.rejects:
            raise _as_error(loaded.rejects[0])
        if self._recipe.translations:
            loaded.columns = translated(loaded.columns, self._recipe.translations)
        rows = ChunkRows(loaded)
        if self._recipe.function is not None:
            rows = self._mapped(rows)
        return self._encoded(rows, chunk.source_bytes, len(loaded.rejects) + loaded.rows)

    def _mapped(self, rows: ChunkRows) -> ChunkRows:
        function = self._recipe.function
        mapped = ChunkRows(Loaded({}, 0, rows.places, rows.rejects))
        mapped.mappings = []
        for number, loaded in enumerate(rows.as_mappings()):
            row = with_class_names(loaded, self._recipe.labels)
            try:
                results = row_list(function(row)) if function is not None else [row]
            except (Exception, SystemExit) as error:  # whatever the user's function does wrong is about this row
                if self._recipe.strict:
                    error.add_note(f"It was raised by the map function, for {rows.places.of(number)}.")
                    error.is_of_users_function = True  # type: ignore[union-attr] # the command has no fault then
                    raise
                reason = f"The map function raised {type(error).__name__}: {error}"
                mapped.reject(number, EncodeError(reason))
                continue
            mapped.dropped += not results
            for result in results:
                mapped.mappings.append(result)
                mapped.origins.append(number)
        return mapped

    def _encoded(self, rows: ChunkRows, source_bytes: int, source_rows: int) -> EncodedChunk:
        sink = _core.RecordSink()
        unlabelled = self._unlabelled(rows)
        unlabelled_places = tuple(rows.place(row) for row in unlabelled[:_SHOWN_PLACES])
        if self._recipe.drop_unlabelled and unlabelled:
            rows.leave_out(set(unlabelled))
        left_out: tuple[str, ...] = ()
        if rows.mappings is None:
            left_out = tuple(name for name in rows.columns if name not in self._names and name != self._recipe.group)
            kept = self._append_columns(sink, rows)
        else:
            kept = self._append_rows(sink, rows)
        encoded = self._facts.chunk_of(*sink.take(), self._groups(rows, kept), rows.rejects)
        encoded.source_rows, encoded.source_bytes, encoded.dropped = source_rows, source_bytes, rows.dropped
        encoded.unlabelled, encoded.unlabelled_places = len(unlabelled), unlabelled_places
        encoded.left_out = left_out
        check_round_trip(self._schema, encoded, rows, kept, cast=self._recipe.cast)
        return encoded

    def _unlabelled(self, rows: ChunkRows) -> list[int]:
        """Return the places of the rows that have no label."""
        name = self._recipe.label
        if name is None or name not in self._schema:
            return []
        if not self._schema[name].optional and not self._recipe.drop_unlabelled:
            return []
        if rows.mappings is not None:
            return [place for place, row in enumerate(rows.mappings) if has_no_value(row.get(name))]
        if name not in rows.columns:
            return list(range(rows.count))
        given, present = understand_column(rows.columns[name])
        if present is not None:
            return np.flatnonzero(~present).tolist()
        if isinstance(given, list):
            return [row for row, value in enumerate(given) if has_no_value(value)]
        if isinstance(given, np.ndarray) and given.dtype.kind == "f":
            return np.flatnonzero(np.isnan(given)).tolist()
        return []

    def _append_columns(self, sink: _core.RecordSink, rows: ChunkRows) -> list[int] | None:
        """Append all rows in one call; None for the kept ones means all of them."""
        columns = {name: column for name, column in rows.columns.items() if name in self._names}
        if rows.count == 0:
            return None
        group = self._recipe.group
        if group is not None and (not isinstance(group, str) or self._lacks_group(rows, group)):
            return self._append_singly(sink, rows)
        try:
            count, parts = self._schema.columns_to_parts(columns, cast=self._recipe.cast)
        except EncodeError as error:
            if error.row is None:  # about a whole column: every row would fail
                raise
            return self._append_singly(sink, rows)
        sink.append_columns(compile_plan(self._schema), parts, count)
        return None

    def _append_singly(self, sink: _core.RecordSink, rows: ChunkRows) -> list[int]:
        rows.mappings = rows.as_mappings()
        rows.origins = list(range(rows.count))
        return self._append_rows(sink, rows)

    def _append_rows(self, sink: _core.RecordSink, rows: ChunkRows) -> list[int]:
        """Append rows one by one, and return which of them were kept."""
        waiting = self._stored_rows(rows)
        writer = RowWriter(self._schema, cast=self._recipe.cast)
        kept: list[int] = []
        at, at_once = 0, _ROWS_AT_ONCE
        while at < len(waiting):
            some = waiting[at : at + at_once]
            before = sink.records
            try:
                writer.append(sink, [row for _, row in some], 0)
            except EncodeError as error:
                good = sink.records - before  # the row after them is the bad one
                self._refuse(rows, some[good][0], error)
                at += good + 1
                at_once = 1  # more may follow, and each is found by going through those that are given with it
            else:
                good = len(some)
                at += good
                at_once = min(2 * at_once, _ROWS_AT_ONCE)
            kept.extend(place for place, _ in some[:good])
        return kept

    def _stored_rows(self, rows: ChunkRows) -> list[tuple[int, dict[str, Any]]]:
        """Return what of each row is stored, with its place; rows without a group are refused."""
        stored = []
        for place, row in enumerate(rows.mappings or []):
            try:
                if self._recipe.group is not None:
                    rows.groups[place] = self._group_of(row, self._recipe.group)
                stored.append((place, self._stored_part(row)))
            except EncodeError as error:
                self._refuse(rows, place, error)
        return stored

    def _refuse(self, rows: ChunkRows, place: int, error: EncodeError) -> None:
        if self._recipe.strict:
            raise _placed(error, rows.places.of(rows.origins[place])) from None
        rows.reject(rows.origins[place], error)

    def _group_of(self, row: dict[str, Any], group: str | Callable[[dict[str, Any]], Any]) -> int:
        """Return the key of a row's group, or refuse a row that has none."""
        if not isinstance(group, str):
            labels = self._recipe.labels if self._recipe.function is None else {}
            try:
                value = group(with_class_names(row, labels))
            except Exception as error:
                raise EncodeError(f"The group function raised {type(error).__name__}: {error}") from error
            if has_no_value(value):
                raise EncodeError("The group function returned no group.")
            return group_key(value)
        if group not in row:
            raise EncodeError(f"The row has no {group!r} to group by.{did_you_mean(group, row)}", feature=group)
        if has_no_value(row[group]):
            raise EncodeError(f"The row's {group!r}, by which rows are grouped, is missing.", feature=group)
        return group_key(row[group])

    def _stored_part(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return what of a row is stored."""
        group = self._recipe.group
        if self._recipe.function is None:  # columns that are not in the schema are left out
            return {name: value for name, value in row.items() if name in self._names}
        if isinstance(group, str) and group not in self._names:
            return {name: value for name, value in row.items() if name != group}
        return row

    def _lacks_group(self, rows: ChunkRows, name: str) -> bool:
        if name not in rows.columns:
            raise RecordsmithError(
                f"There is no column {name!r} to group by.{did_you_mean(name, rows.columns)}",
                expected=list_names(rows.columns),
            )
        given, present = understand_column(rows.columns[name])
        if present is not None and not present.all():
            return True
        if isinstance(given, np.ndarray):
            return given.dtype.kind == "f" and bool(np.isnan(given).any())
        return isinstance(given, list) and any(map(has_no_value, given))

    def _groups(self, rows: ChunkRows, kept: list[int] | None) -> Uint64s | None:
        name = self._recipe.group
        if name is None:
            return None
        if rows.mappings is not None:
            return np.array([rows.groups[place] for place in kept or ()], np.uint64)
        if rows.count == 0 or not isinstance(name, str):
            return np.empty(0, np.uint64)
        given, _ = understand_column(rows.columns[name])
        if isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iu":
            return given.astype(np.uint64)
        values = given.to_list() if isinstance(given, ByteColumn) else list(given)
        return np.array([group_key(value) for value in values], np.uint64)


def _placed(error: EncodeError, place: str) -> EncodeError:
    error.row = None  # its number within the chunk says nothing to anybody
    return error.at(path=place)


def _as_error(reject: Reject) -> EncodeError:
    return EncodeError(reject.reason, path=reject.source, feature=reject.feature, found=reject.value)
