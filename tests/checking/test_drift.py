"""Drift is reported where it exists, and never between random splits of one dataset."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from recordsmith.checking.rules.drift import label_drift, value_drift
from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts, SplitFacts
from recordsmith.facts.value_facts import FeatureFacts, LengthFacts, NumberFacts

SHARES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
POPULATIONS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "flags": lambda rng, n: rng.integers(0, 2, n),
    "rare flags": lambda rng, n: (rng.random(n) < 0.02).astype(int),
    "counts": lambda rng, n: rng.poisson(2, n),
    "heavy tails": lambda rng, n: rng.pareto(1, n),
    "few values": lambda rng, n: rng.choice([0.0, 0.5, 7.0], n, p=[0.9, 0.06, 0.04]),
}


def numbers(values: Any) -> NumberFacts:
    quantiles = dict(zip(SHARES, np.quantile(values, SHARES, method="inverted_cdf").tolist(), strict=True))
    return NumberFacts(
        len(values), values.min().item(), values.max().item(), values.mean(), values.std(), quantiles=quantiles
    )


def facts(**splits: Any) -> DatasetFacts:
    parts = {}
    for name, values in splits.items():
        feature = FeatureFacts(
            "x", False, len(values), 0, kinds={"float": len(values)}, lengths=LengthFacts(1, 1, 1.0),
            distinct=len(np.unique(values)), numbers=numbers(values),
        )  # fmt: skip
        parts[name] = SplitFacts(name, len(values), 0, 1, (feature,))
    counts = {name: dict(Counter(str(value) for value in values)) for name, values in splits.items()}
    label = LabelFacts("label", declared=True, names=(), counts=counts)
    return DatasetFacts((), (), 0, 0, splits=parts, labels=(label,))


@pytest.mark.parametrize("population", POPULATIONS)
def test_random_splits_do_not_drift(population: str):
    rng = np.random.default_rng(0)
    for records in (200, 1000, 5000):
        for _ in range(40):
            everything = POPULATIONS[population](rng, records)
            chosen = rng.random(records) < rng.choice([0.5, 0.8, 0.9])
            if chosen.all() or not chosen.any():
                continue
            found = facts(train=everything[chosen], test=everything[~chosen])
            assert not list(value_drift(found))
            if len(np.unique(everything)) < 20:
                assert not list(label_drift(found))


@pytest.mark.parametrize(
    ("train", "test"),
    [
        (lambda rng: rng.normal(0, 1, 2000), lambda rng: rng.normal(1.5, 1, 500)),
        (lambda rng: rng.random(2000), lambda rng: rng.random(300) * 255),
        (lambda rng: rng.integers(0, 10, 2000), lambda rng: rng.integers(5, 15, 500)),
    ],
    ids=["shifted", "not divided", "other range"],
)
def test_other_numbers_drift(train: Any, test: Any):
    rng = np.random.default_rng(0)
    (found,) = value_drift(facts(train=train(rng), test=test(rng)))
    assert found.location.feature == "x"
    assert found.evidence["distance"] > 0.15


def test_other_classes_drift():
    rng = np.random.default_rng(0)
    (found,) = label_drift(
        facts(train=rng.choice(3, 900, p=[0.7, 0.2, 0.1]), test=rng.choice(3, 300, p=[0.4, 0.3, 0.3]))
    )
    assert found.evidence["distance"] > 0.1


def test_small_splits_say_nothing():
    rng = np.random.default_rng(0)
    found = facts(train=rng.normal(0, 1, 2000), test=rng.normal(9, 1, 25))
    assert not list(value_drift(found))
