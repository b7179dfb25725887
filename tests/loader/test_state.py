"""Resuming: the rest is the same, whatever was read ahead."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.numbered import SCHEMA, write_numbered

SHOWN = {
    "numpy (the loader itself)": {
        "feeds": "test_the_rest_is_the_same",
        "resumes mid-epoch": "test_the_rest_is_the_same",
        "resumes at the end": "test_the_rest_is_the_same",
    },
}

ROOT = Path(__file__).resolve().parents[2]

CHAINS: dict[str, Callable[[rs.Dataset], rs.Loader[Any]]] = {
    "plain": lambda ds: ds.batch(32),
    "shuffled": lambda ds: ds.shuffle(seed=3).batch(32),
    "filtered": lambda ds: ds.shuffle(seed=3).filter(lambda row: row["n"] % 3 == 0).batch(10),
    "repeated": lambda ds: ds.shuffle(seed=1).repeat(3).batch(50),
    "repeated batches": lambda ds: ds.shuffle(seed=1).batch(50).repeat(2),
    "buffer": lambda ds: ds.shuffle(seed=0, buffer=100).batch(16),
    "shard of a shuffle": lambda ds: ds.shuffle(seed=1).shard(1, 3).batch(8),
    "shuffle of a shard": lambda ds: ds.shard(1, 3).shuffle(seed=1).batch(8),
    "part": lambda ds: ds.shuffle(seed=1).batch(8).skip(3).take(20),
    "buckets": lambda ds: ds.shuffle(seed=2).bucket_batch("values", [2, 4], size=[5, 7, 9]),
    "balanced": lambda ds: ds.balance("label", "oversample", seed=4).batch(64),
    "mixed": lambda ds: ds.take(300).mix(ds.skip(300), weights=[0.7, 0.3]).batch(30),
    "mapped": lambda ds: (
        ds.shuffle(seed=5).map(lambda row: {"n": row["n"], "t": row["text"][::-1]}).batch(40).prefetch(3)
    ),
    "padded": lambda ds: ds.shuffle(seed=5).padded_batch(25),
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
    loader = ds.shuffle(seed=9).batch(16)
    batches = iter(loader)
    for _ in range(7):
        next(batches)
    program = (
        "import json, sys, recordsmith as rs; from tests.loader.numbered import SCHEMA\n"
        "loader = rs.open(sys.argv[1], schema=SCHEMA).shuffle(seed=9).batch(16, threads=0)\n"
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
    loader = ds.shuffle(seed=0).batch(8, threads=4)
    batches = iter(loader)
    next(batches)
    assert loader.state()["batch"] == 1


def test_states_of_something_else_are_refused(ds: rs.Dataset, tmp_path: Path):
    state = ds.shuffle(seed=0).batch(8).state()
    with pytest.raises(rs.PipelineError, match="other data or to another chain"):
        ds.shuffle(seed=1).batch(8).restore(state)
    other = rs.open(write_numbered(tmp_path / "b.tfrecord", 10), schema=SCHEMA)
    with pytest.raises(rs.PipelineError, match="other data"):
        other.shuffle(seed=0).batch(8).restore(state)
    with pytest.raises(rs.PipelineError, match="not the state of a loader"):
        ds.batch(8).restore({"epoch": 1})
    ds.shuffle(seed=0).batch(8, threads=0).prefetch(5).restore(state)


def test_states_of_data_that_only_looks_the_same_are_refused(tmp_path: Path):
    """The names, the sizes and the numbers of records are the same: the state knows the content."""

    def loader(first: int, rows: slice = slice(None)) -> rs.Loader[Any]:
        write_numbered(tmp_path / "a.tfrecord", 500, first)
        return rs.open(tmp_path / "a.tfrecord", schema=SCHEMA)[rows].shuffle(seed=0).batch(8)

    state = loader(0).state()
    loader(0).restore(state)
    with pytest.raises(rs.PipelineError, match="other data"):
        loader(1000).restore(state)
    state = loader(0, slice(0, 100)).state()
    with pytest.raises(rs.PipelineError, match="other data"):
        loader(0, slice(100, 200)).restore(state)


def test_a_copy_of_the_data_takes_the_state(ds: rs.Dataset, tmp_path: Path):
    loader = ds.shuffle(seed=3).batch(32)
    next(iter(loader))
    shutil.copyfile(ds.files[0], tmp_path / "a.tfrecord")
    copied = rs.open(tmp_path / "a.tfrecord", schema=SCHEMA).shuffle(seed=3).batch(32)
    assert fed(copied.restore(loader.state())) == fed(ds.shuffle(seed=3).batch(32))[1:]


@pytest.mark.parametrize(
    "change",
    [
        {"chain": None},
        {"chain": {}},
        {"chain": "x"},
        {"epoch": "x"},
        {"epoch": -3},
        {"epoch": 2**70},
        {"epoch": None},
        {"epoch": 1.5},
        {"epoch": True},
        {"batch": -7},
        {"batch": 10**9},
        {"batch": [3]},
        {"position": 10**12},
        {"position": -1},
        {"waiting": [5]},
        {"waiting": 5},
        {"version": 3},
        {"layout": None},
        {"layout": {}},
        {"layout": {"world": 0, "remainder": "even", "sizes": [8]}},
        {"layout": {"world": 1, "remainder": "even", "sizes": [0]}},
        {"layout": {"world": 1, "remainder": "x", "sizes": [8]}},
        {"rows_before": -1},
        {"rows_before": 10**9},
        {"rows_before": "x"},
        {"format": None},
    ],
)
@pytest.mark.parametrize("name", ["shuffled", "filtered", "buckets"])
def test_states_that_were_tampered_with_are_refused(name: str, change: dict[str, Any], ds: rs.Dataset):
    if name == "buckets" and "waiting" in change:
        change = {"waiting": [7, 7]}
    loader = CHAINS[name](ds)
    batches = iter(loader)
    next(batches)
    next(batches)
    state = {**loader.state(), **change}
    with pytest.raises(rs.PipelineError):
        CHAINS[name](ds).restore(state)
    for gone in ("format", "version", "chain", "layout", "epoch", "batch", "position"):
        with pytest.raises(rs.PipelineError):
            CHAINS[name](ds).restore({part: value for part, value in loader.state().items() if part != gone})


@pytest.mark.parametrize("nothing", [None, [], "state", 3])
def test_what_is_no_state_is_refused(nothing: Any, ds: rs.Dataset):
    with pytest.raises(rs.PipelineError, match="not the state"):
        ds.batch(8).restore(nothing)


@pytest.mark.parametrize("name", CHAINS)
def test_random_states_are_refused_or_lead_to_a_place_of_the_epoch(name: str, ds: rs.Dataset):
    chance = random.Random(name)
    loader = CHAINS[name](ds)
    batches = iter(loader)
    states = [loader.state()]
    for _ in range(4):
        next(batches)
        states.append(loader.state())
    values: list[Any] = [0, 1, -1, 3, 7, 2**31, 2**63, 2**70, 0.5, None, "", "1", [], [1], {}, True, 600, 599, 601]
    taken = 0
    for _ in range(150):
        state = json.loads(json.dumps(chance.choice(states)))
        for _ in range(chance.randrange(1, 3)):
            place = chance.choice(
                ["epoch", "batch", "position", "waiting", "format", "version", "chain", "layout", "rows_before"]
            )
            state[place] = chance.choice(values)
        try:
            resumed = CHAINS[name](ds).restore(state)
        except rs.PipelineError:
            continue
        taken += 1
        if taken < 12:  # the rest of the epoch is fed, whatever it is
            for batch in resumed:
                assert len(batch["n"])
