"""Balance: after the split, of the training split alone."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

import recordsmith as rs
from tests.formats.made_sources import Columns, file_digests, labelled, rows_of

LABELS = [0] * 700 + [1] * 200 + [2] * 100
SPLIT = {"split": "train=0.8,val=0.2", "stratify": True}


def made_with(folder: Path, balance: Any, **options: Any) -> rs.MadeDataset:
    return rs.make(labelled(LABELS), folder, name="data", balance=balance, **{**SPLIT, **options})


@pytest.fixture
def plain(quick_path: Path) -> Path:
    """The same dataset without any balance."""
    made_with(quick_path / "plain", None)
    return quick_path / "plain"


@pytest.mark.parametrize(
    ("balance", "counts"),
    [
        ("oversample", {"cat": 560, "dog": 560, "bird": 560}),
        ("undersample", {"cat": 80, "dog": 80, "bird": 80}),
        ({"cat": 300, "bird": 250}, {"cat": 300, "dog": 160, "bird": 250}),
        ({"dog": 0}, {"cat": 560, "dog": 0, "bird": 80}),
        ("RandomOverSampler", {"cat": 560, "dog": 560, "bird": 560}),
        ("RandomUnderSampler", {"cat": 80, "dog": 80, "bird": 80}),
    ],
    ids=str,
)
def test_counts(balance, counts, plain: Path, quick_path: Path):
    made = made_with(quick_path / "out", balance)
    assert made.splits["train"].classes == counts
    assert made.splits["val"].classes == {"cat": 140, "dog": 40, "bird": 20}
    found = Counter(rows_of(quick_path / "out", "train", "label"))
    assert {name: found[number] for number, name in enumerate(counts)} == counts
    assert set(rows_of(quick_path / "out", "train")) <= set(rows_of(plain, "train")), "no row comes from elsewhere"
    assert made.warnings == ()


@pytest.mark.parametrize("balance", ["oversample", "undersample", {"bird": 1000}, "SMOTE"], ids=str)
def test_validation_is_untouched(balance, plain: Path, quick_path: Path):
    made_with(quick_path / "out", balance)
    before, after = file_digests(plain), file_digests(quick_path / "out")
    names = [name for name in before if "-val." in name]
    assert names
    assert all(before[name] == after[name] for name in names)


def test_repeating_is_even_and_leaves_no_row_out(quick_path: Path):
    made_with(quick_path / "out", "oversample")
    by_class: dict[int, Counter[int]] = {0: Counter(), 1: Counter(), 2: Counter()}
    for n, label in zip(
        rows_of(quick_path / "out", "train"), rows_of(quick_path / "out", "train", "label"), strict=True
    ):
        by_class[label][n] += 1
    assert {label: set(counter.values()) for label, counter in by_class.items()} == {0: {1}, 1: {3, 4}, 2: {7}}
    assert {label: len(counter) for label, counter in by_class.items()} == {0: 560, 1: 160, 2: 80}


def test_repeated_rows_are_spread_by_the_shuffle(quick_path: Path):
    made_with(quick_path / "out", "oversample")
    order = rows_of(quick_path / "out", "train")
    together = sum(one == other for one, other in pairwise(order))
    assert together < 20
    rows = [label == 2 for label in rows_of(quick_path / "out", "train", "label")]
    assert 200 < sum(rows[: len(rows) // 2]) < 360, "half of the birds are in the first half"


def test_without_shuffling_copies_follow_each_other(quick_path: Path):
    made_with(quick_path / "out", {"bird": 160}, shuffle=False)
    order = rows_of(quick_path / "out", "train")
    assert order == sorted(order)


def test_which_rows_are_chosen_is_the_seeds_choice(quick_path: Path):
    chosen = []
    for number, seed in enumerate([1, 1, 2]):
        rs.make(labelled(LABELS), quick_path / str(number), balance="undersample", seed=seed)
        chosen.append(set(rows_of(quick_path / str(number), "train")))
    assert chosen[0] == chosen[1]
    assert chosen[0] != chosen[2]


def test_class_weights_are_stored_and_are_those_of_scikit_learn(plain: Path):
    made = rs.MadeDataset.of_folder(str(plain))
    labels = rows_of(plain, "train", "label")
    weights = compute_class_weight("balanced", classes=np.array([0, 1, 2]), y=np.array(labels))
    assert made.label == "label"
    assert made.weights_by_name == pytest.approx(dict(zip(["cat", "dog", "bird"], weights, strict=True)))
    assert made.class_weights == pytest.approx(rs.open(plain, split="train").class_weights("label"))
    document = json.loads((plain / "recordsmith.json").read_text())
    assert document["class_weights"] == {"feature": "label", "weights": made.weights_by_name}


def test_a_balanced_split_weighs_the_same(quick_path: Path):
    made = made_with(quick_path / "out", "oversample")
    assert made.weights_by_name == {"cat": 1, "dog": 1, "bird": 1}
    assert made.class_weights == {0: 1, 1: 1, 2: 1}


@pytest.mark.parametrize("settings", [{"source_label": "label"}, {"source_label": None}], ids=["given", "declared"])
def test_the_label_is_balanced_whatever_is_stratified_by(settings, quick_path: Path):
    schema = rs.Schema({"n": rs.Scalar("int64"), "sex": rs.Scalar("int64"), "label": rs.Label(["ill", "well"])})
    columns = {"n": np.arange(400), "sex": np.arange(400) % 2, "label": (np.arange(400) >= 40).astype(np.int64)}
    source = Columns(columns, schema, label=settings["source_label"])
    made = rs.make(source, quick_path / "out", split="train=0.5,val=0.5", stratify="sex", balance="oversample")
    assert made.label == "label"
    counts = Counter(rows_of(quick_path / "out", "train", "label"))
    assert counts[0] == counts[1]
    assert Counter(rows_of(quick_path / "out", "val", "sex")) == {0: 100, 1: 100}


# --- rows that are made up ---


def numeric(rows: int = 400) -> Columns:
    rng = np.random.default_rng(2)
    labels = (np.arange(rows) % 8 == 0).astype(np.int64)
    schema = rs.Schema(
        {
            "x": rs.Tensor("float32", (2,)),
            "age": rs.Scalar("uint8"),
            "weight": rs.Scalar("float64"),
            "label": rs.Label(["well", "ill"]),
        }
    )
    columns = {
        "x": (rng.normal(size=(rows, 2)) + 5 * labels[:, None]).astype(np.float32),
        "age": rng.integers(20, 90, rows).astype(np.uint8),
        "weight": rng.normal(70, 9, rows),
        "label": labels,
    }
    return Columns(columns, schema, label="label", chunk_rows=70)


def test_smote_makes_up_rows_of_the_rare_class_between_others(quick_path: Path):
    made = rs.make(numeric(), quick_path / "out", split="train=0.8,val=0.2", stratify=True, balance="SMOTE", shards=2)
    assert made.splits["train"].classes == {"well": 280, "ill": 280}
    assert made.splits["val"].classes == {"well": 70, "ill": 10}
    assert (made.source_rows, made.rejects, made.unassigned, made.warnings) == (400, 0, 0, ())
    source = numeric().columns
    real = {row.tobytes() for row in source["x"]}
    train = rs.open(quick_path / "out", split="train").batch(1000)
    columns = next(iter(train))
    assert columns["age"].dtype == np.uint8
    assert columns["weight"].dtype == np.float64
    new = np.array([row.tobytes() not in real for row in columns["x"]])
    assert new.sum() == 280 - 40
    assert (columns["label"][new] == 1).all()
    ill = source["x"][source["label"] == 1]
    assert (columns["x"][new] >= ill.min(axis=0) - 1e-4).all()
    assert (columns["x"][new] <= ill.max(axis=0) + 1e-4).all()
    validation = next(iter(rs.open(quick_path / "out", split="val").batch(1000)))
    assert all(row.tobytes() in real for row in validation["x"]), "nothing made up in the validation split"


@pytest.mark.parametrize("name", ["SMOTE", "ADASYN", "BorderlineSMOTE", "SMOTEENN", "TomekLinks", "ClusterCentroids"])
def test_samplers_of_imbalanced_learn(name: str, quick_path: Path):
    made = rs.make(numeric(), quick_path / "out", split="train=0.8,val=0.2", stratify=True, balance=name)
    assert made.splits["val"].rows == 80
    train = next(iter(rs.open(quick_path / "out", split="train").batch(10_000)))
    assert len(train["x"]) == made.splits["train"].rows
    assert made.splits["train"].classes["ill"] >= 30
    assert np.isfinite(train["x"]).all()


def test_a_sampler_with_settings_of_its_own(quick_path: Path):
    from imblearn.over_sampling import SMOTE

    sampler = SMOTE(sampling_strategy={"ill": 100}, k_neighbors=3)
    made = rs.make(numeric(), quick_path / "out", balance=sampler)
    assert made.splits["train"].classes == {"well": 350, "ill": 100}
    document = json.loads((quick_path / "out" / "recordsmith.json").read_text())
    assert "k_neighbors=3" in document["made"]["plan"]["options"]["balance"]


def test_smote_cannot_make_up_text(quick_path: Path):
    schema = rs.Schema({"x": rs.Scalar("float32"), "note": rs.Text(), "label": rs.Label(2)})
    columns = {"x": np.arange(40, dtype=np.float32), "note": ["a"] * 40, "label": [0] * 30 + [1] * 10}
    with pytest.raises(rs.PipelineError, match="cannot create values of this feature") as caught:
        rs.make(Columns(columns, schema, label="label"), quick_path / "out", balance="SMOTE")
    assert caught.value.feature == "note"


# --- what cannot be ---


@pytest.mark.parametrize(
    ("balance", "problem"),
    [
        ("ovresample", r"Did you mean 'oversample'"),
        ({"brid": 10}, r"names a class 'brid'.*Did you mean 'bird'"),
        ({"bird": -1}, r"bird[\s\S]*-1"),
        ({"bird": 1.5}, r"bird[\s\S]*1\.5"),
        (7, r"not a sampler"),
    ],
    ids=str,
)
def test_balances_that_cannot_be(balance, problem: str, quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match=problem):
        made_with(quick_path / "out", balance)


def test_classes_without_rows_are_told_by_name(quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match="bird"):
        rs.make(labelled([0] * 30 + [1] * 10), quick_path / "out", balance={"bird": 7})
    made = rs.make(labelled([0] * 30 + [1] * 10), quick_path / "fine", balance={"bird": 0, "cat": 10})
    assert made.splits["train"].classes == {"cat": 10, "dog": 10, "bird": 0}


def test_no_label_no_balance(quick_path: Path):
    source = Columns({"n": np.arange(9)}, rs.Schema({"n": rs.Scalar("int64")}))
    with pytest.raises(rs.SchemaError, match="not clear which feature is the label"):
        rs.make(source, quick_path / "out", balance="oversample")


def test_rows_without_a_label_cannot_be_balanced(quick_path: Path):
    schema = rs.Schema({"n": rs.Scalar("int64"), "kind": rs.Scalar("int64", optional=True)})
    source = Columns({"n": np.arange(9), "kind": [1, 2, None] * 3}, schema, label="kind")
    with pytest.raises(rs.RecordsmithError, match="3 rows without it"):
        rs.make(source, quick_path / "out", balance="oversample")


def test_values_that_hardly_repeat_are_said(quick_path: Path):
    rows = [{"x": n / 7, "y": n % 2} for n in range(40)]
    source = rs.sources.rows(rows)
    made = rs.make(source, quick_path / "a", split="train=0.5,test=0.5", stratify="x")
    assert "It makes little difference to stratify by 'x': it has 40 different values in 40 rows." in made.warnings
    assert not rs.make(source, quick_path / "b", split="train=0.5,test=0.5", stratify="y").warnings
    made = rs.make(rs.sources.rows(rows, label="x"), quick_path / "c", balance="oversample")
    assert any("to balance 'x'" in warning for warning in made.warnings)
