"""rs.mix: shares that change within an epoch, many sources, and what each of them gave."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.loader.order import mixed as mixing

SCHEMA = rs.Schema({"n": rs.Scalar("int64")})


def sources(folder: Path, *sizes: int) -> list[rs.Dataset]:
    """Datasets whose rows are the number of the dataset times a million, and more."""
    for number, size in enumerate(sizes):
        with rs.RecordWriter(folder / f"{number}.tfrecord") as writer:
            writer.write_columns({"n": number * 1_000_000 + np.arange(size)}, SCHEMA)
    return [rs.open(folder / f"{number}.tfrecord", schema=SCHEMA) for number in range(len(sizes))]


def owners(loader: Any) -> list[int]:
    return [n // 1_000_000 for batch in loader for n in batch["n"].tolist()]


def test_shares_change_at_the_rows_that_were_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mixing, "_WINDOW", 10)
    loader = rs.mix(sources(tmp_path, 400, 300), weights={0: [1, 0], 50: [1, 1], 150: [1, 3]}, seed=2).batch(10)
    given = owners(loader)
    assert given[:50] == [0] * 50
    assert sum(given[50:150]) == 50
    assert sum(given[150:250]) == 75
    assert sum(given) == 300  # until the second one is used up
    whole = [batch["n"].tolist() for batch in rs.mix(loader_sources(tmp_path), weights=[4, 3]).batch(7)]
    assert len({n for batch in whole for n in batch}) == sum(map(len, whole))


def loader_sources(folder: Path) -> list[Any]:
    return [rs.open(folder / f"{number}.tfrecord", schema=SCHEMA).shuffle(seed=number) for number in range(2)]


@pytest.mark.parametrize("stop", ["first", "all"])
def test_a_schedule_of_one_share_is_that_share(tmp_path: Path, stop: Any):
    both = sources(tmp_path, 40, 90)
    plain = [batch["n"].tolist() for batch in rs.mix(both, weights=[2, 3], stop=stop).batch(8)]
    phased = rs.mix(both, weights={0: [2, 3], 20: [2, 3]}, stop=stop).batch(8)
    assert [len(batch["n"]) for batch in phased][:-1] == [len(batch) for batch in plain][:-1]
    assert abs(len(owners(phased)) - sum(map(len, plain))) <= 2


def test_a_state_continues_in_the_middle_of_a_schedule_and_knows_what_each_source_gave(tmp_path: Path):
    def build() -> Any:
        return rs.mix(sources(tmp_path, 60, 60, 60), weights={0: [1, 1, 0], 30: [0, 1, 2]}, stop="first").batch(4)

    loader = build()
    whole = [batch["n"].tolist() for batch in loader]
    assert loader.rows_by_source() == np.bincount(owners_of(whole)).tolist()
    for count in (1, 9, 15):
        loader = build()
        batches = iter(loader)
        fed = [next(batches)["n"].tolist() for _ in range(count)]
        assert loader.rows_by_source() == np.bincount(owners_of(fed), minlength=3).tolist()
        assert [batch["n"].tolist() for batch in build().restore(loader.state())] == whole[count:]


def owners_of(batches: list[list[int]]) -> list[int]:
    return [n // 1_000_000 for batch in batches for n in batch]


def test_hundreds_of_sources_are_read_by_the_same_threads(tmp_path: Path):
    many = sources(tmp_path, *[3] * 200)
    loader = rs.mix(many).batch(50, threads=2)
    assert sorted(set(owners(loader))) == list(range(200))
    assert sum(loader.rows_by_source()) == 600


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda both: rs.mix(both[:0]), "needs a list of datasets"),
        (lambda both: rs.mix([both[0], "b"]), "needs a list of datasets"),
        (lambda both: rs.mix(both, weights={5: [1, 1]}), "starting at 0 and increasing"),
        (lambda both: rs.mix(both, weights={0: [1, 1], 9: [0, 0]}), "of at least 0"),
        (lambda both: rs.mix(both, weights={0: [1, 0], 9: [2, 0]}), "weight 0 throughout"),
        (lambda both: rs.mix(both, weights={0: [1, 1], 4: [1, 0]}, stop="all"), "would not end"),
        (lambda both: both[0].filter(bool).batch(2).rows_by_source(), "only known while they are read"),
    ],
)
def test_what_cannot_be_mixed_is_refused_with_the_reason(tmp_path: Path, call: Callable[[Any], Any], said: str):
    with pytest.raises(rs.PipelineError, match=said):
        call(sources(tmp_path, 10, 10))


@pytest.mark.parametrize("stop", ["first", "all"])
@pytest.mark.parametrize("taken", [0, 1, 6, 7, 15])
def test_a_source_can_be_added_to_a_running_mixture(
    tmp_path: Path, taken: int, stop: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mixing, "_WINDOW", 10)
    a, b, c = (ds.shuffle(seed=3) for ds in sources(tmp_path, 60, 90, 50))

    def grown() -> Any:
        return rs.mix([a, b, c], weights=[1, 1, 2], stop=stop).batch(7)

    running = rs.mix([a, b], stop=stop).batch(7)
    batches = iter(running)
    before = [next(batches)["n"].tolist() for _ in range(taken)]
    loader = grown().restore(running.state())
    batches = iter(loader)
    rest = []
    for batch in batches:
        rest.append(batch["n"].tolist())
        state = loader.state()
        if state["batch"]:
            assert loader.rows_by_source() == np.bincount(owners_of(before + rest), minlength=3).tolist()
    rows = [n for batch in before + rest for n in batch]
    fed = np.bincount(owners_of(before + rest), minlength=3)
    if stop == "first":
        assert len(set(rows)) == len(rows)  # nothing twice
        assert max(fed / [60, 90, 50]) == 1.0
    else:
        assert len(set(rows)) == 200  # everything, the shorter ones more often
    after = owners_of(before + rest)[-(-7 * taken // 10) * 10 :][:20]  # ten rows that were begun are finished
    assert [after.count(owner) for owner in range(3)] == [5, 5, 10]
    whole = [batch["n"].tolist() for batch in grown()]
    assert [batch["n"].tolist() for batch in loader] != whole  # the next epoch, and in another order
    # It can be interrupted again.
    for count in (1, 2):
        loader = grown().restore(running.state())
        batches = iter(loader)
        fed_again = [next(batches)["n"].tolist() for _ in range(count)]
        assert fed_again == rest[:count]
        assert [batch["n"].tolist() for batch in grown().restore(loader.state())] == rest[count:]


def test_shares_of_a_running_mixture_can_be_changed_by_all_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mixing, "_WINDOW", 10)
    both = [ds.shuffle(seed=1) for ds in sources(tmp_path, 80, 120)]
    first = [rs.mix(both).shard(rank, 2).batch(4) for rank in range(2)]
    running = [iter(loader) for loader in first]
    before = [next(batches)["n"].tolist() for batches in running for _ in range(5)]
    state = first[0].state()
    later = [rs.mix(both, weights=[1, 3]).shard(rank, 2).batch(5).restore(state) for rank in range(2)]
    rest = [batch["n"].tolist() for loader in later for batch in loader]
    rows = [n for batch in before + rest for n in batch]
    assert len(set(rows)) == len(rows)
    owned = owners_of(rest)
    assert abs(owned.count(1) - 3 * owned.count(0)) <= 6
    third = rs.mix(both, weights=[1, 3]).shard(0, 3).batch(5).restore(state)
    assert all(n not in {n for batch in before for n in batch} for batch in third for n in batch["n"].tolist())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"shares": [[0, [1, 1, 1, 1]]]}, "'shares'"),
        ({"shares": [[1, [1, 1]]]}, "'shares'"),
        ({"shares": [[0, [-1, 1]]]}, "'shares'"),
        ({"shares": [[0, [0, 0]]]}, "'shares'"),
        ({"shares": [[0, [1 << 9999, 1]]]}, "'shares'"),
        ({"shares": None}, "'shares'"),
        ({"changes": [[[[0, [1, 1]]], 10_000]]}, "'changes'"),
        ({"changes": [[[[0, [1, 1, 1, 1]]], 10]]}, "'changes'"),
        ({"changes": [[[[0, [1, 1]]], 0]]}, "'changes'"),
        ({"changes": [[1, 2, 3]]}, "'changes'"),
        ({"changes": 7}, "'changes'"),
        ({"chain": {"verbs": "batch()", "data": ["x"]}}, "other data"),
    ],
)
def test_a_damaged_state_of_a_mixture_is_refused(tmp_path: Path, change: Any, said: str):
    a, b, c = sources(tmp_path, 60, 90, 50)
    state = {**rs.mix([a, b]).batch(7).state(), **change}
    with pytest.raises(rs.PipelineError, match=said):
        rs.mix([a, b, c]).batch(7).restore(state)


def test_a_source_cannot_be_removed_or_exchanged(tmp_path: Path):
    a, b, c = sources(tmp_path, 60, 90, 50)
    state = rs.mix([a, b, c]).batch(7).state()
    for others in ([a, b], [a, c, b]):
        with pytest.raises(rs.PipelineError, match="other data"):
            rs.mix(others).batch(7).restore(state)


@pytest.mark.parametrize("seed", range(25))
def test_random_changes_lose_and_repeat_nothing(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mixing, "_WINDOW", 7)
    random = np.random.default_rng(seed)
    stop: Any = str(random.choice(["first", "all"]))
    datasets = [ds.shuffle(seed=seed) for ds in sources(tmp_path, *random.integers(10, 40, 4).tolist())]

    def built(count: int) -> Any:
        weights = random.integers(1, 5, count).tolist()
        size = int(random.integers(1, 9))
        return lambda: rs.mix(datasets[:count], weights=weights, stop=stop).batch(size, threads=0)

    count, state, fed = 2, None, []
    for turn in range(4):
        build = built(count)
        loader = build() if state is None else build().restore(json.loads(json.dumps(state)))
        start = loader.state()
        if start["epoch"]:
            break  # nothing was left of the epoch
        batches = iter(loader)
        taken = [batch["n"].tolist() for batch in islice(batches, None if turn == 3 else int(random.integers(0, 6)))]
        again = build().restore(start)
        assert [batch["n"].tolist() for batch in islice(iter(again), len(taken))] == taken
        fed += taken
        state = loader.state()
        if state["epoch"]:
            break
        if fed:
            assert loader.rows_by_source() == np.bincount(owners_of(fed), minlength=count).tolist()
        count = min(4, count + int(random.integers(0, 2)))
    rows = [n for batch in fed for n in batch]
    counts = np.bincount(owners_of(fed), minlength=4)
    if stop == "first":
        assert len(set(rows)) == len(rows)
    else:  # every round of a source is whole before the next one begins
        for owner, dataset in enumerate(datasets):
            rounds = counts[owner] // len(dataset.plan.datasets[0])
            repeats = np.unique([n for n in rows if n // 1_000_000 == owner], return_counts=True)[1]
            assert set(repeats.tolist()) <= {rounds, rounds + 1}
