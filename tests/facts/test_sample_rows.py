"""Records for people to look at, and records that fit a condition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts, ShardFacts
from recordsmith.facts.sample_rows import sample_rows
from recordsmith.facts.value_facts import FeatureFacts, LengthFacts, NumberFacts
from recordsmith.query.overview import RowRange, look_at

SCHEMA = rs.Schema({"label": rs.Label(["cat", "dog"]), "n": rs.Scalar("int64"), "x": rs.Tensor("float32", (None,))})


def made(path: Path, count: int, **more: object) -> ShardFacts:
    with rs.RecordWriter(path) as writer:
        for n in range(count):
            writer.write_example({"label": n % 2, "n": n, "x": np.arange(n % 4, dtype=np.float32), **more})
    return ShardFacts(str(path), path.name[:5], path.stat().st_size, None, count, 0, 1, 1)


def facts_of(*shards: ShardFacts, schema: rs.Schema | None = SCHEMA) -> DatasetFacts:
    one = LengthFacts(1, 1, 1.0)
    numbers = NumberFacts(1, 0, 1, 0.5, 0.5)
    features = (
        FeatureFacts("label", False, 1, 0, kinds={"int64": 1}, lengths=one, numbers=numbers),
        FeatureFacts("n", False, 1, 0, kinds={"int64": 1}, lengths=one, numbers=numbers),
        FeatureFacts("x", False, 1, 0, kinds={"float": 1}, lengths=LengthFacts(0, 3, 1.0), numbers=numbers),
    )
    paths = tuple(shard.path for shard in shards)
    records = sum(shard.records for shard in shards)
    return DatasetFacts(paths, paths, records, 1, schema=schema, shards=shards, features=features)


@pytest.mark.parametrize("schema", [SCHEMA, None])
def test_every_split_has_its_share(tmp_path: Path, schema):
    shards = [made(tmp_path / name, count) for name, count in (("train-0", 50), ("train-1", 50), ("valid-0", 9))]
    rows = sample_rows(facts_of(*shards, schema=schema), records=10)
    assert [Path(row.path).name[:5] for row in rows] == ["train"] * 5 + ["valid"] * 5
    for row in rows:
        assert row.features is not None
        assert row.features["n"] == row.number_in_file
        assert row.features["label"] == row.number_in_file % 2
        assert row.features["x"].tolist() == list(range(row.number_in_file % 4))
        assert row.payload == b""


def test_damage_is_passed_over(tmp_path: Path):
    from recordsmith.facts.survey import survey

    path = tmp_path / "train-0"
    made(path, 20)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole)
    rows = sample_rows(survey(str(path)))
    assert 0 < len(rows) <= 12
    assert all(row.features is not None for row in rows)


def test_a_large_split_is_not_read_to_its_end_and_no_index_is_left(tmp_path: Path, monkeypatch):
    from recordsmith.facts import sample_rows as module

    shards = [made(tmp_path / f"train-{n}", 30) for n in range(5)]
    monkeypatch.setattr(module, "_SMALL", 0)
    rows = sample_rows(facts_of(*shards), records=6)
    assert [(Path(row.path).name, row.number_in_file) for row in rows] == [
        ("train-0", 0),
        ("train-0", 1),
        *((f"train-{n}", 0) for n in range(1, 5)),
    ]
    assert [row.number for row in rows] == [0, 1, 30, 60, 90, 120]
    monkeypatch.setattr(module, "_BYTES", 0)
    assert sample_rows(facts_of(*shards)) == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"train-{n}" for n in range(5)]


def test_a_feature_that_is_stored_in_parts_is_shown_as_one(tmp_path: Path):
    from recordsmith.facts.survey import survey

    schema = rs.Schema(
        {"n": rs.Scalar("int64"), "words": rs.Sparse("float32", size=100), "gone": rs.Text(optional=True)}
    )
    with rs.write(tmp_path / "data", schema, name="d", split="train") as writer:
        for n in range(5):
            writer.add({"n": n, "words": {n: 0.5, n + 3: 1.5}})
    row = sample_rows(survey(str(tmp_path / "data")))[2]
    assert row.features is not None
    assert list(row.features) == ["n", "words"]
    assert row.features["words"].indices.tolist() == [2, 5]


def test_a_dataset_without_records_has_no_samples():
    assert sample_rows(DatasetFacts((), (), 0, 0)) == ()


def numbers(overview) -> list[int]:
    return [row.number for row in overview.rows]


@pytest.mark.parametrize("schema", [SCHEMA, None])
def test_a_condition_finds_its_rows_in_all_files(tmp_path: Path, schema):
    paths = [tmp_path / name for name in ("a.tfrecord", "b.tfrecord")]
    for path in paths:
        made(path, 3000)
    found = look_at([str(path) for path in paths], rows=RowRange(0, 5), where="n > 2997", schema=schema)
    assert numbers(found) == [2998, 2999, 5998, 5999]
    assert found.searched_all
    first = look_at([str(path) for path in paths], rows=RowRange(0, 2), where="n > 2997", schema=schema)
    assert numbers(first) == [2998, 2999]
    assert not first.searched_all


def test_labels_are_compared_by_their_names(tmp_path: Path):
    path = tmp_path / "a.tfrecord"
    made(path, 10)
    found = look_at(str(path), rows=RowRange(0, 9), where="label == 'dog' and n < 6", schema=SCHEMA)
    assert numbers(found) == [1, 3, 5]


def test_records_that_differ_from_the_first_are_searched_one_by_one(tmp_path: Path):
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(3000):
            writer.write_example({"n": n} if n != 2000 else {"n": [2000, 1], "other": "x"})
        writer.write(b"no example at all")
        writer.write_example({"n": 2500})
    one = rs.Schema({"n": rs.Scalar("int64")})
    assert numbers(look_at(str(path), rows=RowRange(0, 9), where="n == 2500", schema=one)) == [2500, 3001]
    assert numbers(look_at(str(path), rows=RowRange(0, 9), where="any(n == 2500) or len(n) > 1")) == [2000, 2500, 3001]
    with pytest.raises(RecordsmithError, match="a result for each value of a list"):
        look_at(str(path), rows=RowRange(0, 9), where="n == 2500")


def test_a_damaged_file_is_searched_up_to_the_damage(tmp_path: Path):
    path = tmp_path / "a.tfrecord"
    made(path, 100)
    path.write_bytes(path.read_bytes()[:-3])
    found = look_at(str(path), rows=RowRange(0, 9), where="n >= 97")
    assert numbers(found) == [97, 98]
    assert found.problems


def test_steps_are_searched(tmp_path: Path):
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(5):
            writer.write(rs.encode_sequence_example({"id": n}, {"word": ["a"] * (n + 1)}))
    assert numbers(look_at(str(path), rows=RowRange(0, 9), where="len(word) > 3")) == [3, 4]


def test_a_condition_about_nothing_is_refused(tmp_path: Path):
    path = tmp_path / "a.tfrecord"
    made(path, 3)
    with pytest.raises(RecordsmithError, match="Did you mean 'label'"):
        look_at(str(path), rows=RowRange(0, 9), where="lable == 1")
