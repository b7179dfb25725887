"""Chains are checked when they are built."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.loader.numbered import SCHEMA, numbers_of, write_numbered

Chain = Callable[[rs.Dataset], Any]


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    return rs.open(write_numbered(tmp_path_factory.mktemp("numbered") / "a.tfrecord", 100), schema=SCHEMA)


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (lambda ds: ds.batch(4).shuffle(seed=0), "shuffle after batching"),
        (lambda ds: ds.batch(4).batch(4), "already in batches"),
        (lambda ds: ds.batch(0), "batch size must be"),
        (lambda ds: ds.batch(4).shard(0, 2), "shard after batching"),
        (lambda ds: ds.batch(4).filter(bool), "filter after batching"),
        (lambda ds: ds.shard(2, 2), "Rank 2 of 2 does not exist"),
        (lambda ds: ds.shard(-1, 2), "The rank must be an integer of at least 0"),
        (lambda ds: ds.shard(0, 200), "fewer rows than ranks"),
        (lambda ds: ds.take(5).shard(0, 2).batch(1), "some ranks would get an empty batch"),
        (lambda ds: ds.shard(0, 2, remainder="dorp"), "Did you mean 'drop'"),
        (lambda ds: ds.filter(bool).shard(0, 2), "shard after filter"),
        (lambda ds: ds.filter(bool).take(3), "take after filter"),
        (lambda ds: ds.repeat().shuffle(seed=0), "endless repeat"),
        (lambda ds: ds.repeat(0), "at least 1"),
        (lambda ds: ds.batch(4).repeat(2).repeat(2), "repeated already"),
        (lambda ds: ds.shuffle(seed=0.5), "The seed must be an integer"),
        (lambda ds: ds.shuffle(seed=0, buffer=0), "The buffer must be an integer of at least 1"),
        (lambda ds: ds.prefetch(2), "prefetch counts batches"),
        (lambda ds: ds.batch(4).pairs("txet", "label"), "Did you mean 'text'"),
        (lambda ds: ds.batch(4).pairs(["text", "label"], "label"), "both an input and the target"),
        (lambda ds: ds.batch(4).pairs("text", "n", one_hot=True), "number of classes"),
        (lambda ds: ds.padded_batch(4, pad_to={"valuse": 3}), "Did you mean 'values'"),
        (lambda ds: ds.balance("lable"), "Did you mean 'label'"),
        (lambda ds: ds.shuffle(seed=0).balance("label"), "the first verb"),
        (lambda ds: ds.balance("label", "upsample"), "Unknown strategy"),
        (lambda ds: ds.balance("label", {"9": 1}), "does not have"),
        (lambda ds: ds.mix(ds.select("n")), "different features"),
        (lambda ds: ds.mix(ds, weights=[1]), "a weight above 0"),
        (lambda ds: ds.vectorize("n", None), "one text per row"),
        (lambda ds: ds.vectorize("text", object()), "needs a vocabulary"),
        (lambda ds: ds.bucket_batch("values", [4, 2], size=3), "increasing lengths"),
        (lambda ds: ds.bucket_batch("values", [4]), "either size= "),
        (lambda ds: ds.map(3), "map needs a function"),
        (lambda ds: ds.batch(4, on_error="ignore"), "Unknown on_error"),
        (lambda ds: ds.shuffle(seed=0).select("nn"), "Did you mean 'n'"),
        (lambda ds: ds.shuffle(seed=0).select(["n", "label"]), "names of features one after the other"),
        (lambda ds: ds.batch(4).pairs("n", "label").pairs("n", "label"), "pairs after pairs"),
        (lambda ds: ds.batch(4).pairs("n", "label").select("n"), "select after pairs"),
    ],
)
def test_chains_that_cannot_be(chain: Chain, message: str, ds: rs.Dataset):
    with pytest.raises(rs.PipelineError) as caught:
        chain(ds)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("chain", "code"),
    [
        (lambda ds: ds.repeat(2).shuffle(seed=0), "P002"),
        (lambda ds: ds.select("n", "label").padded_batch(4), "P010"),
    ],
)
def test_chains_that_are_probably_not_meant(chain: Chain, code: str, ds: rs.Dataset):
    with pytest.warns(rs.PipelineWarning) as caught:
        chain(ds)
    warning = caught[0].message
    assert isinstance(warning, rs.PipelineWarning)
    assert warning.code == code
    assert caught[0].filename == __file__


def test_good_chains_are_silent(ds: rs.Dataset):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.shuffle(seed=0).shard(0, 2).repeat(2).padded_batch(4).prefetch(2).pairs("values", "label")


def test_a_chain_does_not_change(ds: rs.Dataset):
    base = ds.shuffle(seed=0)
    one = numbers_of(base.batch(10))
    base.take(3).batch(2)
    assert numbers_of(base.batch(10)) == one


def test_lengths(ds: rs.Dataset):
    assert len(ds.shuffle(seed=0)) == 100
    assert len(ds.batch(30)) == 4
    assert len(ds.batch(30, drop_last=True)) == 3
    assert len(ds.repeat(2).batch(30)) == 7
    assert len(ds.batch(30).repeat(2)) == 8
    assert len(ds.batch(30).skip(1).take(2)) == 2
    with pytest.raises(TypeError, match="not known"):
        len(ds.filter(bool).batch(3))
    with pytest.raises(TypeError, match="no length"):
        len(ds.batch(3).repeat())


def test_padding(ds: rs.Dataset):
    batch = next(iter(ds.padded_batch(4)))
    assert batch["values"].tolist() == [[0, 0, 0], [1, 0, 0], [2, 2, 0], [3, 3, 3]]
    batch = next(iter(ds.padded_batch(4, pad_to={"values": 5}, pad_value={"values": -1})))
    assert batch["values"].tolist()[1] == [1, -1, -1, -1, -1]
    with pytest.raises(rs.PipelineError, match="truncate=True"):
        list(ds.padded_batch(4, pad_to=2))
    assert next(iter(ds.padded_batch(4, pad_to=2, truncate=True)))["values"].shape == (4, 2)


def test_buckets_hold_rows_of_similar_length(ds: rs.Dataset):
    fed = list(ds.shuffle(seed=1).bucket_batch("values", [2, 4], size=[5, 7, 9], pad_value=-1))
    assert sorted(numbers_of(fed)) == list(range(100))
    for batch in fed:
        lengths = batch["n"] % 7
        assert np.ptp(np.searchsorted([2, 4], lengths)) == 0
    sizes = [len(batch["n"]) for batch in ds.bucket_batch("values", [2, 4], tokens=12, drop_last=True)]
    assert set(sizes) == {6, 3, 1}


def test_maps_of_rows_and_of_batches(ds: rs.Dataset):
    rows = next(iter(ds.map(lambda row: {"m": row["n"] * 2, "text": row["text"].upper()}).batch(3)))
    assert rows["m"].tolist() == [0, 2, 4]
    assert rows["text"].to_list() == ["ROW 0", "ROW 1", "ROW 2"]
    batches = next(iter(ds.batch(3).map(lambda batch: batch["n"].sum())))
    assert batches == 3
    in_processes = ds.map(lambda row: {"n": row["n"] + 1}, processes=True).batch(50)
    assert numbers_of(in_processes) == list(range(1, 101))


def test_errors_in_functions_say_for_which_record(ds: rs.Dataset):
    def fails(row: dict[str, Any]) -> dict[str, Any]:
        if row["n"] == 42:
            raise ZeroDivisionError("oh")
        return row

    with pytest.raises(ZeroDivisionError) as caught:
        list(ds.map(fails).batch(8))
    notes = "\n".join(caught.value.__notes__)
    assert "fails" in notes
    assert "record 42" in notes
    assert "number 42 of" in notes
    loader = ds.map(fails).batch(8, on_error="skip")
    assert len(numbers_of(loader)) == 99
    assert loader.skipped.count == 1
    assert loader.skipped.first[0].record == 42
    assert "ZeroDivisionError: oh" in loader.skipped.first[0].reason


def test_damaged_records_are_skipped_and_counted(tmp_path: Path):
    path = write_numbered(tmp_path / "a.tfrecord", 50)
    content = bytearray(path.read_bytes())
    content[-10] ^= 1  # in the last record
    path.write_bytes(content)
    damaged = rs.open(path, schema=SCHEMA)
    with pytest.raises(rs.CorruptRecordError):
        list(damaged.shuffle(seed=0).batch(8))
    loader = damaged.shuffle(seed=0).batch(8, on_error="skip")
    assert sorted(numbers_of(loader)) == list(range(49))
    assert loader.skipped.count == 1


def test_pairs(ds: rs.Dataset):
    x, y = next(iter(ds.batch(4).pairs("values", "label")))
    assert isinstance(x, rs.Ragged)
    assert y.tolist() == [0, 1, 2, 3]
    x, y, records = next(iter(ds.shuffle(seed=1).batch(4).pairs(["n", "text"], "label", one_hot=True, with_index=True)))
    assert records.tolist() == x["n"].tolist()
    assert y.argmax(axis=1).tolist() == (records % 5).tolist()
    assert ds.shuffle(seed=1).padded_batch(8).pairs(["values", "text"], "label").verify_pairs(50) == 50


def test_rows_of_pairs_are_tuples(ds: rs.Dataset):
    rows = list(ds.shuffle(seed=1).pairs(["n", "text"], "label"))
    assert [(int(inputs["n"]), inputs["text"], int(label)) for inputs, label in rows] == [
        (row["n"], f"row {row['n']}", row["n"] % 5) for row in ds.shuffle(seed=1)
    ]


def test_pairs_that_do_not_belong_together_are_found(ds: rs.Dataset):
    calls = iter(range(10**6))
    drifting = ds.map(lambda row: {"n": row["n"], "label": next(calls)}).batch(10).pairs("n", "label")
    with pytest.raises(rs.PipelineError, match="is not what its record contains"):
        drifting.verify_pairs(20)


def test_vocabulary(ds: rs.Dataset):
    vocabulary = rs.Vocabulary.fit(ds, "text", size=20)
    batch = next(iter(ds.vectorize("text", vocabulary, into="ids").padded_batch(4)))
    assert "text" not in batch
    assert batch["ids"].shape == (4, 2)
    assert batch["ids"][0].tolist() == vocabulary.encode_one("row 0").tolist()


def test_class_weights(tmp_path: Path):
    few = rs.open(write_numbered(tmp_path / "few.tfrecord", 6), schema=SCHEMA)
    assert few.class_weights("label") == {0: 0.6, 1: 1.2, 2: 1.2, 3: 1.2, 4: 1.2}
