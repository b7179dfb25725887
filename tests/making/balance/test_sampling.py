from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imblearn.combine import SMOTEENN, SMOTETomek
from imblearn.over_sampling import ADASYN, SMOTE, SMOTENC, SVMSMOTE, RandomOverSampler
from imblearn.under_sampling import ClusterCentroids, NearMiss, RandomUnderSampler, TomekLinks
from sklearn.utils.class_weight import compute_class_weight

import recordsmith as rs
from recordsmith.dataset.class_weights import class_weights
from recordsmith.making.balance.sampling import find_sampler, needs_columns, resample, target_counts


def unequal_rows(seed: int = 0) -> tuple[dict[str, np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Numeric features of several dtypes and shapes, of three classes that differ and are unequally frequent."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1, 2], [60, 25, 12]))
    rows = len(labels)
    columns: dict[str, np.ndarray[Any, Any]] = {
        "x": rng.normal(labels, 1).astype(np.float32),
        "grid": np.asarray(rng.normal(labels[:, None, None] * 2, 1, (rows, 2, 3))),
        "pixels": rng.integers(0, 256, (rows, 4)).astype(np.uint8),
        "count": rng.integers(-5, 5, rows),
    }
    return columns, labels


class TestTargetCounts:
    def test_classes_become_equal(self):
        assert target_counts({0: 5, 1: 2}, "oversample") == [5, 5]
        assert target_counts({0: 5, 1: 2}, "undersample") == [2, 2]
        assert target_counts({0: 5, 1: 2}, {0: 3}) == [3, 2]

    @pytest.mark.parametrize(
        ("strategy", "message"),
        [
            ("oversampel", "Did you mean 'oversample'"),
            ({7: 1}, "no row of class 7"),
            ({0: -1}, "integer of at least 0"),
            ({0: 1.5}, "integer of at least 0"),
        ],
    )
    def test_what_cannot_be_met(self, strategy: Any, message: str):
        with pytest.raises(rs.PipelineError, match=message):
            target_counts({0: 1, 1: 1}, strategy)

    def test_counts_are_those_of_imbalanced_learn(self):
        _, labels = unequal_rows()
        counts = dict(enumerate(np.bincount(labels).tolist()))
        cases: Any = (("oversample", RandomOverSampler()), ("undersample", RandomUnderSampler()))
        for strategy, sampler in cases:
            _, theirs = sampler.fit_resample(labels.reshape(-1, 1), labels)
            assert target_counts(counts, strategy) == np.bincount(theirs).tolist()


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=8))
def test_class_weights_are_those_of_scikit_learn(counts: list[int]):
    shares = [1 + count % 7 for count in counts]
    labels = np.repeat(np.arange(len(counts)), shares)
    theirs = compute_class_weight("balanced", classes=np.arange(len(counts)), y=labels)
    mine = class_weights(dict(enumerate(shares)))
    assert list(mine.values()) == theirs.tolist()


def test_a_class_without_rows_has_no_weight():
    assert class_weights({"a": 3, "b": 0, "c": 1}) == {"a": 4 / 6, "c": 2.0}
    assert class_weights({}) == {}


class TestChoosing:
    @pytest.mark.parametrize("kind", [RandomOverSampler, RandomUnderSampler])
    def test_the_random_samplers_need_labels_alone(self, kind: Any):
        columns, labels = unequal_rows()
        kept, synthetic, new_labels = resample(kind(), {}, labels, seed=11)
        assert (synthetic, new_labels) == (None, None)
        theirs = kind(random_state=11)
        _, their_labels = theirs.fit_resample(columns["count"].reshape(-1, 1), labels)
        assert np.array_equal(kept, theirs.sample_indices_)
        assert np.array_equal(labels[kept], their_labels)
        assert np.array_equal(resample(kind.__name__, {}, labels, seed=11).kept, kept)

    @pytest.mark.parametrize("sampler", [TomekLinks(), NearMiss()])
    def test_rows_are_chosen_by_their_numbers_and_other_features_follow(self, sampler: Any):
        columns, labels = unequal_rows()
        texts = rs.ByteColumn(b"x" * len(labels), np.arange(len(labels) + 1))
        kept, synthetic, _ = resample(sampler, {**columns, "text": texts}, labels)
        matrix = np.column_stack([column.reshape(len(labels), -1) for column in columns.values()])
        theirs = type(sampler)()
        theirs.fit_resample(matrix, labels)
        assert synthetic is None
        assert 0 < len(kept) < len(labels)
        assert np.array_equal(kept, theirs.sample_indices_)

    def test_labels_may_be_names(self):
        labels = np.array(["dog"] * 6 + ["cat"] * 2)
        kept = resample(RandomOverSampler(sampling_strategy={"cat": 5}), {}, labels).kept
        assert sorted(labels[kept].tolist()) == ["cat"] * 5 + ["dog"] * 6


class TestMaking:
    @pytest.mark.parametrize("kind", [SMOTE, ADASYN, SVMSMOTE])
    def test_new_rows_are_those_of_the_sampler_with_dtypes_and_shapes_restored(self, kind: Any):
        columns, labels = unequal_rows()
        kept, synthetic, new_labels = resample(kind.__name__, columns, labels, seed=3)
        matrix = np.column_stack([column.reshape(len(labels), -1).astype(np.float64) for column in columns.values()])
        theirs, their_labels = kind(random_state=3).fit_resample(matrix, labels)
        theirs = theirs[len(labels) :]
        assert synthetic is not None
        assert new_labels is not None
        assert np.array_equal(kept, np.arange(len(labels)))
        assert np.array_equal(new_labels, their_labels[len(labels) :])
        assert len(new_labels) > 20
        assert {name: column.dtype for name, column in synthetic.items()} == {
            name: column.dtype for name, column in columns.items()
        }
        assert np.array_equal(synthetic["x"], theirs[:, 0].astype(np.float32))
        assert np.array_equal(synthetic["grid"], theirs[:, 1:7].reshape(-1, 2, 3))
        assert np.array_equal(synthetic["pixels"], np.clip(np.rint(theirs[:, 7:11]), 0, 255))
        assert np.array_equal(synthetic["count"], np.rint(theirs[:, 11]))

    @pytest.mark.parametrize("kind", [SMOTEENN, SMOTETomek])
    def test_made_and_cleaned(self, kind: Any):
        columns, labels = unequal_rows()
        columns = {"x": columns["x"], "y": columns["grid"][:, 0, 0].astype(np.float32)}
        kept, synthetic, new_labels = resample(kind(smote=SMOTE()), columns, labels, seed=3)
        matrix = np.column_stack(list(columns.values()))
        theirs, their_labels = kind(random_state=3, smote=SMOTE(random_state=3)).fit_resample(matrix, labels)
        assert synthetic is not None
        assert new_labels is not None
        assert len(kept) < len(labels)
        assert len(new_labels) > 20
        mine = zip(*(np.concatenate([columns[name][kept], synthetic[name]]) for name in columns), strict=True)
        assert sorted(zip(mine, [*labels[kept], *new_labels], strict=True)) == sorted(
            (tuple(row), label) for row, label in zip(theirs, their_labels, strict=True)
        )

    def test_centres_are_all_new(self):
        columns, labels = unequal_rows()
        kept, synthetic, new_labels = resample("ClusterCentroids", {"x": columns["x"]}, labels, seed=3)
        theirs, their_labels = ClusterCentroids(random_state=3).fit_resample(columns["x"].reshape(-1, 1), labels)
        assert synthetic is not None
        assert kept.tolist() == []
        assert new_labels is not None
        assert np.array_equal(synthetic["x"], theirs[:, 0])
        assert np.array_equal(new_labels, their_labels)

    def test_a_smoothed_bootstrap_makes_rows(self):
        columns, labels = unequal_rows()
        sampler = RandomOverSampler(shrinkage=0.5)
        assert needs_columns(sampler)
        kept, synthetic, _ = resample(sampler, {"x": columns["x"]}, labels)
        assert synthetic is not None
        assert len(kept) == len(labels)
        assert not set(synthetic["x"].tolist()) & set(columns["x"].tolist())

    @pytest.mark.parametrize(
        "sampler", ["SMOTENC", SMOTENC(categorical_features=["colour", "flag"]), SMOTENC(categorical_features=[1, 2])]
    )
    def test_categories_are_not_blended(self, sampler: Any):
        columns, labels = unequal_rows()
        colour = np.random.default_rng(2).choice([10, 20, 90], len(labels))
        mixed = {"x": columns["x"], "colour": colour, "flag": colour > 50}
        _, synthetic, _ = resample(sampler, mixed, labels, seed=1, categorical=["colour"])
        assert synthetic is not None
        assert set(synthetic["colour"].tolist()) <= {10, 20, 90}
        assert synthetic["flag"].dtype == bool
        assert len(set(synthetic["x"].tolist()) - set(columns["x"].tolist())) > 20

    def test_numbers_stay_within_their_dtype(self):
        class Beyond:
            """Makes two rows that lie outside what there is. It is not imbalanced-learn's, and need not be."""

            def fit_resample(self, matrix: Any, labels: Any) -> Any:
                new = np.stack([matrix.max(axis=0) * 1.5, matrix.min(axis=0) * 1.5 - 1])
                return np.concatenate([matrix, new]), np.append(labels, [1, 1])

        columns = {
            "big": np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max, 0]),
            "small": np.array([0, 255, 3], np.uint8),
            "half": np.array([0, 1, 7], np.float16),
        }
        kept, synthetic, labels = resample(Beyond(), columns, [0, 0, 1])
        assert synthetic is not None
        assert labels is not None
        assert kept.tolist() == [0, 1, 2]
        assert labels.tolist() == [1, 1]
        assert synthetic["big"].tolist() == [2**63 - 1024, -(2**63)]
        assert synthetic["small"].tolist() == [255, 0]
        assert synthetic["half"].tolist() == [10.5, -1]
        assert [column.dtype for column in synthetic.values()] == [np.int64, np.uint8, np.float16]

    @pytest.mark.parametrize(
        ("name", "column", "found"),
        [
            ("caption", rs.ByteColumn(b"x" * 97, np.arange(98), text=True), "text"),
            ("photo", rs.ByteColumn(b"x" * 97, np.arange(98)), "bytes"),
            ("tokens", rs.Ragged(np.arange(97), np.arange(98)), "rows of different length"),
            ("score", np.ma.masked_array(np.zeros(97), np.arange(97) == 5), "some rows lack"),
            ("names", np.array(["x"] * 97), "values of type <U1"),
            ("things", ["x"] * 97, "list"),
        ],
    )
    @pytest.mark.parametrize("sampler", ["SMOTE", "ClusterCentroids"])
    def test_a_feature_that_cannot_be_made_up_is_named(self, sampler: str, name: str, column: Any, found: str):
        columns, labels = unequal_rows()
        with pytest.raises(rs.PipelineError, match="cannot create values of this feature") as caught:
            resample(sampler, {"x": columns["x"], name: column}, labels)
        assert caught.value.feature == name
        assert found in str(caught.value.found)
        assert "oversample" in str(caught.value.advice)

    def test_numbers_that_are_not_finite_are_named(self):
        columns, labels = unequal_rows()
        columns["grid"][17, 1, 0] = np.nan
        with pytest.raises(rs.PipelineError, match="finite") as caught:
            resample("SMOTE", columns, labels)
        assert (caught.value.feature, caught.value.row) == ("grid", 17)

    def test_nothing_numeric(self):
        texts = rs.ByteColumn(b"xxx", [0, 1, 2, 3], text=True)
        with pytest.raises(rs.PipelineError, match="there are none"):
            resample("TomekLinks", {"caption": texts}, [0, 0, 1])

    def test_categories_must_be_known(self):
        columns, labels = unequal_rows()
        with pytest.raises(rs.PipelineError, match="which features are categories"):
            resample("SMOTENC", columns, labels)
        with pytest.raises(rs.PipelineError, match="Did you mean 'count'"):
            resample(SMOTENC(categorical_features=["cuont"]), columns, labels)


class TestFinding:
    def test_a_sampler_is_copied_and_draws_from_the_seed(self):
        given_one = SMOTE()
        assert find_sampler(given_one, seed=2**32 + 5).random_state == 5
        assert given_one.random_state is None
        assert find_sampler(SMOTE(random_state=9), seed=5).random_state == 9
        assert find_sampler(SMOTE, seed=5).random_state == 5
        assert find_sampler("SMOTETomek", seed=5).random_state == 5
        find_sampler("TomekLinks", seed=5)  # which has no random_state

    @pytest.mark.parametrize("wrong", [3, None, "RandomOverSample", dict])
    def test_what_is_no_sampler(self, wrong: Any):
        with pytest.raises(rs.PipelineError, match="sampler"):
            find_sampler(wrong)
