"""Shows a dataset and a loader in a notebook.

A notebook shows what stands in the last line of a cell, also if nobody wanted to wait for it. So only local data of a
moderate size is read for it, and a loader makes one batch by itself: its consumer's place does not move, and nothing is
counted as skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

from recordsmith.columns.notebook_view import set_notebook_view
from recordsmith.dataset import StoredDataset
from recordsmith.display.columns import column_table, first_values, kind_text
from recordsmith.display.tables import note, table
from recordsmith.display.values import value_markup
from recordsmith.errors import RecordsmithError
from recordsmith.loader.engine.feeding import UnknownLengthError, feed
from recordsmith.loader.order.labels import class_counts
from recordsmith.loader.session import Session
from recordsmith.loader.skipping import Skipped
from recordsmith.loader.state import shown_verb
from recordsmith.schema import Label
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.wording.markup import Child, Markup, element, joined
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["dataset_html", "loader_html"]

_MOST_BYTES = 1 << 30  # of the files, to read some of their rows
_MOST_COUNTED = 100_000  # records, to count their classes
_ROWS = 4
_CLASSES = 20
_FEATURES = 12

set_notebook_view(column_table)


def dataset_html(dataset: StoredDataset) -> Markup:
    """Return what a dataset is: how many records, its features, its classes and its first rows."""
    return element("div", list(_dataset_parts(dataset)))


def loader_html(session: Session, name: str) -> Markup:
    """Return what a loader is: its chain, how many batches, and what is in one."""
    chain = [[element("br"), Markup("&emsp;"), f".{shown_verb(verb)}"] for verb in session.plan.verbs]
    return element("div", element("p", element("code", name, chain)), list(_loader_parts(session)))


def _dataset_parts(dataset: StoredDataset) -> Iterator[Child]:
    yield element("p", element("code", repr(dataset)))
    if any(map(is_ranged, dataset.files)):
        yield Markup(dataset.schema._repr_html_())
        return
    try:
        size, files = sum(map(os.path.getsize, dataset.files)), count_text(len(dataset.files), "file")
        yield Markup(dataset.schema._repr_html_())
        if size > _MOST_BYTES:
            yield note(f"{bytes_text(size)} in {files}; ds[:4] reads the first rows.")
            return
        splits = f"; {', '.join(clipped(split, 60) for split in dataset.splits)}" if dataset.splits else ""
        yield note(f"{count_text(len(dataset), 'record')}, {bytes_text(size)} in {files}{splits}")
        yield _classes(dataset)
        yield _rows(dataset)
    except (RecordsmithError, OSError) as error:
        yield note(str(error))


def _classes(dataset: StoredDataset) -> Child:
    labels = {name: feature for name, feature in dataset.schema.items() if isinstance(feature, Label)}
    shown: list[Child] = []
    for name, feature in islice(labels.items(), 2):
        is_counted = feature.presence == "required" and len(dataset) <= _MOST_COUNTED
        counts = class_counts(dataset, name) if is_counted else {}
        more = f", … {feature.size - _CLASSES:,} more" if feature.size > _CLASSES else ""
        entries = [
            clipped(one, 60) + (f" {counts.get(number, 0):,}" if counts else "")
            for number, one in enumerate(feature.names[:_CLASSES])
        ]
        shown.append(note(element("b", clipped(name, 60)), ": ", ", ".join(entries), more))
    return shown


def _rows(dataset: StoredDataset) -> Child:
    names = list(dataset.schema)[:_FEATURES]
    rows = [
        [str(number), *(_value(dataset, name, row.get(name)) for name in names)]
        for number, row in enumerate(dataset[:_ROWS])
    ]
    return table(["", *(clipped(name, 60) for name in names)], rows) if rows else note("There are no records.")


def _value(dataset: StoredDataset, name: str, value: Any) -> Child:
    feature = dataset.schema[name]
    if isinstance(feature, Label) and value is not None and 0 <= int(value) < feature.size:
        return [clipped(feature.names[int(value)], 60), element("small", f" ({int(value)})")]
    return value_markup(value)


def _loader_parts(session: Session) -> Iterator[Child]:
    plan = session.plan
    if plan.batching is None:
        return
    try:
        yield note(f"Batches in an iteration: {len(session):,}")
    except UnknownLengthError:
        yield note("The number of batches is not known in advance.")
    preview = replace(plan, workers=0, skipped=None if plan.skipped is None else Skipped())
    try:
        with closing(feed(preview, session.upcoming())) as batches:  # type: ignore[type-var] # it is a generator
            batch = next(batches, (None,))[0]
    except Exception as error:  # noqa: BLE001 - also what a function of the user's raises
        yield note(f"No batch could be made: {clipped(str(error), 400)}")
        return
    yield table(["the next batch", "kind", "first values"], _columns(batch)) if batch is not None else note("No batch.")


def _columns(batch: Any, name: str = "") -> Iterator[list[Child]]:
    """Give a line for each column of a batch, which may be a mapping or a tuple of these."""
    if isinstance(batch, Mapping):
        for key, column in batch.items():
            yield from _columns(column, f"{name}{' · ' if name else ''}{clipped(str(key), 60)}")
    elif isinstance(batch, tuple) and len(batch) in (2, 3):
        for part, column in zip(("inputs", "target", "weight"), batch, strict=False):
            yield from _columns(column, part)
    else:
        values = first_values(batch)
        shown = [[one, element("br") if row + 1 < len(values) else None] for row, one in enumerate(values)]
        yield [name, element("code", kind_text(batch)), joined(shown)]
