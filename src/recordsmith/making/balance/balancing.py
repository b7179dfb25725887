"""How often each row of the training split is written, and the rows that a sampler makes up."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.keyed_random import Uint64s, priorities, stream_key
from recordsmith.making.balance.sampling import find_sampler, needs_columns, resample, target_counts
from recordsmith.run.splits.external_sort import sorted_blocks
from recordsmith.run.staging.encoded_chunk import Classes, EncodedChunk
from recordsmith.run.staging.staging import Staging
from recordsmith.schema import Feature, Label, Schema
from recordsmith.schema.native import compile_plan
from recordsmith.wording.numbers import count_text

__all__ = ["Balance", "balance_training", "check_balance"]

Int64s = npt.NDArray[np.int64]
InTraining = Callable[[int, int], npt.NDArray[np.bool_]]
"""Which of the staged rows from one number up to another are in the training split."""


class Balance(ABC):
    """Which of the staged rows are written how often.

    Attributes:
        total: how many records that makes.
    """

    total: int

    @abstractmethod
    def chosen(self, first: int, last: int) -> Int64s:
        """Return how often each of the staged rows from `first` up to `last` is written."""


class _StoredCopies(Balance):
    """Numbers of copies kept in a file, four bytes a staged row."""

    def __init__(self, path: str, rows: int) -> None:
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, 4 * rows))
        self.copies = np.memmap(path, np.int32, "r+", shape=(rows,))
        self.total = 0

    def chosen(self, first: int, last: int) -> Int64s:
        return np.asarray(self.copies[first:last]).astype(np.int64)


class _ChosenRows(Balance):
    """Numbers of copies of the training rows, which a sampler chose and held in memory anyway."""

    def __init__(self, rows: Int64s, copies: Int64s) -> None:
        self._rows, self._copies = rows, copies
        self.total = int(copies.sum())

    def chosen(self, first: int, last: int) -> Int64s:
        start, stop = np.searchsorted(self._rows, [first, last])
        result = np.zeros(last - first, np.int64)
        result[self._rows[start:stop] - first] = self._copies[start:stop]
        return result


def balance_training(
    staging: Staging,
    schema: Schema,
    in_training: InTraining,
    *,
    label: str,
    strategy: Any,
    seed: int,
    class_names: list[str],
) -> Balance:
    """Balance the training split by a strategy of `rs.make`; a sampler that makes up rows adds them to the staging."""
    counts = _class_counts(staging, in_training, label)
    if isinstance(strategy, Mapping):
        there = {class_names[code] for code in counts}
        strategy = _targets(strategy, schema[label], class_names, there, label)
    if isinstance(strategy, Mapping) or strategy in ("oversample", "undersample"):
        return _by_priority(staging, in_training, counts, strategy, seed)
    rows, classes = _training_rows(staging, in_training)
    sampler = find_sampler(strategy, seed)
    columns = _columns(staging, schema, rows, label) if needs_columns(sampler) else {}
    labels = np.array(class_names)[classes]  # by name, as a sampler's own settings may have them
    categorical = [name for name, feature in schema.items() if isinstance(feature, Label) and name in columns]
    result = resample(sampler, columns, labels, categorical=categorical)
    copies = np.bincount(result.kept, minlength=len(rows)).astype(np.int64)
    if result.synthetic is None or result.labels is None or len(result.labels) == 0:
        return _ChosenRows(rows, copies)
    codes = np.array([class_names.index(str(name)) for name in result.labels], np.int32)
    made = dict(result.synthetic)
    made[label] = _label_values(staging, schema, label, codes)
    first = staging.rows
    staging.add_made_rows(_encoded(schema, made, codes, staging.classes))
    new = np.arange(first, staging.rows, dtype=np.int64)
    return _ChosenRows(np.concatenate([rows, new]), np.concatenate([copies, np.ones(len(new), np.int64)]))


def _by_priority(
    staging: Staging, in_training: InTraining, counts: dict[int, int], strategy: Any, seed: int
) -> _StoredCopies:
    """Write every row of a class equally often, as far as its target allows; the first by priority once more."""
    targets = dict(zip(counts, target_counts(counts, strategy), strict=True))
    balance = _StoredCopies(staging.path("copies"), staging.rows)
    balance.total = sum(targets.values())
    met = dict.fromkeys(counts, 0)
    entries = _priority_entries(staging, in_training, stream_key(seed, "balance"))
    for block in sorted_blocks(entries, sum(counts.values()), staging.path("sort-balance")):
        rows, classes = block[:, 1], block[:, 2].view(np.int64)
        for code in np.unique(classes).tolist():
            mine = rows[classes == code]
            every, more = divmod(targets[code], counts[code])
            rank = np.arange(met[code], met[code] + len(mine))
            balance.copies[mine] = every + (rank < more)
            met[code] += len(mine)
    return balance


def _priority_entries(staging: Staging, in_training: InTraining, stream: int) -> Iterator[Uint64s]:
    first = 0
    for keys in staging.key_blocks():
        rows = (np.flatnonzero(in_training(first, first + len(keys))) + first).astype(np.uint64)
        classes = keys["class"][rows.astype(np.int64) - first].astype(np.int64)
        first += len(keys)
        yield np.stack([priorities(rows, stream), rows, classes.view(np.uint64)], axis=1)


def _class_counts(staging: Staging, in_training: InTraining, label: str) -> dict[int, int]:
    """Count the training rows of each class; every one must have a class."""
    counts: dict[int, int] = {}
    first = 0
    for keys in staging.key_blocks():
        values, found = np.unique(keys["class"][in_training(first, first + len(keys))], return_counts=True)
        for value, count in zip(values.tolist(), found.tolist(), strict=True):
            counts[value] = counts.get(value, 0) + count
        first += len(keys)
    if -1 in counts:
        raise RecordsmithError(
            f"Some training rows have no {label!r}, so the classes cannot be balanced.",
            feature=label,
            found=f"{count_text(counts[-1], 'row')} without it",
        )
    return dict(sorted(counts.items()))


def _training_rows(staging: Staging, in_training: Callable[[int, int], Any]) -> tuple[Int64s, Int64s]:
    rows, classes = [], []
    first = 0
    for keys in staging.key_blocks():
        mine = np.flatnonzero(in_training(first, first + len(keys)))
        rows.append(mine + first)
        classes.append(keys["class"][mine].astype(np.int64))
        first += len(keys)
    empty = [np.empty(0, np.int64)]
    return np.concatenate(rows or empty), np.concatenate(classes or empty)


def _columns(staging: Staging, schema: Schema, rows: Int64s, label: str) -> dict[str, Any]:
    """Decode the training rows: samplers that look at features need them all in memory."""
    wanted = schema.select([name for name in schema if name != label])
    keys = np.concatenate([block[["offset", "length"]] for block in staging.key_blocks()])[rows]
    decoded = staging.records().open().decode(compile_plan(wanted), keys, rows.astype(np.uint64))
    return wanted.assemble(decoded)


def _label_values(staging: Staging, schema: Schema, label: str, codes: Any) -> Any:
    values = [staging.classes[int(code)] for code in codes]
    return np.array(values) if getattr(schema[label], "dtype", None) is not None else values


def _encoded(schema: Schema, columns: dict[str, Any], codes: Any, classes: list[Any]) -> EncodedChunk:
    sink = _core.RecordSink()
    count, parts = schema.columns_to_parts(columns)
    sink.append_columns(compile_plan(schema), parts, count)
    frames, offsets = sink.take()
    digests = _core.digest_frames(frames, offsets, [])
    return EncodedChunk(
        frames=frames,
        offsets=offsets,
        digests=digests,
        contents=digests,
        classes=Classes(list(classes), np.asarray(codes, np.int32)),
        strata=Classes.none(len(offsets) - 1),
        groups=None,
        rejects=[],
    )


def check_balance(strategy: Any, feature: Feature, label: str) -> None:
    """Refuse a balance that cannot be, as far as that is known before the rows are.

    >>> check_balance({"cat": 500}, Label(["cat", "dog"]), "pet")
    >>> check_balance("oversmaple", Label(["cat", "dog"]), "pet")
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: There is no sampler 'oversmaple'. Did you mean 'oversample'?
    ...
    """
    if not isinstance(strategy, Mapping):
        if strategy not in ("oversample", "undersample"):
            find_sampler(strategy)
        return
    for given, count in strategy.items():
        if isinstance(feature, Label) and str(given) not in feature.names:
            raise _no_class(str(given), list(feature.names), label)
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise RecordsmithError(
                f"The number of rows for class {str(given)!r} is not valid.",
                found=repr(count),
                expected="an integer of at least 0",
            )


def _no_class(name: str, known: list[str], label: str) -> RecordsmithError:
    return RecordsmithError(
        f"The balance names a class {name!r} that {label!r} does not have.{did_you_mean(name, known)}",
        feature=label,
        expected=list_names(known),
    )


def _targets(
    strategy: Mapping[Any, int], feature: Feature, class_names: list[str], there: set[str], label: str
) -> dict[int, int]:
    """Return counts by class code; a class without a row can be asked for 0 times only."""
    known = [*feature.names] if isinstance(feature, Label) else class_names
    targets = {}
    for given, count in strategy.items():
        name = str(given)
        if name not in known:
            raise _no_class(name, known, label)
        if name in there:
            targets[class_names.index(name)] = int(count)
        elif count > 0:
            raise RecordsmithError(
                f"The balance needs {count_text(count, 'row')} of {name!r}, but the training split has none.",
                feature=label,
                found=f"rows of {list_names(sorted(there))}",
            )
    return targets
