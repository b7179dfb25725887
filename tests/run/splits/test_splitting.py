"""Splits: their sizes, what stays together, and that a seed alone decides about them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import recordsmith as rs
from recordsmith.run.splits import external_sort
from recordsmith.run.splits.splitting import assign_splits, parse_splits
from tests.formats.made_sources import Columns, labelled, numbers, rows_of
from tests.images.made_images import saved

NUMBER = rs.Schema({"n": rs.Scalar("int64")})


def members(folder: Path, feature: str = "n") -> dict[str, list[Any]]:
    """What each split of a dataset has of a feature, in order."""
    made = rs.MadeDataset.of_folder(str(folder))
    return {name: rows_of(folder, name, feature) for name in made.splits}


# --- sizes ---


@pytest.mark.parametrize(
    ("split", "sizes"),
    [
        (None, {"train": 1000}),
        ("train", {"train": 1000}),
        ("train=0.8,val=0.1,test=0.1", {"train": 800, "val": 100, "test": 100}),
        ({"train": 0.7, "test": 0.3}, {"train": 700, "test": 300}),
        ("train=rest,test=0.25", {"train": 750, "test": 250}),
        ("a=0.333,b=0.333,c=0.334", {"a": 333, "b": 333, "c": 334}),
        ("train=rest,val=50,test=7", {"train": 943, "val": 50, "test": 7}),
        ({"train": 600, "test": "rest"}, {"train": 600, "test": 400}),
        ("train=999,test=1", {"train": 999, "test": 1}),
        ("train=0.9995,test=0.0005", {"train": 1000, "test": 0}),
    ],
)
def test_sizes_are_as_asked_for(split, sizes, quick_path: Path):
    made = rs.make(numbers(1000), quick_path / "out", split=split)
    assert {name: part.rows for name, part in made.splits.items()} == sizes
    assert made.unassigned == 0
    found = members(quick_path / "out")
    assert {name: len(rows) for name, rows in found.items()} == sizes
    assert sorted(n for rows in found.values() for n in rows) == list(range(1000))


def test_counts_may_leave_rows_over_and_say_how_many(quick_path: Path):
    made = rs.make(numbers(1000), quick_path / "out", split="train=100,test=20")
    assert {name: part.rows for name, part in made.splits.items()} == {"train": 100, "test": 20}
    assert made.unassigned == 880


@given(
    rows=st.integers(1, 400),
    weights=st.lists(st.integers(1, 50), min_size=1, max_size=5),
    seed=st.integers(0, 2**40),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_fractions_of_any_number_of_rows(rows: int, weights: list[int], seed: int, quick_folders):
    fractions = {f"part{number}": weight / sum(weights) for number, weight in enumerate(weights)}
    folder = next(quick_folders) / "out"
    made = rs.make(numbers(rows, chunk_rows=64), folder, split=fractions, seed=seed)
    for name, fraction in fractions.items():
        assert abs(made.splits[name].rows - fraction * rows) <= 1
    assert sorted(n for part in members(folder).values() for n in part) == list(range(rows))


@pytest.mark.parametrize(
    ("split", "problem"),
    [
        ("train=0.8,test=0.1", "do not add up to 1"),
        ("train=0.8,test=100", "all fractions or all counts"),
        ("train=rest,test=rest", "Only one split can be the rest"),
        ("train=0.5,train=0.5", "given twice"),
        ("train=-1,test=rest", "neither a fraction nor a count"),
        ("train=0,test=rest", "neither a fraction nor a count"),
        ("train=many", "neither a fraction nor a count"),
        ("train,test", "has no share"),
        ("../evil=0.5,test=0.5", "letters, digits and underscores"),
        ("", "list of splits is empty"),
        ({}, "list of splits is empty"),
        ("train=900,test=200", "more rows than the source has"),
        ("train=rest,test=2000", "more rows than the source has"),
    ],
)
def test_splits_that_cannot_be_are_refused(split, problem: str, quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match=problem):
        rs.make(numbers(1000), quick_path / "out", split=split)


def test_more_rows_than_there_are_in_groups(quick_path: Path):
    source = Columns({"n": np.arange(100), "who": np.arange(100) // 10}, NUMBER)
    with pytest.raises(rs.RecordsmithError, match="more rows than the source has"):
        rs.make(source, quick_path / "out", split="train=rest,test=2000", group="who")


# --- classes ---


@given(
    counts=st.lists(st.integers(0, 120), min_size=1, max_size=6).filter(any),
    split=st.sampled_from(["train=0.8,test=0.2", "train=0.7,val=0.2,test=0.1", "train=rest,test=0.33", "a=0.5,b=0.5"]),
    seed=st.integers(0, 1000),
    how=st.randoms(use_true_random=False),
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_split_has_its_share_of_every_class(counts: list[int], split: str, seed: int, how, quick_folders):
    labels = [number for number, count in enumerate(counts) for _ in range(count)]
    how.shuffle(labels)
    names = [f"class {number}" for number in range(len(counts))]
    folder = next(quick_folders) / "out"
    made = rs.make(labelled(labels, names, chunk_rows=50), folder, split=split, stratify="label", seed=seed)
    plain = rs.make(labelled(labels, names, chunk_rows=50), folder.with_name("plain"), split=split, seed=seed)
    for name, part in made.splits.items():
        assert part.rows == plain.splits[name].rows, "stratifying changes no size"
        share = part.rows / len(labels)
        for number, count in enumerate(counts):
            found = part.classes[names[number]]
            assert abs(found - share * count) < 2
            assert found == rows_of(folder, name, "label").count(number)


def test_stratified_counts_of_rows(quick_path: Path):
    labels = [0] * 900 + [1] * 100
    made = rs.make(labelled(labels), quick_path / "out", split="train=rest,test=100", stratify=True)
    assert made.splits["test"].classes == {"cat": 90, "dog": 10, "bird": 0}
    assert made.splits["train"].classes == {"cat": 810, "dog": 90, "bird": 0}


@pytest.mark.parametrize("feature", [rs.Text(), rs.Scalar("float32"), rs.Scalar("bool"), rs.Bytes()], ids=repr)
def test_classes_of_every_type(feature: rs.Feature, quick_path: Path):
    values: Any = {"Text": ["a", "b"], "Bytes": [b"\xff", b"b"]}.get(type(feature).__name__, [0, 1])
    columns = {"n": np.arange(1000), "kind": [values[n % 10 == 0] for n in range(1000)]}
    source = Columns(columns, rs.Schema({"n": rs.Scalar("int64"), "kind": feature}))
    made = rs.make(source, quick_path / "out", split="train=0.8,test=0.2", stratify="kind")
    assert sorted(made.splits["test"].classes.values()) == [20, 180]
    assert sorted(made.splits["train"].classes.values()) == [80, 720]


def test_rows_without_a_class_are_shared_out_too(quick_path: Path):
    schema = rs.Schema({"n": rs.Scalar("int64"), "kind": rs.Scalar("int64", optional=True)})
    source = Columns({"n": np.arange(300), "kind": [None, 1, 2] * 100}, schema)
    made = rs.make(source, quick_path / "out", split="train=0.8,test=0.2", stratify="kind")
    assert made.splits["test"].rows == 60
    assert made.splits["test"].classes == {"1": 20, "2": 20}


def test_a_class_that_is_no_number_is_one_class(quick_path: Path):
    source = Columns({"x": np.array([1, np.nan] * 150, np.float32), "n": np.arange(300)},
                     rs.Schema({"x": rs.Scalar("float32"), "n": rs.Scalar("int64")}))  # fmt: skip
    made = rs.make(source, quick_path / "out", split="train=0.8,test=0.2", stratify="x")
    assert made.splits["train"].classes["1.0"] == 120
    assert made.splits["test"].classes["1.0"] == 30


def test_an_unknown_feature_to_stratify_by(quick_path: Path):
    with pytest.raises(rs.SchemaError, match="Did you mean 'label'"):
        rs.make(labelled([0, 1]), quick_path / "out", stratify="lable")
    with pytest.raises(rs.SchemaError, match="not clear which feature is the label"):
        rs.make(numbers(10), quick_path / "out", stratify=True)


# --- what stays together ---


def leaks(folder: Path, feature: str) -> list[Any]:
    """Values that are in more than one split."""
    splits = [set(values) for values in members(folder, feature).values()]
    return [value for value, count in Counter(value for split in splits for value in split).items() if count > 1]


@given(
    groups=st.lists(st.integers(0, 30), min_size=10, max_size=300),
    split=st.sampled_from(["train=0.8,test=0.2", "train=0.6,val=0.2,test=0.2", "train=rest,test=5"]),
    stratified=st.booleans(),
    seed=st.integers(0, 100),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_group_is_in_one_split(groups: list[int], split: str, stratified: bool, seed: int, quick_folders):  # noqa: FBT001
    schema = rs.Schema({"n": rs.Scalar("int64"), "who": rs.Scalar("int64"), "label": rs.Label(3)})
    columns = {"n": np.arange(len(groups)), "who": np.array(groups), "label": np.arange(len(groups)) % 3}
    folder = next(quick_folders) / "out"
    source = Columns(columns, schema, chunk_rows=40, label="label")
    made = rs.make(source, folder, split=split, group="who", stratify=stratified, seed=seed)
    assert leaks(folder, "who") == []
    assert made.rows + made.unassigned == len(groups)
    if "=0" in split:
        assert made.unassigned == 0


@pytest.mark.parametrize("values", ["numbers", "strings", "bytes", "booleans in lists"])
def test_groups_of_every_type_need_not_be_stored(values: str, quick_path: Path):
    plain = [n // 7 for n in range(700)]
    column: Any = {
        "numbers": np.array(plain, np.int32),
        "strings": [f"patient {who}" for who in plain],
        "bytes": [bytes([who]) for who in plain],
        "booleans in lists": [who % 2 == 0 for who in plain],
    }[values]
    source = Columns({"n": np.arange(700), "who": column}, NUMBER, chunk_rows=37)
    made = rs.make(source, quick_path / "out", split="train=0.5,test=0.5", group="who", seed=3)
    assert made.left_out == ()
    assert "who" not in rs.open(quick_path / "out").schema
    found = members(quick_path / "out")
    train, test = ({column[n] for n in found[name]} for name in ("train", "test"))
    assert train
    assert test
    assert not train & test


def test_groups_keep_to_their_shares_as_far_as_they_can(quick_path: Path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(400), rng.integers(1, 20, 400))
    labels = (groups % 4 == 0).astype(np.int64)
    schema = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(2)})
    source = Columns({"n": np.arange(len(groups)), "who": groups, "label": labels}, schema, label="label")
    made = rs.make(source, quick_path / "out", split="train=0.8,test=0.2", group="who", stratify=True)
    assert abs(made.splits["test"].rows / len(groups) - 0.2) < 0.01
    assert abs(made.splits["test"].classes["1"] / labels.sum() - 0.2) < 0.02
    assert made.warnings == ()


def test_groups_too_large_for_the_shares_are_told(quick_path: Path):
    source = Columns({"n": np.arange(100), "who": np.arange(100) // 50}, NUMBER)
    made = rs.make(source, quick_path / "out", split="train=0.8,test=0.2", group="who")
    assert sorted(part.rows for part in made.splits.values()) in ([50, 50], [0, 100])
    assert any("stay together" in warning for warning in made.warnings)


def test_groups_that_share_a_row_are_one(quick_path: Path):
    """Rows of the same content pull their groups together, also along a chain, whatever chunk they are in."""
    groups = np.arange(2000)
    contents = np.arange(2000)
    contents[1000:1400] = contents[:400]  # group 1000+i has the row of group i
    groups[1400:1600] = groups[1000:1200]  # ... and one more of its own
    source = Columns({"n": contents, "who": groups}, NUMBER, chunk_rows=150)
    rs.make(source, quick_path / "out", split="train=0.5,test=0.5", group="who", seed=1)
    assert leaks(quick_path / "out", "n") == []
    found = members(quick_path / "out")
    assert all(len(rows) > 500 for rows in found.values())
    split_of = {n: name for name, rows in found.items() for n in rows}
    for first in range(200):
        assert split_of[first] == split_of[1400 + first], "row 1400+i is of group 1000+i, which has the row of group i"


@pytest.mark.parametrize("stratify", [None, "label"])
def test_rows_of_the_same_content_are_in_one_split(stratify: str | None, quick_path: Path):
    rng = np.random.default_rng(1)
    contents = rng.integers(0, 60, 1000)
    schema = rs.Schema({"n": rs.Scalar("int64"), "x": rs.Tensor("float32", (2,)), "label": rs.Label(2)})
    columns = {"n": contents, "x": np.stack([contents, -contents], axis=1).astype(np.float32), "label": contents % 2}
    made = rs.make(
        Columns(columns, schema, chunk_rows=33), quick_path / "out", split="train=0.5,test=0.5", stratify=stratify
    )
    assert leaks(quick_path / "out", "n") == []
    assert made.rows == 1000
    assert all(part.rows > 200 for part in made.splits.values())


def test_rows_that_differ_in_the_file_name_alone_are_identical(quick_path: Path):
    contents = np.arange(600) % 100
    schema = rs.Schema({"n": rs.Scalar("int64"), "filename": rs.Text()})
    columns = {"n": contents, "filename": [f"copy-{n}.jpg" for n in range(600)]}
    rs.make(Columns(columns, schema, provenance=("filename",)), quick_path / "same", split="train=0.5,test=0.5", seed=2)
    assert leaks(quick_path / "same", "n") == []
    assert len(members(quick_path / "same", "filename")["train"]) > 100
    # The control: where the name counts as content, the rows differ, and the same seed parts them.
    rs.make(Columns(columns, schema), quick_path / "different", split="train=0.5,test=0.5", seed=2)
    assert len(leaks(quick_path / "different", "n")) > 50


def test_identical_images_under_other_names_stay_together(quick_path: Path):
    images = [saved(Image.new("RGB", (8, 8), (5 * number, 0, 0)), "png") for number in range(20)]
    for name in ("cat", "dog"):
        (quick_path / "photos" / name).mkdir(parents=True)
    for number, image in enumerate(images):
        for copy in range(3):
            (quick_path / "photos" / ("cat" if number % 2 else "dog") / f"{copy}-{number}.png").write_bytes(image)
    made = rs.make(
        rs.sources.images(quick_path / "photos"), quick_path / "out", split="train=0.5,test=0.5", stratify=True
    )
    assert leaks(quick_path / "out", "image") == []
    assert made.rows == 60
    assert min(part.rows for part in made.splits.values()) >= 20


def test_a_row_without_a_group_is_told_by_its_place(quick_path: Path):
    source = Columns({"n": np.arange(50), "who": ["a"] * 30 + [None] + ["b"] * 19}, NUMBER, chunk_rows=20)
    with pytest.raises(rs.RecordsmithError, match="'who'") as caught:
        rs.make(source, quick_path / "out", group="who", split="train=0.5,test=0.5", on_error="stop")
    assert "row 30" in str(caught.value)


def test_an_unknown_group(quick_path: Path):
    source = Columns({"n": np.arange(5), "patient": np.arange(5)}, NUMBER)
    with pytest.raises(rs.RecordsmithError, match="Did you mean 'patient'"):
        rs.make(source, quick_path / "out", group="patinet")


# --- chance ---


def test_a_seed_repeats_and_another_one_does_not(quick_path: Path):
    found = []
    for number, seed in enumerate([5, 5, 6]):
        rs.make(numbers(500), quick_path / str(number), name="x", split="train=0.5,test=0.5", seed=seed)
        found.append(members(quick_path / str(number)))
    assert found[0] == found[1]
    assert set(found[0]["train"]) != set(found[2]["train"])
    overlap = len(set(found[0]["train"]) & set(found[2]["train"]))
    assert 90 < overlap < 160, "seeds 5 and 6 have nothing to do with each other: about half of a half"


def test_the_division_of_a_seed_is_this_one(quick_path: Path):
    """Written down, because people who made a dataset with a seed must get the same one with the next version."""
    rs.make(numbers(20), quick_path / "out", split="train=0.7,test=0.3", seed=0)
    assert members(quick_path / "out") == PINNED


PINNED = {
    "train": [3, 18, 19, 8, 9, 5, 11, 17, 6, 13, 15, 4, 2, 12],
    "test": [0, 1, 7, 10, 14, 16],
}


def test_other_splits_keep_the_order_of_the_source(quick_path: Path):
    rs.make(numbers(1000, chunk_rows=70), quick_path / "out", split="train=0.8,test=0.2")
    found = members(quick_path / "out")
    assert found["test"] == sorted(found["test"])
    assert found["train"] != sorted(found["train"])
    rs.make(numbers(1000), quick_path / "plain", split="train=0.8,test=0.2", shuffle=False)
    assert members(quick_path / "plain")["train"] == sorted(found["train"])


def test_every_row_has_the_same_chance_of_every_split(quick_path: Path):
    """Over many seeds, each row is in the test split about as often as any other."""
    seeds, rows = 120, 60
    times = np.zeros(rows)
    for seed in range(seeds):
        rs.make(numbers(rows), quick_path / str(seed), split="train=0.7,test=0.3", seed=seed, workers=1)
        times[rows_of(quick_path / str(seed), "test")] += 1
    expected = seeds * 0.3
    chi_square = ((times - expected) ** 2 / (expected * 0.7)).sum()
    assert 25 < chi_square < 110, "59 degrees of freedom: less than 1 in 10,000 on either side"


def test_the_shuffle_is_uniform(quick_path: Path):
    """Where the rows of each tenth of the source end up: every tenth of the output has its share of every one."""
    rows = 20_000
    rs.make(numbers(rows, chunk_rows=3000), quick_path / "out", seed=11)
    order = np.array(rows_of(quick_path / "out", "train"))
    assert sorted(order.tolist()) == list(range(rows))
    table, _, _ = np.histogram2d(np.arange(rows), order, bins=10)
    chi_square = ((table - rows / 100) ** 2 / (rows / 100)).sum()
    assert 35 < chi_square < 150, "81 degrees of freedom, with a generous bound on either side"
    neighbours = np.mean(np.abs(np.diff(order)) == 1)
    assert neighbours < 0.002, "rows that were neighbours are not any more"


def test_orders_of_several_seeds_differ(quick_path: Path):
    orders = set()
    for seed in range(4):
        rs.make(numbers(100), quick_path / str(seed), seed=seed)
        orders.add(tuple(rows_of(quick_path / str(seed), "train")))
    assert len(orders) == 4


@pytest.mark.parametrize("shape", ["one unit", "two units", "many units", "one huge and many"])
def test_units_larger_than_a_block_stay_together(shape, tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    rows = 5000
    units = {
        "one unit": np.zeros(rows, np.uint64),
        "two units": np.arange(rows, dtype=np.uint64) % 2,
        "many units": np.arange(rows, dtype=np.uint64) // 3,
        "one huge and many": np.where(rng.random(rows) < 0.7, 7, np.arange(rows)).astype(np.uint64),
    }[shape]
    classes = rng.integers(0, 3, rows)

    def blocks():
        for start in range(0, rows, 500):
            yield units[start : start + 500], classes[start : start + 500]

    found = []
    for entries in (1 << 20, 64):
        monkeypatch.setattr(external_sort, "_BUCKET_ENTRIES", entries)
        monkeypatch.setattr(external_sort, "_LARGEST_BUCKET", 2 * entries)
        codes = np.full(rows, 77, np.uint8)
        assign_splits(blocks, rows, parse_splits("train=0.8,test=0.2"), 0, str(tmp_path / "sort"), codes)
        found.append(codes)
    assert found[0].tolist() == found[1].tolist()
    for unit in np.unique(units):
        assert len(set(found[0][units == unit].tolist())) == 1


def test_no_block_of_a_sort_is_larger_than_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(external_sort, "_BUCKET_ENTRIES", 64)
    monkeypatch.setattr(external_sort, "_LARGEST_BUCKET", 128)
    keys = np.repeat(np.array([5, 1 << 63, (1 << 63) + 1], np.uint64), 3000)
    entries = np.stack([keys, np.arange(9000, dtype=np.uint64)], axis=1)
    found = list(external_sort.sorted_blocks([entries[::-1][:4000], entries[::-1][4000:]], 9000, str(tmp_path / "s")))
    assert max(map(len, found)) <= 128
    assert np.concatenate(found)[:, 0].tolist() == sorted(keys.tolist())
    assert np.concatenate(found)[:3000, 1].tolist() == list(range(2999, -1, -1))
