"""The labels of the sampled rows: which exist, and whether batches have the overall mix.

Whether a mix could come from a true shuffle is tested by shuffling: the sampled labels are assigned to the same batches
999 times at random. If not one of these is as uneven as what arrived, chance is at most 1 in 1,000, which is the rate
of false alarms of the rules that use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.batch import Batch, Values
from recordsmith.doctor.diagnose.observing.observations import LabelFacts, OrderFacts
from recordsmith.doctor.diagnose.observing.sampling import SampledEpoch

__all__ = ["class_values", "compare_epochs", "measure_labels", "relabelled_rows", "workers_give_the_same"]

Array = npt.NDArray[Any]
_SHUFFLES = 999
_MOST_SHUFFLED = 20_000  # labels; more say nothing new and take time
_MOST_CLASSES = 1000
_FEW_NUMBERS = 20  # different whole numbers that still look like classes, whatever the number of rows
_FEWEST_ROWS = 16
_ENOUGH_BITS = 40  # of surprise in a sequence of labels, so that meeting it twice is no accident


def class_values(target: Values) -> Array | None:
    """Return one value for each row of a target: its class, its number, its text; None where a row has many.

    >>> class_values(np.eye(3)[[2, 0]]).tolist(), class_values(np.array([[1], [0]])).tolist()
    ([2, 0], [1, 0])
    >>> class_values(np.zeros((4, 7, 7))) is None
    True
    """
    if isinstance(target, list):
        return None
    if target.ndim == 1:
        return target
    if target.ndim != 2:
        return None
    if target.shape[1] == 1:
        return target[:, 0]
    if target.dtype.kind not in "iufb":
        return None
    rows = target.astype(np.float64)
    sums = rows.sum(axis=1)
    if (rows >= 0).all() and (np.abs(sums - 1) < 1e-3).mean() > 0.9 and (sums < 1 + 1e-3).all():
        return np.asarray(rows.argmax(axis=1))
    return None


def measure_labels(epoch: SampledEpoch, *, seed: int = 0) -> LabelFacts | None:
    """Return what the labels of an epoch are like; None where rows have no label of their own.

    >>> from recordsmith.doctor.diagnose.observing.batch import read_batch
    >>> from recordsmith.doctor.diagnose.observing.sampling import SampledBatch
    >>> batches = [read_batch((np.zeros((8, 2)), np.full(8, n // 4))) for n in range(8)]
    >>> epoch = SampledEpoch([SampledBatch(batch, np.arange(8)) for batch in batches], whole=True, seconds=0.0)
    >>> facts = measure_labels(epoch)
    >>> facts.counts, facts.single_label_batches, facts.chance
    ({'0': 32, '1': 32}, 8, 0.001)
    """
    parts = [_labels(one.batch) for one in epoch.batches]
    if not parts or any(part is None for part in parts):
        return None
    labels: list[Array] = [part for part in parts if part is not None]
    every = np.concatenate(labels)
    if not every.size:
        return None
    if every.dtype.kind in "iufb" and not _are_classes(every):
        return LabelFacts("numbers", len(every), whole=epoch.whole, batches=len(labels), trend=_trend(every))
    values = [_plain(value) for value in every.tolist()]
    counted = Counter(values)
    if len(counted) > _MOST_CLASSES:
        return None
    numbers = [value for value in counted if isinstance(value, int)]
    codes = {value: code for code, value in enumerate(counted)}
    coded = np.array([codes[value] for value in values])
    spread, expected, chance = _spread(coded, [len(part) for part in labels], len(codes), seed)
    return LabelFacts(
        "classes",
        len(every),
        {str(value): count for value, count in counted.most_common()},
        min(numbers, default=None),
        max(numbers, default=None),
        whole=epoch.whole,
        batches=len(labels),
        spread=spread,
        expected_spread=expected,
        chance=chance,
        single_label_batches=sum(len(set(part.tolist())) == 1 and len(part) > 1 for part in labels),
    )


def compare_epochs(epochs: Sequence[SampledEpoch]) -> OrderFacts:
    """Say whether two epochs came in the same order, and whether all batches are the same one."""
    first = epochs[0] if epochs else None
    same_batch = False
    rows = len({number for one in first.batches for number in one.content.tolist()}) if first is not None else 0
    if first is not None and len(first.batches) >= 3 and all(len(one.content) for one in first.batches):
        contents = {tuple(sorted(one.content.tolist())) for one in first.batches}
        # Rows that are all alike are another matter: then it is the inputs that say nothing.
        same_batch = len(contents) == 1 and len(set(next(iter(contents)))) > 1
    if first is None or len(epochs) < 2:
        return OrderFacts(same_batch=same_batch, rows=rows)
    pairs = list(zip(first.batches, epochs[1].batches, strict=False))
    count = len(pairs)
    if count < 2 or same_batch:
        return OrderFacts(batches=count, same_batch=same_batch, rows=rows)
    content = [(one.content, other.content) for one, other in pairs]
    if rows > 1 and all(np.array_equal(one, other) for one, other in content):
        return OrderFacts(same_order=True, by="content", batches=count, rows=rows)
    labels = [(_labels(one.batch), _labels(other.batch)) for one, other in pairs]
    if any(one is None or other is None for one, other in labels):
        return OrderFacts(same_order=None, batches=count, rows=rows)
    every = np.concatenate([one for one, _ in labels if one is not None])
    bits = _bits(every)
    if not all(np.array_equal(one, other) for one, other in labels):  # type: ignore[arg-type] # none is None
        return OrderFacts(same_order=False, by="labels", batches=count, rows=rows)
    return OrderFacts(same_order=True if bits > _ENOUGH_BITS else None, by="labels", batches=count, rows=rows)


def relabelled_rows(epochs: Sequence[SampledEpoch]) -> dict[str, Any]:
    """Return how many rows came in both epochs with the same inputs, and how many of them with another target.

    >>> from recordsmith.doctor.diagnose.observing.batch import read_batch
    >>> from recordsmith.doctor.diagnose.observing.sampling import SampledBatch
    >>> def epoch(labels):
    ...     rows = [SampledBatch(read_batch((np.zeros((8, 2)), np.array(labels))), np.arange(8))]
    ...     return SampledEpoch(rows, whole=True, seconds=0.0)
    >>> relabelled_rows([epoch([0, 1] * 4), epoch([1, 0] * 4)])
    {'twice': 8, 'relabelled': 8, 'same_targets': True}
    """
    if len(epochs) < 2:
        return {}
    first, second = (_targets_by_content(epoch) for epoch in epochs[:2])
    common = [number for number in first if number in second]
    changed = [number for number in common if first[number] != second[number]]
    same = Counter(first[number] for number in common) == Counter(second[number] for number in common)
    return {"twice": len(common), "relabelled": len(changed), "same_targets": same}


def _targets_by_content(epoch: SampledEpoch) -> dict[int, int]:
    """Return a number for the target of each row, by the number of its inputs; not of inputs that come again."""
    found: dict[int, int] = {}
    again: set[int] = set()
    for one in epoch.batches:
        columns = list(one.batch.target.values())
        if not columns or any(len(column) != len(one.content) for column in columns):
            return {}
        for place, number in enumerate(one.content.tolist()):
            again |= {number} & found.keys()
            found[number] = hash(tuple(np.asarray(column[place]).tobytes() for column in columns))
    return {number: target for number, target in found.items() if number not in again}


def workers_give_the_same(epoch: SampledEpoch, workers: int) -> bool:
    """Say whether each worker gives the rows that the first one gives: batches come from the workers in turn.

    Where rows are augmented, their content differs, and the labels of the streams are compared instead.

    >>> from recordsmith.doctor.diagnose.observing.batch import read_batch
    >>> from recordsmith.doctor.diagnose.observing.sampling import SampledBatch
    >>> batch = read_batch((np.zeros((8, 2)), np.arange(8)))
    >>> rows = [SampledBatch(batch, np.arange(8) + n // 2 * 8) for n in range(8)]
    >>> workers_give_the_same(SampledEpoch(rows, whole=True, seconds=0.0), 2)
    True
    """
    batches = epoch.batches[: len(epoch.batches) // workers * workers]
    streams = [batches[worker::workers] for worker in range(workers)]
    if workers < 2 or len(streams[0]) < 1 or sum(one.batch.rows for one in streams[0]) < _FEWEST_ROWS:
        return False
    contents = [{number for one in stream for number in one.content.tolist()} for stream in streams]
    rows = sum(len(one.content) for one in streams[0])
    if len(contents[0]) > rows / 2 and all(len(contents[0] & one) >= 0.9 * len(contents[0]) for one in contents[1:]):
        return True
    labels = [[_labels(one.batch) for one in stream] for stream in streams]
    if any(part is None for stream in labels for part in stream):
        return False
    joined = [np.concatenate([part for part in stream if part is not None]) for stream in labels]
    return _bits(joined[0]) > _ENOUGH_BITS and all(np.array_equal(joined[0], one) for one in joined[1:])


def _bits(labels: Array) -> float:
    """Return how surprising a sequence of labels is."""
    shares = np.unique(labels, return_counts=True)[1] / max(len(labels), 1)
    return -len(labels) * float((shares * np.log2(shares)).sum())


def _labels(batch: Batch) -> Array | None:
    if len(batch.target) != 1:
        return None
    return class_values(next(iter(batch.target.values())))


def _are_classes(values: Array) -> bool:
    if values.dtype.kind == "b":
        return True
    if not np.isfinite(values).all() or not (values == np.round(values)).all():
        return False
    distinct = len(np.unique(values))
    if distinct <= _FEW_NUMBERS:
        return True
    low, high = float(values.min()), float(values.max())
    return values.dtype.kind in "iu" and low >= 0 and high < _MOST_CLASSES


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return int(value) if isinstance(value, (bool, int, float)) else value


def _trend(values: Array) -> float:
    """Return the rank correlation of numbers with their position."""
    finite = values[np.isfinite(values)].astype(np.float64)
    if len(finite) < 32 or np.ptp(finite) == 0:
        return 0.0
    ranks = np.argsort(np.argsort(finite, kind="stable"), kind="stable")
    return float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])


def _spread(codes: Array, sizes: list[int], classes: int, seed: int) -> tuple[float, float, float]:
    """Return how uneven batches are, how uneven they would be after a shuffle, and how probable that is."""
    if len(codes) > _MOST_SHUFFLED:
        sizes = [size for size, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True) if end <= _MOST_SHUFFLED]
        codes = codes[: sum(sizes)]
    if len(sizes) < 2 or classes < 2 or max(sizes) < 2:
        return 0.0, 0.0, 1.0
    batch_of = np.repeat(np.arange(len(sizes)), sizes)
    share = np.bincount(codes, minlength=classes) / len(codes)
    weights = np.array(sizes)[:, np.newaxis]

    def unevenness(order: Array) -> float:
        table = np.bincount(batch_of * classes + order, minlength=len(sizes) * classes).reshape(-1, classes)
        return float(np.abs(table - weights * share).sum() / 2 / len(codes))

    found = unevenness(codes)
    generator = np.random.default_rng(seed)
    tried = [unevenness(generator.permutation(codes)) for _ in range(_SHUFFLES)]
    as_uneven = sum(one >= found for one in tried)
    return found, float(np.mean(tried)), (as_uneven + 1) / (_SHUFFLES + 1)
