"""Finds the records that match a condition, without keeping the others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from recordsmith.dataset.layout import DatasetLayout
from recordsmith.dataset.payload_reading import FileOverview, StoredPayload
from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.dataset.stored import StoredDataset
from recordsmith.errors import PipelineError, RecordsmithError
from recordsmith.records.reader import RecordReader
from recordsmith.schema import Feature, Schema, Steps

__all__ = ["Condition", "search_rows"]

_BATCH = 1024


class Condition(Protocol):
    """What records are searched for, such as a compiled `--where`."""

    @property
    def names(self) -> Sequence[str]:
        """The features that it looks at."""

    def mask(self, columns: Mapping[str, Any], rows: int, /) -> npt.NDArray[np.bool_]:
        """Say for each row of a batch whether it holds."""

    def matches(self, row: Mapping[str, Any], /) -> bool:
        """Say whether it holds for a row."""


def search_rows(
    files: Sequence[FileOverview],
    where: Condition,
    features: Mapping[str, Feature | None],
    decode: Callable[[StoredPayload], RowOverview],
    *,
    on_searched: Callable[[int], object] = lambda _: None,
    payloads: Callable[[FileOverview], Iterable[bytes]] | None = None,
) -> Iterator[int]:
    """Return the numbers of the records that fit, in order.

    Whole columns are looked at where the types allow it; a file whose records do not all have these types, or that is
    damaged, is gone through record by record. What cannot be decoded does not fit.

    Args:
        files: where to look.
        where: the condition.
        features: the types of the features, None where records disagree.
        decode: turns a payload into a row, where that has to be done singly.
        on_searched: called now and then with the number of records that were looked at.
        payloads: reads the records of a damaged file; None reads those before the damage.
    """
    schema = _columns(where, features)
    start = 0
    for file in files:
        if file.records:
            report = partial(_report, on_searched, start)
            yield from (start + number for number in _in_file(file, where, schema, decode, report, payloads))
        start += file.records
        on_searched(start)


def _report(on_searched: Callable[[int], object], first: int, done: int) -> None:
    on_searched(first + done)


def _columns(where: Condition, features: Mapping[str, Feature | None]) -> Schema | None:
    """The schema of the features that the condition needs; None where columns cannot be had."""
    known = {name: features.get(name) for name in where.names}
    if not known or any(feature is None or isinstance(feature, Steps) for feature in known.values()):
        return None
    return Schema({name: feature for name, feature in known.items() if feature is not None})


def _in_file(
    file: FileOverview,
    where: Condition,
    schema: Schema | None,
    decode: Callable[[StoredPayload], RowOverview],
    on_searched: Callable[[int], object],
    payloads: Callable[[FileOverview], Iterable[bytes]] | None,
) -> Iterator[int]:
    done = 0  # records that columns have answered for
    if schema is not None and not file.damaged:
        try:
            for batch, rows in StoredDataset(DatasetLayout((file.path,)), schema=schema).read_batches(_BATCH):
                matches = np.flatnonzero(where.mask(batch, rows)).tolist()
                yield from (done + number for number in matches)
                done += rows
                on_searched(done)
        except PipelineError:
            raise  # the condition itself is at fault
        except RecordsmithError:
            pass  # a record of another shape: continue one by one
        else:
            return
    with contextlib.ExitStack() as stack:
        singly = (
            payloads(file) if file.damaged and payloads is not None else stack.enter_context(RecordReader(file.path))
        )
        for number, payload in zip(range(file.records), singly, strict=False):
            if number % _BATCH == 0:
                on_searched(number)
            if number >= done:
                row = decode(StoredPayload(number, file.path, number, payload))
                if row.features is not None and _fits(
                    {**row.features, **(row.steps or {})}, where, typed=schema is not None
                ):
                    yield number


def _fits(values: dict[str, Any], where: Condition, *, typed: bool) -> bool:
    try:
        return where.matches(values)
    except PipelineError:
        if not typed:
            raise
        return False  # the condition holds for the types that were promised, and this record has others
