"""Searches records in the background: which ones fit the filters, and in which order they are shown.

A search begins to answer with its first hits, and counts on. Numbers of records take 8 bytes each; past
`_MOST_NUMBERS` hits are counted and not kept. A dataset has at most a few searches at a time: the one that was used
longest ago is stopped.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.columns import ByteColumn
from recordsmith.columns.offset_column import OffsetColumn
from recordsmith.dataset.layout import DatasetLayout
from recordsmith.dataset.payload_reading import FileOverview
from recordsmith.dataset.row_decoding import decode_row
from recordsmith.dataset.stored import StoredDataset
from recordsmith.errors import RecordsmithError, did_you_mean, reason_of
from recordsmith.query.row_search import Condition, search_rows
from recordsmith.query.where import compile_where
from recordsmith.schema import Feature, Schema, Steps, Text
from recordsmith.viewer.data.finding_records import RecordFinder
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.selected_values import SelectedValues, selected_values
from recordsmith.viewer.data.state import ViewState
from recordsmith.workers.background import start_in_background

__all__ = ["Search", "TextSearch"]

_MOST_NUMBERS = 20_000_000
_FIRST_ROOM = 4096
_SORT_BATCH = 4096
_LENGTH = re.compile(r"len\((.*)\)", re.DOTALL)

Int64s = npt.NDArray[np.int64]


class _StoppedError(Exception):
    """Nobody waits for the search any more."""


class Search:
    """The records that a state selects, as far as they are found.

    Attributes:
        found: how many records fit so far.
        searched: how many records were looked at.
        done: all were.
        values: what the selected records contain; None until that is known.
        error: what is wrong with the filter; None while nothing is.
    """

    def __init__(
        self,
        dataset: OpenedDataset,
        state: ViewState,
        places: Sequence[int] | None = None,
        finder: RecordFinder | None = None,
    ) -> None:
        self._dataset = dataset
        self._state = state
        self._places = places  # the records that a finding names
        self._finder = finder  # or what finds them all
        self._numbers: Int64s = np.empty(_FIRST_ROOM, np.int64)
        self._kept = 0
        self._stopped = False
        self.found = 0
        self.searched = 0
        self.done = False
        self.error: RecordsmithError | None = None
        self.values: SelectedValues | None = None
        self.first_hits = threading.Event()
        self._all = not state.is_filtered and not state.sort
        if self._all:
            return
        try:
            self._condition = self._compiled()
            self._sort = self._sort_key()
        except RecordsmithError as error:
            self.error = error
            self.done = True
            self.first_hits.set()
            return
        start_in_background(self._run, name="recordsmith-view-search", stop=self.stop)

    @property
    def count(self) -> int:
        """How many records can be shown so far."""
        return self._dataset.records if self._all else self._kept

    @property
    def total(self) -> int:
        """How many records there are to search."""
        return self._dataset.records

    @property
    def is_done(self) -> bool:
        """Whether the count is final."""
        return self._dataset.indexed if self._all else self.done

    @property
    def stopped(self) -> bool:
        """Whether it ended before it was done."""
        return self._stopped

    def stop(self) -> None:
        """End the work in the background."""
        self._stopped = True

    def at(self, start: int, count: int, *, sample: int | None = None) -> list[int]:
        """Return the numbers of the records at some positions; in a random order, if there is a seed for it."""
        stop = min(self.count, start + count)
        positions = np.arange(max(0, start), max(0, stop), dtype=np.int64)
        if sample is not None and self.is_done and self.count > 1:
            positions = _core.Permutation(self.count, sample).at(positions)
        numbers: list[int] = (positions if self._all else self._numbers[positions]).tolist()
        return numbers

    def numbers(self, *, sample: int | None = None) -> Iterator[int]:
        """Return the numbers of all records that are known to fit, in the order in which they are shown."""
        for start in range(0, self.count, _FIRST_ROOM):
            yield from self.at(start, _FIRST_ROOM, sample=sample)

    # --- in the background ---

    def _run(self) -> None:
        try:
            if self._finder is not None:
                self._find(self._finder)
            elif self._condition is None and self._places is None:
                self._sort_all(np.arange(self._wait_for_index(), dtype=np.int64))
            elif self._condition is None:
                self._add(np.asarray(self._places, np.int64))
            else:
                self._search()
            if self._sort is not None and self._state.is_filtered:
                self._sort_all(self._numbers[: self._kept].copy())
        except _StoppedError:
            return
        except RecordsmithError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - whoever waits for the search must be told, whatever went wrong
            self.error = RecordsmithError(f"The search failed: {reason_of(error)}")
        self.done = True
        self.first_hits.set()
        if self.error is None and self._state.is_filtered:
            try:
                self.values = selected_values(self._dataset, self._numbers[: self._kept], self.found)
            except Exception:  # noqa: BLE001 - the bars then show all records, which is less, and not wrong
                self.values = SelectedValues(self.found, 0, {}, {})

    def _find(self, finder: RecordFinder) -> None:
        """Show records as they are found; where there are other conditions too, first find all."""
        self._wait_for_index()
        found: list[int] = []

        def on_searched(done: int) -> None:
            if self._stopped:
                raise _StoppedError
            self.searched = done
            if found and self._condition is None:
                self._add(np.asarray(found, np.int64))
                found.clear()

        for number in finder(self._dataset, on_searched):
            found.append(number)  # noqa: PERF402 - on_searched empties it meanwhile
        on_searched(self._dataset.records)
        if self._condition is not None:
            self._places = found
            self._search()

    def _search(self) -> None:
        assert self._condition is not None  # noqa: S101 - for the type checker
        dataset = self._dataset
        seen = 0
        wanted = None if self._places is None else set(self._places)
        while True:
            files = list(dataset.files)
            fresh = files[seen:]
            start = sum(file.records for file in files[:seen])
            if dataset.indexed or fresh:
                known = dataset.indexed
                self._search_files(fresh, start, wanted)
                seen = len(files)
                if known and len(dataset.files) == seen:
                    return
            else:
                self._pause()

    def _search_files(self, files: Sequence[FileOverview], start: int, wanted: set[int] | None) -> None:
        assert self._condition is not None  # noqa: S101 - for the type checker
        dataset = self._dataset
        pending: list[int] = []

        def on_searched(done: int) -> None:
            if self._stopped:
                raise _StoppedError
            self.searched = start + done
            if pending:
                self._add(start + np.asarray(pending, np.int64))
                pending.clear()

        decode = lambda stored: decode_row(stored, dataset.features, None, [])  # noqa: E731 - one line
        found = search_rows(
            files,
            self._condition,
            dataset.types,
            decode,
            on_searched=on_searched,
            payloads=dataset.payloads_of_damaged,
        )
        for number in found:
            if wanted is None or start + number in wanted:
                pending.append(number)  # noqa: PERF401 - on_searched empties it meanwhile
        on_searched(sum(file.records for file in files))

    def _add(self, numbers: Int64s) -> None:
        self.found += len(numbers)
        fitting = numbers[: max(0, _MOST_NUMBERS - self._kept)]
        end = self._kept + len(fitting)
        if end > len(self._numbers):
            larger = np.empty(max(end, 2 * len(self._numbers)), np.int64)
            larger[: self._kept] = self._numbers[: self._kept]
            self._numbers = larger
        self._numbers[self._kept : end] = fitting
        self._kept = end  # only now, because others read up to here
        if self._sort is None:
            self.first_hits.set()

    def _wait_for_index(self) -> int:
        while not self._dataset.indexed:
            self._pause()
        return min(self._dataset.records, _MOST_NUMBERS)

    def _pause(self) -> None:
        if self._stopped:
            raise _StoppedError
        threading.Event().wait(0.05)

    # --- what to look for ---

    def _compiled(self) -> Condition | None:
        types = self._dataset.types
        text = self._state.condition(types)
        parts: list[Condition] = []
        if self._state.where:
            compile_where(self._state.where, types)
        if text:
            parts.append(compile_where(text, types))
        if self._state.text:
            parts.append(TextSearch(self._state.text, types))
        return None if not parts else parts[0] if len(parts) == 1 else _Both(parts)

    def _sort_key(self) -> tuple[str, bool, bool] | None:
        """Return the feature to sort by, whether by length, and whether descending."""
        if not self._state.sort:
            return None
        name = self._state.sort.removeprefix("-")
        length = _LENGTH.fullmatch(name)
        name = length[1] if length is not None else name
        types = self._dataset.types
        if types.get(name) is None:
            raise RecordsmithError(f"There is no feature {name!r} to sort by.{did_you_mean(name, types)}")
        return name, length is not None, self._state.sort.startswith("-")

    def _sort_all(self, numbers: Int64s) -> None:
        assert self._sort is not None  # noqa: S101 - for the type checker
        name, by_length, descending = self._sort
        keys = np.concatenate(list(self._keys(name, by_length=by_length)) or [np.empty(0)])
        wanted = keys[numbers[numbers < len(keys)]]
        if descending:
            wanted = -wanted if wanted.dtype.kind == "f" else np.iinfo(wanted.dtype).max - wanted
        order = np.argsort(wanted, kind="stable")  # NaN, which stands for no value, is last
        self._numbers = numbers[order]
        self.found = self._kept = len(order)

    def _keys(self, name: str, *, by_length: bool) -> Iterator[npt.NDArray[Any]]:
        """Return what records are sorted by, file by file."""
        feature = self._dataset.types[name]
        self.searched = 0
        for file in self._dataset.files:
            done = 0
            if feature is not None and not isinstance(feature, Steps) and not file.damaged:
                schema = Schema({name: feature})
                try:
                    batches = StoredDataset(DatasetLayout((file.path,)), schema=schema).read_batches(_SORT_BATCH)
                    for batch, rows in batches:
                        if self._stopped:
                            raise _StoppedError
                        yield _keys_of(batch[name], rows, by_length=by_length)
                        done += rows
                        self.searched += rows
                except RecordsmithError:
                    pass  # records of another type: they come last
            if done < file.records:
                yield np.full(file.records - done, np.nan)
                self.searched += file.records - done


def _keys_of(column: Any, rows: int, *, by_length: bool) -> npt.NDArray[Any]:
    if by_length and isinstance(column, OffsetColumn):
        return np.asarray(column.lengths, np.float64)
    if isinstance(column, ByteColumn):
        return _first_bytes(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        values = np.ma.getdata(column).astype(np.float64)
        if isinstance(column, np.ma.MaskedArray):
            values[np.ma.getmaskarray(column)] = np.nan
        return values.reshape(rows, -1)[:, 0] if values.size else np.full(rows, np.nan)
    if isinstance(column, OffsetColumn):
        return np.asarray(column.lengths, np.float64)
    return np.full(rows, np.nan)


def _first_bytes(column: ByteColumn) -> npt.NDArray[np.float64]:
    """Return numbers in the order of the first six bytes of each text, which a float64 holds exactly."""
    keys = np.zeros(len(column), np.float64)
    for place in range(6):
        there = column.lengths > place
        keys *= 256
        keys[there] += column.data[column.offsets[:-1][there] + place]
    return keys


class TextSearch:
    """A condition: some text of a record contains these words, capitals of ASCII letters or not.

    >>> search = TextSearch("CAT", {"caption": Text()})
    >>> search.matches({"caption": "a black cat"}), search.matches({"caption": "a dog"})
    (True, False)
    """

    def __init__(self, text: str, types: Mapping[str, Feature | None]) -> None:
        self._text = text
        self._pattern = re.compile(re.escape(text.encode(errors="surrogateescape")), re.IGNORECASE)
        self.names = tuple(name for name, feature in types.items() if _may_contain_text(feature))
        if not self.names:
            raise RecordsmithError("No feature contains text to search.")

    def mask(self, columns: Mapping[str, Any], rows: int, /) -> npt.NDArray[np.bool_]:
        """Search whole columns."""
        found = np.zeros(rows, np.bool_)
        for name in self.names:
            column = columns.get(name)
            if isinstance(column, ByteColumn):
                found |= column.rows_with(self._text, any_case=True)
            elif column is not None:
                for row in range(rows):
                    found[row] |= self._contains(column[row])
        return found

    def matches(self, row: Mapping[str, Any], /) -> bool:
        """Search the values of one row."""
        return any(self._contains(row.get(name)) for name in self.names)

    def _contains(self, value: Any) -> bool:
        if isinstance(value, str):
            return self._pattern.search(value.encode(errors="surrogateescape")) is not None
        if isinstance(value, bytes):
            return self._pattern.search(value) is not None
        if isinstance(value, (list, tuple, OffsetColumn)) or (isinstance(value, np.ndarray) and value.dtype == object):
            return any(self._contains(one) for one in value)
        return False


def _may_contain_text(feature: Feature | None) -> bool:
    inner = feature.feature if isinstance(feature, Steps) else feature
    return isinstance(inner, Text)


class _Both:
    """Several conditions, all of which must hold."""

    def __init__(self, parts: Sequence[Condition]) -> None:
        self._parts = parts
        self.names = tuple(dict.fromkeys(name for part in parts for name in part.names))

    def mask(self, columns: Mapping[str, Any], rows: int, /) -> npt.NDArray[np.bool_]:
        found = np.ones(rows, np.bool_)
        for part in self._parts:
            found &= part.mask(columns, rows)
        return found

    def matches(self, row: Mapping[str, Any], /) -> bool:
        return all(part.matches(row) for part in self._parts)
