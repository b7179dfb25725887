"""From a chunk of a source to framed records: loading, the user's function, encoding, and what is remembered of rows.

This runs in the workers. What it returns depends on the chunk and the recipe alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.columns import ByteColumn, PackedColumn
from recordsmith.errors import EncodeError, RecordsmithError, did_you_mean, list_names
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.keyed_random import Uint64s
from recordsmith.making.labels.class_names import with_class_names
from recordsmith.making.labels.label_translation import Translations, translated
from recordsmith.records.row_writing import RowWriter
from recordsmith.run.encoded_chunk import Classes, EncodedChunk
from recordsmith.schema import Label, Schema
from recordsmith.schema.features.label import UnknownClassError
from recordsmith.schema.input.conversion import is_missing, understand_column
from recordsmith.schema.native import compile_plan

__all__ = ["ChunkEncoder", "MappedRows", "Recipe", "mapped_rows"]

_CHECKED_ROWS = 3  # of each chunk: decoded again and compared with what went in
_LONGEST_VALUE = 200
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

    def encode(self, chunk: Chunk) -> EncodedChunk:
        """Load a chunk and encode its rows; rows that do not fit the schema become rejects."""
        loaded = chunk.load()
        if self._recipe.strict and loaded.rejects:
            raise _as_error(loaded.rejects[0])
        if self._recipe.translations:
            loaded.columns = translated(loaded.columns, self._recipe.translations)
        rows = _Rows(loaded)
        if self._recipe.function is not None:
            rows = self._mapped(rows)
        return self._encoded(rows, chunk.source_bytes, len(loaded.rejects) + loaded.rows)

    def _mapped(self, rows: _Rows) -> _Rows:
        function = self._recipe.function
        mapped = _Rows(Loaded({}, 0, rows.places, rows.rejects))
        mapped.mappings = []
        for number, loaded in enumerate(rows.as_mappings()):
            row = with_class_names(loaded, self._recipe.labels)
            try:
                results = _row_list(function(row)) if function is not None else [row]
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

    def _encoded(self, rows: _Rows, source_bytes: int, source_rows: int) -> EncodedChunk:
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
        frames, offsets = sink.take()
        encoded = EncodedChunk(
            frames=frames,
            offsets=offsets,
            digests=_core.digest_frames(frames, offsets, list(self._recipe.ignored)),
            contents=self._contents(frames, offsets),
            classes=self._classes(self._recipe.label, frames, offsets),
            strata=Classes.none(0),
            groups=self._groups(rows, kept),
            rejects=rows.rejects,
            source_rows=source_rows,
            source_bytes=source_bytes,
            dropped=rows.dropped,
            unlabelled=len(unlabelled),
            unlabelled_places=unlabelled_places,
            left_out=left_out,
        )
        same = self._recipe.stratum == self._recipe.label
        encoded.strata = encoded.classes if same else self._classes(self._recipe.stratum, frames, offsets)
        self._check_sample(encoded, rows, kept)
        return encoded

    def _unlabelled(self, rows: _Rows) -> list[int]:
        """Return the places of the rows that have no label."""
        name = self._recipe.label
        if name is None or name not in self._schema:
            return []
        if not self._schema[name].optional and not self._recipe.drop_unlabelled:
            return []
        if rows.mappings is not None:
            return [place for place, row in enumerate(rows.mappings) if _is_nothing(row.get(name))]
        if name not in rows.columns:
            return list(range(rows.count))
        given, present = understand_column(rows.columns[name])
        if present is not None:
            return np.flatnonzero(~present).tolist()
        if isinstance(given, list):
            return [row for row, value in enumerate(given) if _is_nothing(value)]
        if isinstance(given, np.ndarray) and given.dtype.kind == "f":
            return np.flatnonzero(np.isnan(given)).tolist()
        return []

    def _contents(self, frames: Any, offsets: Any) -> Uint64s:
        """Return the digests by which rows are the same whatever their label is."""
        recipe = self._recipe
        ignored = {*recipe.ignored, *(() if recipe.label is None else (recipe.label,))}
        if ignored >= self._names:  # there is nothing but the label
            ignored = set(recipe.ignored)
        return _core.digest_frames(frames, offsets, sorted(ignored))

    def _append_columns(self, sink: _core.RecordSink, rows: _Rows) -> list[int] | None:
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
            if error.row is None:  # about the columns as such: every row would fail
                raise
            return self._append_singly(sink, rows)
        sink.append_columns(compile_plan(self._schema), parts, count)
        return None

    def _append_singly(self, sink: _core.RecordSink, rows: _Rows) -> list[int]:
        rows.mappings = rows.as_mappings()
        rows.origins = list(range(rows.count))
        return self._append_rows(sink, rows)

    def _append_rows(self, sink: _core.RecordSink, rows: _Rows) -> list[int]:
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

    def _stored_rows(self, rows: _Rows) -> list[tuple[int, dict[str, Any]]]:
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

    def _refuse(self, rows: _Rows, place: int, error: EncodeError) -> None:
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
            if _is_nothing(value):
                raise EncodeError("The group function gave no group.")
            return _group_key(value)
        if group not in row:
            raise EncodeError(f"The row has no {group!r} to group by.{did_you_mean(group, row)}", feature=group)
        if _is_nothing(row[group]):
            raise EncodeError(f"The row's {group!r}, by which rows are grouped, is missing.", feature=group)
        return _group_key(row[group])

    def _stored_part(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return what of a row is stored."""
        group = self._recipe.group
        if self._recipe.function is None:  # columns that are not in the schema are left out
            return {name: value for name, value in row.items() if name in self._names}
        if isinstance(group, str) and group not in self._names:
            return {name: value for name, value in row.items() if name != group}
        return row

    def _lacks_group(self, rows: _Rows, name: str) -> bool:
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
        return isinstance(given, list) and any(map(_is_nothing, given))

    def _groups(self, rows: _Rows, kept: list[int] | None) -> Uint64s | None:
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
        return np.array([_group_key(value) for value in values], np.uint64)

    def _classes(self, name: str | None, frames: Any, offsets: Any) -> Classes:
        rows = len(offsets) - 1
        if name is None or name not in self._schema or rows == 0:
            return Classes.none(rows)
        schema = self._schema.select([name])
        column = schema.assemble(_core.decode_frames(compile_plan(schema), frames, offsets))[name]
        if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "biuf":
            data = np.ma.getdata(column)
            there = ~np.ma.getmaskarray(column) & (data == data)  # noqa: PLR0124 - NaN is no class
            values, codes = np.unique(data[there], return_inverse=True)
            classes = Classes.none(rows)
            classes.values = values.tolist()
            classes.code_of[there] = codes
            return classes
        if not isinstance(column, ByteColumn):
            raise RecordsmithError(
                f"The feature {name!r} cannot be a class: a class is one number or one string.",
                feature=name,
                found=repr(self._schema[name]),
            )
        known: dict[str, int] = {}
        strings = (v.decode(errors="backslashreplace") if isinstance(v, bytes) else v for v in column.to_list())
        code_of = [-1 if v is None else known.setdefault(v, len(known)) for v in strings]
        return Classes(list(known), np.array(code_of, np.int32))

    def _check_sample(self, encoded: EncodedChunk, rows: _Rows, kept: list[int] | None) -> None:
        """Decode some records and hold them against what went in, by the way of single values."""
        count = encoded.rows
        sample = sorted({0, count // 2, count - 1})[:_CHECKED_ROWS] if count else []
        for number in sample:
            part = encoded.offsets[number : number + 2]
            decoded = self._schema.assemble(
                _core.decode_frames(compile_plan(self._schema), encoded.frames, np.ascontiguousarray(part))
            )
            place = number if kept is None else kept[number]
            given = rows.mapping(place)
            for name, feature in self._schema.items():
                stored = feature.row(decoded[name], 0)
                if not _same(feature, given.get(name), stored, cast=self._recipe.cast):
                    raise RecordsmithError(
                        "A record does not decode to what went into it. This is an error of recordsmith itself.",
                        path=rows.places.of(place if rows.mappings is None else rows.origins[place]),
                        feature=name,
                        found=_shown(stored),
                        expected=_shown(given.get(name)),
                        advice="Please report it, with the schema and the value.",
                    )


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


def mapped_rows(
    chunk: Chunk, function: Callable[[dict[str, Any]], Any], labels: Mapping[str, Label], limit: int
) -> MappedRows:
    """Return what a user's function makes of the first rows of a chunk, and the first exception that it raises."""
    found = MappedRows()
    rows = _Rows(chunk.load())
    found.looked_at = min(rows.count, limit)
    for number in range(found.looked_at):
        row = with_class_names(rows.mapping(number), labels)
        try:
            found.rows.extend(_row_list(function(row)))
        except Exception as error:  # noqa: BLE001 - such a row is rejected, with its reason, when its turn comes
            found.failed += 1
            found.raised = found.raised or (error, rows.places.of(number), list(row))
    return found


class _Rows:
    """The rows of a chunk on their way: columns as they were loaded, or mappings once they must be looked at singly."""

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
        return [self._loaded_row(number) for number in range(self.count)]

    def mapping(self, number: int) -> dict[str, Any]:
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
        value = None if error.found is None else _shown(error.found)
        reason = error.problem if error.expected is None else f"{error.problem} Expected: {error.expected}."
        if not isinstance(error, UnknownClassError) and error.advice:
            reason += f" {error.advice}"  # the nearest class is not searched for: there may be a million such rows
        self.rejects.append(Reject(self.places.of(number), None, error.feature, reason, value))

    def _loaded_row(self, number: int) -> dict[str, Any]:
        if self._understood is None:
            # A packed column is a sequence of rows and a mapping of columns: it is taken for the former here.
            self._understood = {
                name: understand_column(list(column) if isinstance(column, PackedColumn) else column)
                for name, column in self.columns.items()
            }
        return {
            name: None if present is not None and not present[number] else given[number]
            for name, (given, present) in self._understood.items()
        }


def _row_list(result: Any) -> list[dict[str, Any]]:
    if result is None:
        return []
    if isinstance(result, Mapping):
        return [dict(result)]
    if isinstance(result, Iterable) and not isinstance(result, (str, bytes)):
        rows = list(result)
        if all(isinstance(row, Mapping) for row in rows):
            return [dict(row) for row in rows]
    raise TypeError(f"it must return a mapping, a list of mappings or None, not {type(result).__name__}")


def _same(feature: Any, given: Any, stored: Any, *, cast: bool) -> bool:
    canonical = feature.value_to_canonical(given, cast=cast)
    if canonical is None:  # absent: reads as None or as the default
        expected = None if feature.default is None else feature.value_to_canonical(feature.default)
        return stored is None if expected is None else _equal(feature.value_to_canonical(stored), expected)
    return stored is not None and _equal(feature.value_to_canonical(stored), canonical)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other)


def _is_nothing(value: Any) -> bool:
    """Say whether a row has no group or no label: no value, or NaN, which is how tables with holes say it."""
    return is_missing(value) or (isinstance(value, (float, np.floating)) and value != value)  # noqa: PLR0124


def _group_key(value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value) & (2**64 - 1)
    text = value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _placed(error: EncodeError, place: str) -> EncodeError:
    error.row = None  # its number within the chunk says nothing to anybody
    return error.at(path=place)


def _as_error(reject: Reject) -> EncodeError:
    return EncodeError(reject.reason, path=reject.source, feature=reject.feature, found=reject.value)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."
