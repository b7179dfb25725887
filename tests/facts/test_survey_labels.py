from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.facts.from_core.label_facts import shuffled_run, spread_of
from recordsmith.facts.survey import survey
from tests.facts.surveying import same_for_all_threads, small_units, write_rows


def longest_run(values: np.ndarray) -> int:
    borders = np.flatnonzero(np.diff(values, prepend=values[0] - 1, append=values[-1] - 1))
    return int(np.diff(borders).max())


def label_of(facts: DatasetFacts) -> LabelFacts:
    (label,) = facts.labels
    return label


def test_runs_and_counts_are_those_of_the_whole_split(tmp_path: Path, monkeypatch) -> None:
    small_units(monkeypatch, 3000)
    random = np.random.default_rng(5)
    values = {
        "train": np.repeat(random.integers(0, 4, 20), random.integers(50, 300, 20)),
        "test": random.integers(0, 3, 400),
    }
    for split, numbers in values.items():
        halves = np.array_split(numbers, 2)
        for shard, half in enumerate(halves):
            write_rows(tmp_path / f"{split}-0000{shard}-of-00002", ({"label": int(n), "x": 0.5} for n in half))
    label = label_of(same_for_all_threads(tmp_path))
    assert not label.declared
    for split, numbers in values.items():
        classes, counts = np.unique(numbers, return_counts=True)
        assert label.counts[split] == dict(zip(map(str, classes), counts.tolist(), strict=True))
        assert label.longest_run[split] == longest_run(numbers)
    assert label.batch_spread["train"] < 0.7
    assert label.batch_spread["test"] > 0.95
    assert label.buffer_spread["train"][10_000] > 0.9
    assert label.longest_run["test"] <= 2 * label.expected_run["test"]


def test_declared_labels_have_names_and_an_outside(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a", ({"animal": number} for number in (0, 1, 1, 7, -1)))
    schema = rs.Schema({"animal": rs.Label(["cat", "dog", "cow"])})
    facts = survey(path, schema=schema)
    label = label_of(facts)
    assert label.declared
    assert label.counts == {"": {"cat": 1, "dog": 2, "7": 1, "-1": 1}}
    assert label.classes[:3] == ("cat", "dog", "cow")
    assert label.outside == 2
    assert [(place.record, place.detail) for place in label.outside_places] == [(3, "7"), (4, "-1")]
    (mismatch,) = facts.mismatches
    assert (mismatch.kind, mismatch.count) == ("label", 2)


@pytest.mark.parametrize(
    "rows",
    [
        [{"label": number / 3} for number in range(10)],
        [{"label": [number, number]} for number in range(10)],
        [{"label": number} for number in range(3000)],
        [{"number": number % 3} for number in range(10)],
    ],
    ids=["floats", "several", "all different", "another name"],
)
def test_what_is_no_class_is_no_label(tmp_path: Path, rows: list[dict[str, object]]) -> None:
    assert survey(write_rows(tmp_path / "a", rows)).labels == ()


def test_texts_are_labels_too(tmp_path: Path) -> None:
    rows = [{"image/class/label": name, "x": 1} for name in ("cat", "dog", "cat\n", "cat", "cat")]
    label = label_of(survey(write_rows(tmp_path / "a", rows)))
    assert label.counts == {"": {"cat": 3, "dog": 1, "cat\n": 1}}
    assert label.longest_run == {"": 2}


def test_spread_runs_from_sorted_to_shuffled() -> None:
    random = np.random.default_rng(0)
    shuffled = random.integers(0, 20, 20_000).astype(np.uint16)
    ordered = np.sort(shuffled)
    assert 0.97 < spread_of(shuffled) < 1.03
    assert spread_of(ordered) < 0.05
    assert spread_of(ordered) < spread_of(ordered, buffer=1000) < spread_of(ordered, buffer=10_000) < 1
    assert spread_of(np.zeros(1000, np.uint16)) == 1.0
    assert spread_of(np.zeros(0, np.uint16)) == 1.0


def test_the_run_of_a_shuffled_sequence_is_about_right() -> None:
    random = np.random.default_rng(0)
    for shares in ([0.5, 0.5], [0.9, 0.1], [0.25] * 4):
        runs = [longest_run(random.choice(len(shares), 2000, p=shares)) for _ in range(20)]
        expected = shuffled_run([round(2000 * share) for share in shares])
        assert 0.6 * expected < np.mean(runs) < 1.6 * expected
