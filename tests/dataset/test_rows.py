"""Rows of a dataset: by number, by slice, and in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.dataset.compressed import CompressedShards
from tests.dataset.numbered_rows import numbers, row, same_row


def test_every_row_by_its_number(ds: rs.Dataset):
    for n in range(100):
        assert same_row(ds[n], row(n))
        assert same_row(ds[n - 100], row(n))


def test_a_row_holds_the_plainest_values(one_file: Path):
    found = rs.open(one_file)[7]
    assert list(found) == ["n", "name", "values"]
    assert isinstance(found["n"], np.int64)
    assert found["name"] == "row 7"
    assert found["values"].dtype == np.float32


@pytest.mark.parametrize("n", [100, -101, 2**31, 2**63, -(2**63), 2**64 - 1, 2**64, -(2**70)])
def test_numbers_outside(n: int, ds: rs.Dataset):
    with pytest.raises(IndexError, match=f"no record {n}: the dataset has 100"):
        ds[n]
    with pytest.raises(IndexError, match="the dataset has 100"):
        ds.raw(n)
    with pytest.raises(IndexError, match="the dataset has 100"):
        ds[[n]]


def test_numbers_of_numpy(ds: rs.Dataset):
    for kind in (np.int8, np.uint8, np.int32, np.uint64, np.int64):
        assert int(ds[cast("int", kind(7))]["n"]) == 7
        assert ds[np.array([7, 3], kind)]["n"].tolist() == [7, 3]
    with pytest.raises(IndexError):
        ds[np.array([2**64 - 1], np.uint64)]


@pytest.mark.parametrize("key", [1.0, None, True, [True, False], np.array([True]), [1.5], b"a", {"a": 1}])
def test_keys_that_are_not_numbers(key: Any, ds: rs.Dataset):
    with pytest.raises(TypeError, match="integers"):
        ds[key]
    with pytest.raises(TypeError, match="integers"):
        ds.raw(key)


def test_a_name_as_key(ds: rs.Dataset):
    with pytest.raises(rs.SchemaError, match=r"Did you mean 'name'.*") as caught:
        ds["nmae"]  # type: ignore[index]
    assert "ds.select" in str(caught.value)


def test_several_rows_come_as_columns(ds: rs.Dataset):
    for key in ([99, 0, 50, 50, -1], (99, 0, 50, 50, -1), np.array([99, 0, 50, 50, -1])):
        batch = ds[key]
        assert batch["n"].tolist() == [99, 0, 50, 50, 99]
        assert batch["name"].to_list() == ["row 99", "row 0", "row 50", "row 50", "row 99"]
        assert [len(values) for values in batch["values"]] == [3, 0, 2, 2, 3]
    assert ds[range(0, 100, 33)]["n"].tolist() == [0, 33, 66, 99]
    assert ds[[]]["n"].tolist() == []


@pytest.mark.parametrize(
    "cut",
    [
        slice(None),
        slice(10, 20),
        slice(-5, None),
        slice(None, None, 7),
        slice(None, None, -1),
        slice(90, 10, -9),
        slice(50, 50),
        slice(200, 300),
        slice(-1000, 3),
    ],
)
def test_slices(cut: slice, ds: rs.Dataset):
    expected = list(range(100))[cut]
    part = ds[cut]
    assert len(part) == len(expected)
    assert numbers(part) == expected
    assert [n for batch in part.batch(7) for n in batch["n"].tolist()] == expected
    assert numbers(part.head(3)) == expected[:3]
    if expected:
        assert int(part[0]["n"]) == expected[0]
        assert int(part[-1]["n"]) == expected[-1]
        assert part[[0, -1]]["n"].tolist() == [expected[0], expected[-1]]
        assert part.raw(-1) == ds.raw(expected[-1])
    with pytest.raises(IndexError, match=f"the dataset has {len(expected)}"):
        part[len(expected)]


def test_slices_of_slices(ds: rs.Dataset):
    everything = list(range(100))
    for first in (slice(10, 90), slice(None, None, -1), slice(5, 95, 3)):
        for second in (slice(2, 12), slice(None, None, -2), slice(-4, None)):
            assert numbers(ds[first][second]) == everything[first][second]
            assert numbers(ds[first][second][1:3]) == everything[first][second][1:3]


def test_a_slice_leaves_the_whole_alone(ds: rs.Dataset):
    part = ds[10:20]
    assert len(ds) == 100
    assert numbers(part) == list(range(10, 20))
    assert "of 10 rows" in repr(part)


def test_selected_features(ds: rs.Dataset):
    assert list(ds.select("name")[5]) == ["name"]
    assert list(ds.select("values", "n")[5]) == ["values", "n"]
    assert list(ds[3:9].select("n")[0]) == ["n"]
    assert numbers(ds.select("n")[3:9]) == list(range(3, 9))
    with pytest.raises(rs.SchemaError, match=r"no feature 'nmae'\. Did you mean 'name'"):
        ds.select("nmae")
    with pytest.raises(rs.SchemaError, match="at least one"):
        ds.select()


def test_raw_payloads(ds: rs.Dataset):
    payloads = [payload for file in ds.files for payload in rs.RecordReader(file)]
    assert [ds.raw(n) for n in range(100)] == payloads
    assert ds.raw(-1) == payloads[-1]
    assert ds.raw([99, 0, 41, 41]) == [payloads[n] for n in (99, 0, 41, 41)]
    assert ds.raw(range(38, 43)) == payloads[38:43]
    assert ds.raw([]) == []


def test_head(ds: rs.Dataset):
    assert numbers(ds.head()) == [0, 1, 2, 3, 4]
    assert numbers(ds.head(60)) == list(range(60))
    assert numbers(ds.head(1000)) == list(range(100))
    assert ds.head(0) == ds.head(-3) == []


def test_iterating_again_starts_again(ds: rs.Dataset):
    assert numbers(ds) == numbers(ds)
    first, second = iter(ds), iter(ds)
    assert [int(next(first)["n"]) for _ in range(3)] == [0, 1, 2]
    assert int(next(second)["n"]) == 0
    assert int(next(first)["n"]) == 3


def test_verify_counts(ds: rs.Dataset):
    assert ds.verify() == ds.verify(threads=1) == 100


def test_without_verification(one_file: Path):
    content = bytearray(one_file.read_bytes())
    place = content.index(b"row 4") + 4
    content[place] = ord("!")
    one_file.write_bytes(content)
    with pytest.raises(rs.CorruptRecordError, match="record 4"):
        rs.open(one_file)[4]
    with pytest.raises(rs.CorruptRecordError, match="record 4"):
        rs.open(one_file).raw(4)
    unchecked = rs.open(one_file, verify=False)
    assert unchecked[4]["name"] == "row !"
    assert [row["name"] for row in unchecked][4] == "row !"


# --- SequenceExamples ---


def test_sequence_examples(tmp_path: Path):
    path = tmp_path / "sequences.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(6):
            writer.write(
                rs.encode_sequence_example(
                    {"id": n, "title": f"number {n}"},
                    {"tokens": [[t] * (t % 3 + 1) for t in range(n)], "words": [f"w{t}" for t in range(n)]},
                )
            )
    ds = rs.open(path)
    assert ds.payload == "sequence_example"
    assert ds.schema == rs.Schema(
        {
            "id": rs.Scalar("int64"),
            "title": rs.Text(),
            "tokens": rs.Steps(rs.Tensor("int64", (None,))),
            "words": rs.Steps(rs.Text()),
        }
    )
    found = ds[4]
    assert (int(found["id"]), found["title"]) == (4, "number 4")
    assert [step.tolist() for step in found["tokens"]] == [[0], [1, 1], [2, 2, 2], [3]]
    assert found["words"] == ["w0", "w1", "w2", "w3"]
    assert [len(row["words"]) for row in ds] == list(range(6))
    assert [len(words) for batch in ds.batch(4) for words in batch["words"]] == list(range(6))


# --- features that are absent ---


def test_optional_features_and_defaults(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"a": 1, "b": 0.5, "c": "x", "d": [1, 2]})
        writer.write_example({})
    schema = rs.Schema(
        {
            "a": rs.Scalar("int64", optional=True),
            "b": rs.Scalar("float32", default=2.5),
            "c": rs.Text(optional=True),
            "d": rs.Tensor("int64", (None,), default=[7]),
        }
    )
    ds = rs.open(path, schema=schema)
    first, second = ds
    assert (first["a"], first["b"], first["c"], first["d"].tolist()) == (1, 0.5, "x", [1, 2])
    assert (second["a"], second["b"], second["c"], second["d"].tolist()) == (None, 2.5, None, [7])
    assert ds[1]["a"] is None


def test_threads_share_compressed_files_of_which_only_one_is_kept(tmp_path: Path):
    paths = [str(tmp_path / f"{number}.tfrecord.gz") for number in range(3)]
    for number, path in enumerate(paths):
        with rs.RecordWriter(path, "gzip") as writer:
            writer.write_rows([{"n": 100 * number + n} for n in range(100)], rs.Schema({"n": rs.Scalar("int64")}))
    dataset = rs.open(paths)
    size = len(dataset.raw(0)) + 16
    dataset._compressed = CompressedShards(verify=True, budget=100 * size + 99)
    orders = [np.random.default_rng(seed).permutation(300).tolist() for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda order: [int(dataset[n]["n"]) for n in order], orders))
    assert found == orders
