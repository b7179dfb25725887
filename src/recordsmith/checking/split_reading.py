"""Judges splits: which one is for training, and whether they differ by more than chance."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping

from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.facts.value_facts import NumberFacts

__all__ = [
    "is_balanced",
    "is_training",
    "number_distance",
    "shown_split",
    "smallest_gap",
    "spread_apart",
    "stratifying",
]

_TRAINING = ("", "train", "training")
_TINY_CHANCE = 1e-6  # that two random halves of one dataset look so different


def is_training(split: str) -> bool:
    """Tell by its name whether a split is trained on; one without a name is.

    >>> is_training("train"), is_training(""), is_training("validation")
    (True, True, False)
    """
    return split.lower() in _TRAINING


def shown_split(split: str) -> str:
    """Name a split in a message.

    >>> shown_split("train"), shown_split("")
    ("split 'train'", 'the dataset')
    """
    return f"split {split!r}" if split else "the dataset"


def is_balanced(facts: DatasetFacts) -> bool:
    """Tell whether the training split was balanced when it was made: then it repeats records on purpose."""
    plan = None if facts.manifest is None else facts.manifest.plan
    options = (plan or {}).get("options")
    return isinstance(options, dict) and bool(options.get("balance"))


def spread_apart(first: Mapping[str, int], second: Mapping[str, int]) -> tuple[float, float]:
    """Compare two counts of categories: their Jensen-Shannon distance, and the chance of one so large.

    The distance is 0 for equal shares and 1 where nothing is in common. The chance is that of a G-test for two samples
    of one population.

    >>> distance, chance = spread_apart({"cat": 500, "dog": 500}, {"cat": 90, "dog": 10})
    >>> round(distance, 2), chance < 1e-9
    (0.38, True)
    >>> distance, chance = spread_apart({"cat": 500, "dog": 500}, {"cat": 52, "dog": 48})
    >>> distance < 0.05, chance > 0.5
    (True, True)
    """
    ours, theirs = sum(first.values()), sum(second.values())
    names = [name for name in {**first, **second} if first.get(name, 0) + second.get(name, 0)]
    if not ours or not theirs or len(names) < 2:
        return 0.0, 1.0
    divergence = statistic = 0.0
    for name in names:
        mine, other = first.get(name, 0), second.get(name, 0)
        middle = (mine / ours + other / theirs) / 2
        pooled = (mine + other) / (ours + theirs)
        for count, total in ((mine, ours), (other, theirs)):
            if count:
                divergence += count / total * math.log2(count / total / middle) / 2
                statistic += 2 * count * math.log(count / total / pooled)
    return math.sqrt(max(0.0, divergence)), _chi_squared_tail(statistic, len(names) - 1)


def number_distance(first: NumberFacts, second: NumberFacts) -> float:
    """Return by how much the shares below some value differ at least, according to the quantiles.

    This is the distance of Kolmogorov and Smirnov, or less: between two known quantiles, and where many values are
    equal, the smaller of all possible distances is taken.

    >>> def numbers(*values: float) -> NumberFacts:
    ...     return NumberFacts(100, 0.0, 1.0, 0.5, 0.5, quantiles=dict(zip((0.0, 0.25, 0.5, 0.75, 1.0), values)))
    >>> number_distance(numbers(0, 1, 2, 3, 4), numbers(0, 1, 2, 3, 4))
    0.0
    >>> number_distance(numbers(0, 1, 2, 3, 4), numbers(5, 6, 7, 8, 9))
    1.0
    """
    largest = 0.0
    for value in {*first.quantiles.values(), *second.quantiles.values()}:
        low_first, high_first = _share_up_to(first, value)
        low_second, high_second = _share_up_to(second, value)
        largest = max(largest, low_first - high_second, low_second - high_first)
    return max(0.0, largest - first.rank_error - second.rank_error)


def stratifying(label: LabelFacts) -> str:
    """Say how to split so that every split has its share of each class of this label."""
    options = f"--split ... --stratify {shlex.quote(label.feature)}"
    return f"Split with stratification: `recordsmith copy SRC -o DST {options}`, or with these options of `make`."


def smallest_gap(ours: int, theirs: int) -> float:
    """Return the Kolmogorov-Smirnov distance that two samples of one population exceed once in a million times."""
    return math.sqrt(-math.log(_TINY_CHANCE / 2) / 2) * math.sqrt((ours + theirs) / (ours * theirs))


def _share_up_to(numbers: NumberFacts, value: float) -> tuple[float, float]:
    """Bounds of the share of values that are at most `value`."""
    low = max((share for share, at in numbers.quantiles.items() if at <= value), default=0.0)
    high = min((share for share, at in numbers.quantiles.items() if at > value), default=1.0)
    return low, max(low, high)


def _chi_squared_tail(statistic: float, freedom: int) -> float:
    """The chance of a larger chi-squared, by the approximation of Wilson and Hilferty."""
    if statistic <= 0:
        return 1.0
    third = (statistic / freedom) ** (1 / 3)
    deviates = (third - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    return 0.5 * math.erfc(deviates / math.sqrt(2))
