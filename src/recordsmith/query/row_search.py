"""Finds the records that match a condition, without keeping the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from recordsmith.dataset.layout import DatasetLayout
from recordsmith.dataset.payload_reading import FileOverview, StoredPayload
from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.dataset.stored import StoredDataset
from recordsmith.errors import PipelineError, RecordsmithError
from recordsmith.query.where import Where
from recordsmith.records.reader import RecordReader
from recordsmith.schema import Feature, Schema, Steps

__all__ = ["search_rows"]

_BATCH = 1024


def search_rows(
    files: Sequence[FileOverview],
    where: Where,
    features: Mapping[str, Feature | None],
    decode: Callable[[StoredPayload], RowOverview],
) -> Iterator[int]:
    """Return the numbers of the records that fit, in order.

    Whole columns are looked at where the types allow it; a file whose records do not all have these types, or that is
    damaged, is gone through record by record. What cannot be decoded does not fit.

    Args:
        files: where to look.
        where: the condition.
        features: the types of the features, None where records disagree.
        decode: turns a payload into a row, where that has to be done singly.
    """
    schema = _columns(where, features)
    start = 0
    for file in files:
        if file.records:
            yield from (start + number for number in _in_file(file, where, schema, decode))
        start += file.records


def _columns(where: Where, features: Mapping[str, Feature | None]) -> Schema | None:
    """The schema of the features that the condition needs; None where columns cannot be had."""
    known = {name: features.get(name) for name in where.names}
    if not known or any(feature is None or isinstance(feature, Steps) for feature in known.values()):
        return None
    return Schema({name: feature for name, feature in known.items() if feature is not None})


def _in_file(
    file: FileOverview, where: Where, schema: Schema | None, decode: Callable[[StoredPayload], RowOverview]
) -> Iterator[int]:
    done = 0  # records that columns have answered for
    if schema is not None and not file.damaged:
        try:
            for batch, rows in StoredDataset(DatasetLayout((file.path,)), schema=schema).read_batches(_BATCH):
                matches = np.flatnonzero(where.mask(batch, rows)).tolist()
                yield from (done + number for number in matches)
                done += rows
        except PipelineError:
            raise  # the condition itself is at fault
        except RecordsmithError:
            pass  # a record of another shape: continue one by one
        else:
            return
    with RecordReader(file.path) as reader:
        for number, payload in zip(range(file.records), reader, strict=False):
            if number >= done:
                row = decode(StoredPayload(number, file.path, number, payload))
                if row.features is not None and _fits(
                    {**row.features, **(row.steps or {})}, where, typed=schema is not None
                ):
                    yield number


def _fits(values: dict[str, Any], where: Where, *, typed: bool) -> bool:
    try:
        return where.matches(values)
    except PipelineError:
        if not typed:
            raise
        return False  # the condition holds for the types that were promised, and this record has others
