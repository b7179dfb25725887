"""The files depend on the source and the options alone: not on the workers, their kind, or the machine's mood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.run import external_sort, pieces, shard_writing, shuffling, staging
from tests.formats.made_sources import Columns, file_digests, rows_of

ROWS = 2000


def source(*, seconds: float = 0.0) -> Columns:
    rng = np.random.default_rng(3)
    columns = {
        "n": [n if n % 90 else None for n in range(ROWS)],
        "x": rng.normal(size=(ROWS, 4)),
        "tokens": [list(range(n % 5)) for n in range(ROWS)],
        "label": rng.integers(0, 3, ROWS),
        "text": [f"row {n % 300}" for n in range(ROWS)],
    }
    schema = rs.Schema(
        {
            "n": rs.Scalar("int64"),
            "x": rs.Tensor("float64", (4,)),
            "tokens": rs.Tensor("int64", (None,)),
            "label": rs.Label(["a", "b", "c"]),
            "text": rs.Text(),
        }
    )
    return Columns(columns, schema, chunk_rows=130, seconds=seconds, label="label")


def changed(row: dict[str, Any]) -> Any:
    """Keeps, changes, leaves out, multiplies and refuses rows."""
    if row["n"] is None:
        return None
    n = int(row["n"])
    if n % 7 == 0:
        return None
    if n % 11 == 0:
        raise ValueError(f"no {n}")
    row["x"] = row["x"] * 2
    return [row, {**row, "n": -n}] if n % 5 == 0 else row


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "splits and balance": {"split": "train=0.7,test=0.3", "stratify": True, "balance": "oversample", "shards": 4},
    "small shards, compressed": {"shard_size": "20KB", "compression": "gzip", "split": "train=rest,test=100"},
    "vocabulary": {
        "preprocess": [rs.preprocessing.VocabularyIds("text", 50)],
        "split": "train=0.5,test=0.5",
        "shards": 3,
    },
    "map": {"map": changed, "split": "train=0.7,test=0.3", "shards": 3},
}


@pytest.mark.parametrize("case", OPTIONS)
def test_the_number_of_workers_changes_no_byte(case: str, quick_path: Path):
    found = []
    for workers in (1, 2, 3):
        made = rs.make(source(), quick_path / str(workers), name="data", workers=workers, **OPTIONS[case])
        assert made.rejects > 0
        found.append(file_digests(quick_path / str(workers)))
    assert found[0] == found[1] == found[2]


def test_chunks_that_take_different_times_keep_their_order(quick_path: Path):
    """Of several chunks under way, a later one is finished first; it is not written first."""
    rng = np.random.default_rng(0)
    slow = source(seconds=0.0)
    plan = list(slow.chunks())
    for chunk in plan:
        chunk.seconds = float(rng.random() / 50)  # type: ignore[attr-defined]
    slow.chunks = lambda: iter(plan)  # type: ignore[method-assign]
    rs.make(slow, quick_path / "slow", name="data", workers=3, shuffle=False)
    rs.make(source(), quick_path / "fast", name="data", workers=1, shuffle=False)
    assert file_digests(quick_path / "slow") == file_digests(quick_path / "fast")
    assert rows_of(quick_path / "slow", "train") == [n for n in range(ROWS) if n % 90]


def test_a_function_in_processes_sees_what_it_would_see_here(quick_path: Path):
    """Lambdas and functions that hold something work too; what the function returns is what is written."""
    offset = 1000
    schema = rs.Schema({"n": rs.Scalar("int64"), "half": rs.Scalar("float32")})
    made = rs.make(
        source(),
        quick_path / "out",
        schema=schema,
        map=lambda row: None if row["n"] is None else {"n": int(row["n"]) + offset, "half": int(row["n"]) / 2},
        workers=2,
        shuffle=False,
    )
    assert rows_of(quick_path / "out", "train") == [n + 1000 for n in range(ROWS) if n % 90]
    assert rows_of(quick_path / "out", "train", "half") == [n / 2 for n in range(ROWS) if n % 90]
    assert made.dropped == len(range(0, ROWS, 90))


@pytest.mark.parametrize("case", [case for case in OPTIONS if case != "map"])
def test_ways_for_large_data_give_the_same_files(case: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What is too large for memory is sorted through files and dealt out to buckets: the result is the same."""
    rs.make(source(), quick_path / "small", name="data", **OPTIONS[case])
    for module, name, value in [
        (external_sort, "_BUCKET_ENTRIES", 100),
        (pieces, "_PIECE_ROWS", 90),
        (shuffling, "WORTH_DEALING", 1000),
        (shuffling, "_BUCKET_BYTES", 20_000),
        (shuffling, "_PIECE_BYTES", 7000),
        (shard_writing, "_BLOCK_BYTES", 5000),
        (shard_writing, "_BLOCK_ROWS", 60),
        (staging, "_BLOCK_ROWS", 170),
    ]:
        assert hasattr(module, name)
        monkeypatch.setattr(module, name, value)
    opened: list[int] = []
    load = shuffling.Buckets.open

    def noted(buckets: shuffling.Buckets, number: int) -> shuffling.Bucket:
        opened.append(number)
        return load(buckets, number)

    monkeypatch.setattr(shuffling.Buckets, "open", noted)
    rs.make(source(), quick_path / "large", name="data", workers=2, **OPTIONS[case])
    assert len(set(opened)) > 2, "it went through buckets"
    assert file_digests(quick_path / "large") == file_digests(quick_path / "small")


def test_groups_in_ways_for_large_data(quick_path: Path, monkeypatch: pytest.MonkeyPatch):
    options: dict[str, Any] = {"name": "data", "group": "text", "split": "train=0.6,test=0.4", "stratify": "label"}
    rs.make(source(), quick_path / "small", **options)
    monkeypatch.setattr(external_sort, "_BUCKET_ENTRIES", 100)
    monkeypatch.setattr(staging, "_BLOCK_ROWS", 170)
    rs.make(source(), quick_path / "large", **options)
    assert file_digests(quick_path / "large") == file_digests(quick_path / "small")


def test_running_twice_gives_the_same_files(quick_path: Path):
    for name in ("one", "two"):
        rs.make(source(), quick_path / name, name="data", split="train=0.7,test=0.3", balance="undersample")
    assert file_digests(quick_path / "one") == file_digests(quick_path / "two")


def test_the_bytes_of_a_small_dataset_are_these(quick_path: Path):
    """Written down, because a resumed run of the next version must not end with other files.

    Another order, another encoding or another seeding is another dataset, and changes this on purpose only.
    """
    schema = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(["a", "b"])})
    columns = {"n": np.arange(50), "label": np.arange(50) % 2}
    rs.make(Columns(columns, schema, label="label"), quick_path / "out", name="data", balance={"a": 30}, seed=4)
    digests = file_digests(quick_path / "out")
    assert digests["data-train.tfrecord-00000-of-00001"][:16] == PINNED
    assert rows_of(quick_path / "out", "train")[:8] == PINNED_ORDER


PINNED = "60ff8a2f7d643f49"
PINNED_ORDER = [49, 16, 40, 9, 7, 18, 20, 48]
