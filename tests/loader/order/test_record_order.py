"""Orders: exact, uniform, the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.loader.order.buffer_shuffle import BufferShuffled
from recordsmith.loader.order.record_order import Records, Repeated, Shard, Shuffled
from tests.loader.numbered import ROWS, SCHEMA, numbers_of, write_numbered


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    folder = tmp_path_factory.mktemp("numbered")
    for shard in range(3):
        write_numbered(folder / f"data-{shard:05}-of-00003", 100, 100 * shard)
    write_numbered(folder / "all.tfrecord")
    return rs.open(folder / "all.tfrecord", schema=SCHEMA)


def test_orders_of_known_seeds_are_pinned():
    """Whoever resumes a run, or repeats one from a paper, relies on these values."""
    assert Shuffled(Records(10), 0).at(0, np.arange(10)).numbers.tolist() == [0, 3, 8, 7, 2, 6, 5, 1, 4, 9]
    assert Shuffled(Records(10), 0).at(1, np.arange(10)).numbers.tolist() == [5, 7, 4, 8, 2, 3, 0, 6, 1, 9]
    assert Shuffled(Records(10**9), 7).at(0, np.arange(4)).numbers.tolist() == [
        90590166,
        918993386,
        955864326,
        591368234,
    ]
    assert BufferShuffled(Records(10), 0, 3).at(0, np.arange(10)).numbers.tolist() == [1, 3, 2, 4, 5, 6, 8, 0, 9, 7]


def test_every_epoch_has_every_row_once_in_another_order(ds: rs.Dataset):
    loader = ds.shuffle(seed=3).batch(32)
    first, second = numbers_of(loader), numbers_of(loader)
    assert sorted(first) == sorted(second) == list(range(ROWS))
    assert first != second


def test_the_order_does_not_depend_on_threads_or_batches(ds: rs.Dataset):
    expected = numbers_of(ds.shuffle(seed=3).batch(32, threads=0))
    for size in (1, 7, 64, 1000):
        for threads in (0, 1, 2, 4):
            assert numbers_of(ds.shuffle(seed=3).batch(size, threads=threads)) == expected


def test_another_seed_is_another_order(ds: rs.Dataset):
    assert numbers_of(ds.shuffle(seed=1).batch(50)) != numbers_of(ds.shuffle(seed=2).batch(50))


def test_without_reshuffling_epochs_are_the_same(ds: rs.Dataset):
    loader = ds.shuffle(seed=1, reshuffle=False).batch(50)
    assert numbers_of(loader) == numbers_of(loader)


def test_every_position_is_hit_evenly():
    """Where row 0 lands in 2,000 epochs of 20 rows: chi-square, 19 degrees of freedom, below 50 but for 1 in 10,000."""
    order = Shuffled(Records(20), seed=5)
    places = [int(np.flatnonzero(order.at(epoch, np.arange(20)).numbers == 0)[0]) for epoch in range(2000)]
    counts = np.bincount(places, minlength=20)
    assert ((counts - 100) ** 2 / 100).sum() < 50


def test_large_orders_are_even_too():
    """Beyond 65,536 rows, where orders are computed: who comes first in 2,000 epochs, and where a run of rows goes."""
    rows = 100_000
    order = Shuffled(Records(rows), seed=5)
    firsts = [int(order.at(epoch, np.zeros(1, np.int64)).numbers[0]) for epoch in range(2000)]
    counts = np.bincount(np.array(firsts) * 20 // rows, minlength=20)
    assert ((counts - 100) ** 2 / 100).sum() < 50
    where = np.argsort(order.at(0, np.arange(rows)).numbers)[:20_000]
    counts = np.bincount(where * 20 // rows, minlength=20)
    assert ((counts - 1000) ** 2 / 1000).sum() < 50


def test_neighbours_do_not_stay_neighbours():
    numbers = Shuffled(Records(100_000), seed=1).at(0, np.arange(100_000)).numbers
    assert np.count_nonzero(np.abs(np.diff(numbers)) <= 2) < 20  # 4 are expected


def test_a_billion_records_cost_nothing():
    order = Shard(Shuffled(Records(10**9), 3), 5, 8)
    numbers = order.at(0, np.arange(1000)).numbers
    assert order.length == 125_000_000
    assert len(np.unique(numbers)) == 1000
    assert numbers.max() > 9 * 10**8


@pytest.mark.parametrize("rows", [10, 11, 13, 64, 65, 100])
@pytest.mark.parametrize("size", [1, 4, 8, 32])
def test_shards_are_disjoint_and_have_the_same_number_of_batches(rows: int, size: int, ds: rs.Dataset):
    for world in (1, 2, 3, 4):
        if size == 1 and rows % world:
            continue  # refused: a rank would get an empty batch
        loaders = [ds.take(rows).shuffle(seed=5).shard(rank, world).batch(size, threads=0) for rank in range(world)]
        fed = [[batch["n"].tolist() for batch in loader] for loader in loaders]
        assert len({len(batches) for batches in fed}) == 1
        assert [len(batches) for batches in fed] == [len(loader) for loader in loaders]
        assert sorted(n for batches in fed for batch in batches for n in batch) == list(range(rows))


def test_rules_for_the_remainder(ds: rs.Dataset):
    def share(rank: int, remainder: str) -> list[int]:
        return numbers_of(ds.take(10).shard(rank, 3, remainder=remainder).batch(2))  # type: ignore[arg-type]

    assert [len(share(rank, "even")) for rank in range(3)] == [4, 3, 3]
    assert [len(share(rank, "drop")) for rank in range(3)] == [3, 3, 3]
    assert [share(rank, "repeat") for rank in range(3)] == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]


def test_a_buffer_shuffles_within_its_reach(ds: rs.Dataset):
    fed = numbers_of(ds.shuffle(seed=0, buffer=10).batch(64))
    assert sorted(fed) == list(range(ROWS))
    assert all(n < place + 10 for place, n in enumerate(fed))


def test_repeating_counts_epochs():
    drawn = Repeated(Shuffled(Records(3), 0), 2).at(1, np.arange(6))
    assert drawn.epochs.tolist() == [2, 2, 2, 3, 3, 3]
    assert sorted(drawn.numbers[:3].tolist()) == [0, 1, 2]


def test_several_files_are_one_order(ds: rs.Dataset, tmp_path: Path):
    folder = Path(ds.files[0]).parent
    whole = rs.open(str(folder / "data-*"), schema=SCHEMA)
    assert sorted(numbers_of(whole.shuffle(seed=0).batch(7))) == list(range(300))


def test_balanced_classes(ds: rs.Dataset):
    def counts(loader: rs.Loader) -> Any:
        return np.bincount([y for batch in loader for y in batch["label"].tolist()], minlength=5).tolist()

    some = ds.take(52)  # classes 0 and 1 have 11 rows, the others 10
    assert counts(some.balance("label").batch(8)) == [11] * 5
    assert counts(some.balance("label", "undersample").batch(8)) == [10] * 5
    assert counts(some.balance("label", {"0": 100, "4": 0}).batch(8)) == [100, 11, 10, 10, 0]
    loader = some.balance("label", "undersample").batch(100)
    assert numbers_of(loader) != numbers_of(loader)


def test_a_mix_keeps_its_shares(ds: rs.Dataset):
    few = ds.skip(400)
    mixed = ds.take(400).mix(few, weights=[0.8, 0.2], seed=1).batch(100)
    fed = numbers_of(mixed)
    assert len(fed) == len(set(fed)) == 500
    for start in range(0, 500, 100):
        assert 10 <= sum(n >= 400 for n in fed[start : start + 100]) <= 30
    everything = numbers_of(ds.take(400).mix(few, weights=[0.5, 0.5], stop="all").batch(100))
    assert len(everything) == 800
    assert set(everything) == set(range(ROWS))
