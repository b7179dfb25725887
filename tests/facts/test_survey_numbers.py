from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.from_core.feature_facts import SHARES
from recordsmith.facts.survey import survey
from recordsmith.facts.value_facts import FeatureFacts, NumberFacts
from tests.facts.surveying import same_for_all_threads, small_units, write_rows


def feature(facts: DatasetFacts, name: str) -> FeatureFacts:
    found = facts.feature(name)
    assert found is not None
    return found


def numbers_of(facts: DatasetFacts, name: str) -> NumberFacts:
    found = feature(facts, name).numbers
    assert found is not None
    return found


def check_numbers(found: NumberFacts, array: np.ndarray) -> None:
    """Everything that does not come from a sketch equals numpy's."""
    finite = array[np.isfinite(array)]
    assert found.count == len(array)
    assert found.min == finite.min()
    assert found.max == finite.max()
    assert type(found.min) is (float if array.dtype.kind == "f" else int)
    wide = finite.astype(np.longdouble)
    assert math.isclose(found.mean or 0, float(wide.mean()), rel_tol=1e-12)
    assert math.isclose(found.deviation or 0, float(wide.std()), rel_tol=1e-12)
    assert found.zeros == (finite == 0).sum()
    assert found.negatives == (finite < 0).sum()
    assert found.nan == np.isnan(array).sum()
    assert found.positive_infinity == np.isposinf(array).sum()
    assert found.negative_infinity == np.isneginf(array).sum()
    assert found.integral == (finite == np.floor(finite)).all()
    assert found.histogram is not None
    assert sum(found.histogram.counts) == len(finite)
    assert list(found.quantiles) == list(SHARES)
    ordered = np.sort(finite).astype(np.float64)
    for share, value in found.quantiles.items():
        low = np.searchsorted(ordered, value, "left") / len(finite)
        high = np.searchsorted(ordered, value, "right") / len(finite)
        assert low - found.rank_error <= share <= high + found.rank_error
    if found.quantiles_exact:
        expected = np.quantile(finite, SHARES, method="inverted_cdf")
        assert list(found.quantiles.values()) == expected.astype(np.float64).tolist()


def test_numbers_equal_those_of_numpy_while_they_are_few(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    floats = random.integers(-40, 40, 500).astype(np.float32) / 4
    floats[[3, 70]] = np.nan
    floats[[5, 6, 7]] = np.inf, -np.inf, np.inf
    integers = random.integers(-(2**63), 2**63 - 1, 500)
    write_rows(tmp_path / "a", ({"f": f, "i": int(i), "n": 3} for f, i in zip(floats, integers, strict=True)))
    facts = same_for_all_threads(tmp_path / "a")
    check_numbers(numbers_of(facts, "f"), floats)
    check_numbers(numbers_of(facts, "i"), integers)
    f = feature(facts, "f")
    assert f.distinct == len(np.unique(floats[~np.isnan(floats) & np.isfinite(floats)]))
    assert f.distinct_exact
    assert [place.record for place in f.nan_places] == [3, 5, 6, 7, 70]
    assert [place.detail for place in f.nan_places] == ["NaN", "infinity", "-infinity", "infinity", "NaN"]
    values, counts = np.unique(floats[np.isfinite(floats)], return_counts=True)
    assert f.frequent[0].count == counts.max()
    assert {one.value: one.count for one in f.frequent}.items() <= dict(
        zip(values.tolist(), counts, strict=True)
    ).items()
    assert [(one.value, one.count) for one in feature(facts, "n").frequent] == [(3, 500)]
    constant = numbers_of(facts, "n")
    assert (constant.deviation, constant.histogram and constant.histogram.counts) == (0.0, (500,))


def test_numbers_beyond_what_is_held_keep_to_the_errors_that_they_state(tmp_path: Path, monkeypatch) -> None:
    small_units(monkeypatch, 200_000)
    random = np.random.default_rng(2)
    floats = (1000 + random.standard_normal((400, 100))).astype(np.float32)
    floats[:, :10] = 7  # a value that stands out
    integers = random.integers(0, 2**40, (400, 100))
    rows = ({"f": f, "i": i, "few": i % 5} for f, i in zip(floats, integers, strict=True))
    write_rows(tmp_path / "a", rows)
    facts = same_for_all_threads(tmp_path / "a")
    for name, array in (("f", floats), ("i", integers)):
        found = feature(facts, name)
        check_numbers(numbers_of(facts, name), array.ravel())
        distinct = len(np.unique(array))
        assert not found.distinct_exact
        assert 0 < found.distinct_error < 0.05
        assert abs(found.distinct - distinct) <= found.distinct_error * distinct
        assert not numbers_of(facts, name).quantiles_exact
        assert 0 < numbers_of(facts, name).rank_error < 0.01
    frequent = feature(facts, "f").frequent
    assert frequent[0].value == 7.0
    assert 0.9 * 4000 <= frequent[0].count <= 4000
    assert feature(facts, "i").frequent == ()
    few = feature(facts, "few")
    assert few.distinct == 5
    check_numbers(numbers_of(facts, "few"), (integers % 5).ravel())


def test_whole_numbers_of_a_small_range_are_counted_exactly(tmp_path: Path, monkeypatch) -> None:
    small_units(monkeypatch, 100_000)
    tokens = np.random.default_rng(6).integers(-5_000, 30_000, (400, 100))
    spread = tokens * np.arange(1, 401)[:, None]  # further apart from record to record: no longer after some units
    write_rows(tmp_path / "a", ({"t": t, "s": s} for t, s in zip(tokens, spread, strict=True)))
    facts = same_for_all_threads(tmp_path / "a")
    for name, array, exact in (("t", tokens, True), ("s", spread, False)):
        found, numbers = feature(facts, name), numbers_of(facts, name)
        check_numbers(numbers, array.ravel())
        assert (found.distinct_exact, numbers.quantiles_exact) == (exact, exact)
        distinct = len(np.unique(array))
        assert abs(found.distinct - distinct) <= found.distinct_error * distinct
    values, counts = np.unique(tokens, return_counts=True)
    commonest = {one.value: one.count for one in feature(facts, "t").frequent}
    assert len(commonest) == 20
    assert commonest.items() <= dict(zip(values.tolist(), counts.tolist(), strict=True)).items()
    assert sorted(commonest.values()) == sorted(counts)[-20:]


def test_a_large_mean_takes_nothing_from_the_deviation(tmp_path: Path) -> None:
    integers = 10**15 + np.arange(5000) % 3
    write_rows(tmp_path / "a", ({"i": int(i)} for i in integers))
    found = numbers_of(survey(tmp_path / "a"), "i")
    assert math.isclose(found.deviation or 0, float((integers - 10**15).std()), rel_tol=1e-12)


def test_empty_missing_and_unset_features_are_told_apart(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"a": [1, 2], "b": 1.5},
        {"a": np.zeros(0, np.int64)},
        {"b": 2.5},
        {"a": [1.0], "b": 0.5},
    ]
    facts = survey(write_rows(tmp_path / "a", rows))
    a, b = feature(facts, "a"), feature(facts, "b")
    assert (a.records, a.missing, a.empty) == (3, 1, 1)
    assert a.kinds == {"int64": 2, "float": 1}
    assert [place.record for place in a.missing_places] == [2]
    assert [place.record for place in a.kind_places["float"]] == [3]
    assert a.lengths is not None
    assert (a.lengths.min, a.lengths.max, a.lengths.mean) == (0, 2, 1.0)
    assert [place.record for place in b.missing_places] == [1]
    assert b.missing_places[0].offset is not None
    assert a.stored_bytes + b.stored_bytes < sum(shard.payload_bytes for shard in facts.shards)


def test_a_survey_of_no_records_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.tfrecord").write_bytes(b"")
    facts = survey(tmp_path / "a.tfrecord")
    assert (facts.records, facts.features, facts.labels, facts.damages) == (0, (), (), ())
