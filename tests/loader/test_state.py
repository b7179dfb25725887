"""Resuming: the rest is the same, whatever was read ahead."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.numbered import SCHEMA, write_numbered

ROOT = Path(__file__).resolve().parents[2]

CHAINS: dict[str, Callable[[rs.Dataset], rs.Loader]] = {
    "plain": lambda ds: ds.batch(32),
    "shuffled": lambda ds: ds.shuffle(3).batch(32),
    "filtered": lambda ds: ds.shuffle(3).filter(lambda row: row["n"] % 3 == 0).batch(10),
    "repeated": lambda ds: ds.shuffle(1).repeat(3).batch(50),
    "repeated batches": lambda ds: ds.shuffle(1).batch(50).repeat(2),
    "buffer": lambda ds: ds.shuffle(0, buffer=100).batch(16),
    "shard of a shuffle": lambda ds: ds.shuffle(1).shard(1, 3).batch(8),
    "shuffle of a shard": lambda ds: ds.shard(1, 3).shuffle(1).batch(8),
    "part": lambda ds: ds.shuffle(1).batch(8).skip(3).take(20),
    "buckets": lambda ds: ds.shuffle(2).bucket_batch("values", [2, 4], size=[5, 7, 9]),
    "balanced": lambda ds: ds.balance("label", "oversample", seed=4).batch(64),
    "mixed": lambda ds: ds.take(300).mix(ds.skip(300), weights=[0.7, 0.3]).batch(30),
    "mapped": lambda ds: ds.shuffle(5).map(lambda row: {"n": row["n"], "t": row["text"][::-1]}).batch(40).prefetch(3),
    "padded": lambda ds: ds.shuffle(5).padded_batch(25),
}


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    return rs.open(write_numbered(tmp_path_factory.mktemp("numbered") / "a.tfrecord"), schema=SCHEMA)


def fed(loader: Any) -> list[list[int]]:
    return [batch["n"].tolist() for batch in loader]


@pytest.mark.parametrize("name", CHAINS)
def test_the_rest_is_the_same(name: str, ds: rs.Dataset):
    chain = CHAINS[name]
    loader = chain(ds)
    first, second = fed(loader), fed(loader)
    for count in sorted({0, 1, 2, 5, len(first) // 2, len(first) - 1, len(first)}):
        stopped = chain(ds)
        batches = iter(stopped)
        before = [next(batches)["n"].tolist() for _ in range(count)]
        state = json.loads(json.dumps(stopped.state()))
        batches.close()  # type: ignore[attr-defined]
        resumed = chain(ds).restore(state)
        after = fed(resumed)
        if count == len(first):
            assert after == second
        else:
            assert before + after == first
            assert fed(resumed) == second


def test_in_another_process(ds: rs.Dataset):
    loader = ds.shuffle(9).batch(16)
    batches = iter(loader)
    for _ in range(7):
        next(batches)
    program = (
        "import json, sys, recordsmith as rs; from tests.loader.numbered import SCHEMA\n"
        "loader = rs.open(sys.argv[1], schema=SCHEMA).shuffle(9).batch(16, threads=0)\n"
        "loader.restore(json.loads(sys.argv[2]))\n"
        "print(json.dumps([batch['n'].tolist() for batch in loader]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, ds.files[0], json.dumps(loader.state())],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert json.loads(ended.stdout) == fed(batches)


def test_what_was_read_ahead_does_not_count(ds: rs.Dataset):
    loader = ds.shuffle(0).batch(8, threads=4)
    batches = iter(loader)
    next(batches)
    assert loader.state()["batch"] == 1


def test_states_of_something_else_are_refused(ds: rs.Dataset, tmp_path: Path):
    state = ds.shuffle(0).batch(8).state()
    with pytest.raises(rs.PipelineError, match="other data or of another chain"):
        ds.shuffle(1).batch(8).restore(state)
    with pytest.raises(rs.PipelineError, match="other data or of another chain"):
        ds.shuffle(0).batch(9).restore(state)
    other = rs.open(write_numbered(tmp_path / "b.tfrecord", 10), schema=SCHEMA)
    with pytest.raises(rs.PipelineError, match="other data"):
        other.shuffle(0).batch(8).restore(state)
    with pytest.raises(rs.PipelineError, match="not the state of a loader"):
        ds.batch(8).restore({"epoch": 1})
    ds.shuffle(0).batch(8, threads=0).prefetch(5).restore(state)
