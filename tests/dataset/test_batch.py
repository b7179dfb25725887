"""Batches: the rows, n at a time, whatever the number of threads."""

from __future__ import annotations

import gc
import itertools
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs

SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64"),
        "half": rs.Scalar("float32"),
        "small": rs.Scalar("int16"),
        "matrix": rs.Tensor("uint8", (2, 3)),
        "vector": rs.Tensor("float32", (4,)),
        "ragged": rs.Tensor("int64", (None,)),
        "pairs": rs.Tensor("float32", (None, 2)),
        "blob": rs.Bytes(),
        "text": rs.Text(),
        "words": rs.Text((None,)),
        "two": rs.Bytes((2,)),
        "maybe": rs.Scalar("int64", optional=True),
        "maybe vector": rs.Tensor("float32", (2,), optional=True),
        "maybe ragged": rs.Tensor("int64", (None,), optional=True),
        "maybe text": rs.Text(optional=True),
        "default": rs.Scalar("float32", default=0.25),
        "default ragged": rs.Tensor("int64", (None,), default=[7, 8]),
        "default words": rs.Text((None,), default=["none"]),
    }
)
COUNT = 230


def row(n: int) -> dict[str, Any]:
    there = n % 3 != 0
    return {
        "n": n,
        "half": n / 2,
        "small": n - 100,
        "matrix": np.full((2, 3), n % 256, np.uint8),
        "vector": [n, n + 0.5, -n, 0],
        "ragged": list(range(n % 7)),
        "pairs": np.full((n % 3, 2), n, np.float32),
        "blob": bytes([n % 256]) * (n % 11),
        "text": f"row {n} é",
        "words": [f"w{w}" for w in range(n % 4)],
        "two": [b"a" * n, b""],
        "maybe": n if there else None,
        "maybe vector": [n, n] if there else None,
        "maybe ragged": [n] * (n % 5) if there else None,
        "maybe text": str(n) if there else None,
        "default": n if there else None,
        "default ragged": [n] if there else None,
        "default words": [str(n), ""] if there else None,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    for shard, (start, stop) in enumerate([(0, 100), (100, 100), (100, 130), (130, COUNT)]):
        with rs.RecordWriter(folder / f"data-{shard:05}-of-00004", "gzip" if shard == 2 else None) as writer:
            writer.write_rows((row(n) for n in range(start, stop)), SCHEMA)
    return folder


@pytest.fixture(scope="module")
def ds(folder: Path) -> rs.Dataset:
    return rs.open(folder, schema=SCHEMA)


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def rows_of(batch: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {name: plain(feature.row(batch[name], i)) for name, feature in SCHEMA.items()} for i in range(len(batch["n"]))
    ]


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    defaults = {"default": 0.25, "default ragged": [7, 8], "default words": ["none"]}
    rows = [{name: plain(value) for name, value in row(n).items()} for n in range(COUNT)]
    return [{**row, **{name: value for name, value in defaults.items() if row[name] is None}} for row in rows]


@pytest.mark.parametrize("threads", [0, 1, 2, 3, 4, None])
@pytest.mark.parametrize("size", [1, 7, 64, 100, 229, 230, 231, 10_000])
def test_batches_are_the_rows(size: int, threads: int | None, ds: rs.Dataset, expected: list[dict[str, Any]]):
    batches = list(ds.batch(size, threads=threads))
    assert [len(batch["n"]) for batch in batches] == sizes_of(COUNT, size)
    assert [row for batch in batches for row in rows_of(batch)] == expected


def sizes_of(count: int, size: int) -> list[int]:
    return [min(size, count - start) for start in range(0, count, size)]


def test_rows_by_iteration_and_by_number_are_the_same(ds: rs.Dataset, expected: list[dict[str, Any]]):
    assert [{name: plain(value) for name, value in row.items()} for row in ds] == expected
    assert [{name: plain(value) for name, value in ds[n].items()} for n in range(COUNT)] == expected
    assert rows_of(ds[range(COUNT)]) == expected


def test_what_a_column_is(ds: rs.Dataset):
    batch = next(iter(ds.batch(10)))
    assert list(batch) == list(SCHEMA)
    assert batch["n"].dtype == np.int64
    assert batch["n"].shape == (10,)
    assert batch["small"].dtype == np.int16
    assert batch["matrix"].dtype == np.uint8
    assert batch["matrix"].shape == (10, 2, 3)
    assert batch["vector"].shape == (10, 4)
    assert isinstance(batch["ragged"], rs.Ragged)
    assert isinstance(batch["pairs"], rs.Ragged)
    assert batch["pairs"][5].shape == (2, 2)
    assert isinstance(batch["blob"], rs.ByteColumn)
    assert isinstance(batch["text"], rs.ByteColumn)
    assert isinstance(batch["words"], rs.Ragged)
    assert isinstance(batch["maybe"], np.ma.MaskedArray)
    assert batch["maybe"].mask.tolist() == [n % 3 == 0 for n in range(10)]
    assert not isinstance(batch["default"], np.ma.MaskedArray)


def test_columns_are_the_callers_to_change(ds: rs.Dataset, expected: list[dict[str, Any]]):
    """A batch that is held is not touched by those that come after, nor the other way round."""
    held = []
    for batch in ds.batch(20, threads=2):
        held.append(batch)
        batch["vector"] *= 2
    assert [row["n"] for batch in held for row in rows_of(batch)] == [row["n"] for row in expected]
    assert [row["vector"] for batch in held for row in rows_of(batch)] == [
        [2 * value for value in row["vector"]] for row in expected
    ]
    assert [row for batch in ds.batch(20, threads=2) for row in rows_of(batch)] == expected


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("size", [1, 7, 115, 230, 231])
def test_drop_last(size: int, threads: int, ds: rs.Dataset):
    batches = ds.batch(size, drop_last=True, threads=threads)
    found = [batch["n"].tolist() for batch in batches]
    assert [len(numbers) for numbers in found] == [size] * (COUNT // size)
    assert len(batches) == COUNT // size
    assert list(itertools.chain(*found)) == list(range(COUNT // size * size))


@pytest.mark.parametrize("size", [1, 7, 230, 231])
def test_the_number_of_batches(size: int, ds: rs.Dataset):
    assert len(ds.batch(size)) == len(sizes_of(COUNT, size))


@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_of_a_slice(drop_last: bool, ds: rs.Dataset):  # noqa: FBT001 - two cases
    part = ds[220:90:-3]
    expected = list(range(COUNT))[220:90:-3]
    batches = part.batch(8, drop_last=drop_last)
    found = [n for batch in batches for n in batch["n"].tolist()]
    assert found == expected[: len(expected) // 8 * 8 if drop_last else None]
    assert len(batches) == (len(expected) // 8 if drop_last else -(-len(expected) // 8))


def test_batches_of_selected_features(ds: rs.Dataset):
    for threads in (0, 2):
        batches = list(ds.select("text", "n").batch(50, threads=threads))
        assert [list(batch) for batch in batches] == [["text", "n"]] * 5
        assert batches[4]["text"].to_list() == [f"row {n} é" for n in range(200, 230)]


def test_iterating_again_reads_again(ds: rs.Dataset):
    batches = ds.batch(50, threads=2)
    first = [batch["n"].tolist() for batch in batches]
    assert first == [batch["n"].tolist() for batch in batches]


def test_two_iterators_at_once(ds: rs.Dataset):
    batches = ds.batch(30, threads=2)
    for one, other in zip(batches, batches, strict=True):
        assert one["n"].tolist() == other["n"].tolist()
    first, second = iter(batches), iter(ds.batch(30, threads=1))
    assert next(first)["n"][0] == next(second)["n"][0] == 0
    assert next(first)["n"][0] == 30
    assert next(second)["n"][0] == 30


def test_iterators_on_threads_of_the_caller(ds: rs.Dataset):
    found: dict[int, list[int]] = {}

    def read(who: int) -> None:
        found[who] = [n for batch in ds.batch(17, threads=2) for n in batch["n"].tolist()]

    readers = [threading.Thread(target=read, args=(who,)) for who in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == {who: list(range(COUNT)) for who in range(4)}


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "10", None])
def test_sizes_that_cannot_be(size: Any, ds: rs.Dataset):
    with pytest.raises(rs.PipelineError, match="batch size must be"):
        ds.batch(size)


@pytest.mark.parametrize("threads", [-1, True, 1.5, "2"])
def test_numbers_of_threads_that_cannot_be(threads: Any, ds: rs.Dataset):
    with pytest.raises(rs.PipelineError, match="threads must be 0 or more"):
        ds.batch(10, threads=threads)


def test_a_size_of_numpy(ds: rs.Dataset):
    assert [len(batch["n"]) for batch in ds.batch(np.int32(100))] == [100, 100, 30]  # type: ignore[arg-type]


def test_batches_outlive_the_dataset(folder: Path):
    batches = list(rs.open(folder, schema=SCHEMA).batch(50, threads=2))
    gc.collect()
    assert [n for batch in batches for n in batch["n"].tolist()] == list(range(COUNT))
    assert batches[0]["text"][3] == "row 3 é"


# --- errors in the middle ---


@pytest.mark.parametrize("threads", [0, 1, 2, 4])
@pytest.mark.parametrize("size", [1, 16, 40, 1000])
def test_rows_before_a_mismatch_come_first(size: int, threads: int, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(100):
            writer.write_example({"n": n if n != 61 else [n, n]})
    batches = rs.open(path, schema=rs.Schema({"n": rs.Scalar("int64")})).batch(size, threads=threads)
    found: list[int] = []
    with pytest.raises(rs.SchemaMismatchError) as caught:
        found.extend(n for batch in batches for n in batch["n"].tolist())
    assert found == list(range(61))
    assert (caught.value.path, caught.value.record, caught.value.feature) == (str(path), 61, "n")


def test_after_an_error_the_iterator_is_at_its_end(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(10):
            writer.write_example({"n": n if n != 6 else 0.5})
    batches = iter(rs.open(path, schema=rs.Schema({"n": rs.Scalar("int64")})).batch(4, threads=2))
    assert next(batches)["n"].tolist() == [0, 1, 2, 3]
    assert next(batches)["n"].tolist() == [4, 5]
    with pytest.raises(rs.SchemaMismatchError):
        next(batches)
    with pytest.raises(StopIteration):
        next(batches)


@pytest.mark.parametrize("threads", [0, 2])
def test_a_file_that_is_gone(threads: int, tmp_path: Path):
    for name in ("a.tfrecord", "b.tfrecord"):
        with rs.RecordWriter(tmp_path / name) as writer:
            writer.write_example({"n": 1})
    ds = rs.open(tmp_path, schema=rs.Schema({"n": rs.Scalar("int64")}))
    (tmp_path / "b.tfrecord").unlink()
    found: list[int] = []
    with pytest.raises(FileNotFoundError) as caught:
        found.extend(n for batch in ds.batch(1, threads=threads) for n in batch["n"].tolist())
    assert found == [1]
    assert caught.value.filename == str(tmp_path / "b.tfrecord")


# --- steps ---


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_steps(threads: int, tmp_path: Path):
    schema = rs.Schema(
        {
            "id": rs.Scalar("int64"),
            "tokens": rs.Steps(rs.Tensor("int64", (None,))),
            "frames": rs.Steps(rs.Tensor("uint8", (2, 2))),
            "scores": rs.Steps(rs.Scalar("float32"), optional=True),
            "words": rs.Steps(rs.Text()),
        }
    )
    rows: list[dict[str, Any]] = [
        {
            "id": n,
            "tokens": [[t] * (t % 3) for t in range(n % 4)],
            "frames": [np.full((2, 2), t, np.uint8) for t in range(n % 3)],
            "scores": None if n % 5 == 0 else [t / 2 for t in range(n % 6)],
            "words": [f"w{t}" for t in range(n % 2)],
        }
        for n in range(50)
    ]
    path = tmp_path / "steps.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_rows(rows[:25], schema)
        writer.write_columns({name: [row[name] for row in rows[25:]] for name in schema}, schema)
    ds = rs.open(path, schema=schema)
    found = [
        {name: feature.row(batch[name], i) for name, feature in schema.items()}
        for batch in ds.batch(7, threads=threads)
        for i in range(len(batch["id"]))
    ]
    for row, expected in zip(found, rows, strict=True):
        assert int(row["id"]) == expected["id"]
        assert [plain(step) for step in row["tokens"]] == expected["tokens"]
        assert [plain(step) for step in row["frames"]] == [plain(frame) for frame in expected["frames"]]
        assert (None if row["scores"] is None else plain(row["scores"])) == expected["scores"]
        assert row["words"] == expected["words"]
