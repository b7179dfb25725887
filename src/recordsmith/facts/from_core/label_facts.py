"""The classes of records: how many of each, and how well they are mixed in the files."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.facts.dataset_facts import LabelFacts
from recordsmith.facts.from_core.survey_places import FilePlaces
from recordsmith.facts.value_facts import FeatureFacts, Place
from recordsmith.schema import Label, Schema

__all__ = ["BUFFERS", "labels_of", "shuffled_run", "spread_of"]

BUFFERS = (1000, 10_000)
"""The sizes of the shuffle buffers that are simulated."""

_WINDOW = 256
_SHUFFLE_KEY = 0
_MOST_GUESSED = 1000  # classes of a feature that nobody declared to be a label


def labels_of(
    splits: dict[str, _core.SplitSummary],
    features: Sequence[FeatureFacts],
    schema: Schema | None,
    places: FilePlaces,
) -> tuple[LabelFacts, ...]:
    """Return the labels among the features: those that the schema declares, and those that look like one.

    Args:
        splits: what the core counted, by the split's name.
        features: the features over all splits.
        schema: the declared schema.
        places: what names files.
    """
    counted = {split: _counted(content) for split, content in splits.items()}
    found = []
    for feature in features:
        declared = None if schema is None or feature.in_steps else schema.get(feature.name)
        own = {split: labels[feature.name] for split, labels in counted.items() if feature.name in labels}
        whole = {split: label for split, label in own.items() if label is not None}
        if isinstance(declared, Label):
            if whole:
                found.append(_label(feature.name, declared, whole, places))
        elif whole and len(whole) == len(own) and _looks_like_label(feature):
            found.append(_label(feature.name, None, whole, places))
    return tuple(found)


def _looks_like_label(feature: FeatureFacts) -> bool:
    """Whether values could be classes; that the name says so was found by the core, which counted them only then."""
    if feature.in_steps or len(feature.kinds) != 1 or feature.kind == "float" or feature.lengths is None:
        return False
    single = feature.lengths.min == feature.lengths.max == 1
    few = feature.distinct <= _MOST_GUESSED and (feature.distinct <= 20 or feature.distinct * 2 <= feature.records)
    return single and few


def _counted(content: _core.SplitSummary) -> dict[str, _core.LabelSummary | None]:
    """Return the classes of each feature; None where the core found that its values are none."""
    return {feature.key: feature.label for feature in content.features if not feature.in_steps}


def _label(name: str, declared: Label | None, counted: dict[str, _core.LabelSummary], places: FilePlaces) -> LabelFacts:
    names = declared.names if declared is not None else ()
    counts: dict[str, dict[str, int]] = {}
    longest: dict[str, int] = {}
    expected: dict[str, float] = {}
    batch: dict[str, float] = {}
    buffer: dict[str, dict[int, float]] = {}
    outside: list[Place] = []
    for split, label in counted.items():
        classes = [_class_name(value, names) for value in label.classes]
        counts[split] = dict(zip(classes, label.counts, strict=True))
        longest[split] = label.longest_run
        expected[split] = shuffled_run(label.counts)
        batch[split] = spread_of(label.sequence)
        buffer[split] = {size: spread_of(label.sequence, buffer=size) for size in BUFFERS}
        outside.extend(places.all_of(label.outside_places))
    return LabelFacts(
        feature=name,
        declared=declared is not None,
        names=names,
        counts=counts,
        outside=sum(label.outside for label in counted.values()),
        outside_places=tuple(outside[:5]),
        longest_run=longest,
        expected_run=expected,
        batch_spread=batch,
        buffer_spread=buffer,
    )


def _class_name(value: int | bytes, names: Sequence[str]) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return names[value] if 0 <= value < len(names) else str(value)


def shuffled_run(counts: Sequence[int]) -> float:
    """Return about how long the longest run of equal classes is in a shuffled sequence.

    Among n draws, the longest run of a class that makes up the share p is near the logarithm to the base 1/p of
    n (1 - p), by Erdős and Rényi.

    >>> round(shuffled_run([500, 500]))
    9
    >>> shuffled_run([7])
    7.0
    """
    total = sum(counts)
    if len(counts) < 2:
        return float(total)
    longest = 1.0
    for count in counts:
        share = count / total
        longest = max(longest, math.log(max(1.0, total * (1 - share))) / -math.log(share))
    return min(longest, float(max(counts)))


def spread_of(sequence: npt.NDArray[np.uint16], *, buffer: int = 0) -> float:
    """Say how well classes are spread: 1 as in a shuffled sequence, near 0 as in a sorted one.

    That is the number of different classes in windows of consecutive records, beyond the first one, relative to what
    drawing as many at random would give; with a buffer, after shuffling with it.

    >>> mixed, sorted_ = np.tile(np.arange(10, dtype=np.uint16), 200), np.repeat(np.arange(10, dtype=np.uint16), 200)
    >>> round(spread_of(mixed), 2), spread_of(sorted_) < 0.2
    (1.0, True)
    >>> 0.9 < spread_of(sorted_, buffer=10_000) < 1.1
    True
    """
    records = len(sequence)
    window = min(_WINDOW, max(2, records // 4))
    if records < window:
        return 1.0
    expected = _different_in(np.bincount(sequence), window)
    if expected - 1 < 1e-9:
        return 1.0
    found = _core.mean_classes(sequence, window, buffer, _SHUFFLE_KEY)
    return max(0.0, (found - 1) / (expected - 1))


def _different_in(counts: npt.NDArray[np.intp], window: int) -> float:
    """How many different classes are expected among `window` records drawn without putting back."""
    total = int(counts.sum())
    drawn = math.lgamma(total - window + 1) - math.lgamma(total + 1)
    different = 0.0
    for count in counts[counts > 0].tolist():
        others = total - count
        absent = math.exp(math.lgamma(others + 1) - math.lgamma(others - window + 1) + drawn) if others >= window else 0
        different += 1 - absent
    return different
