"""A state that was saved with another number of ranks or another batch size: what is left of the epoch comes once."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.chain_model import BeyondHorizonError, is_endless, rows_of
from tests.loader.numbered import SCHEMA, numbers_of, write_numbered
from tests.loader.random_chains import built, random_rows, small_pieces, write_rows

SHOWN = {
    "numpy (the loader itself)": {
        "several ranks": "test_random_chains_continue_with_other_ranks_and_batches",
    },
}

CHAINS = 600
LAYOUTS = 4  # that a chain is continued with, one after the other


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    return rs.open(write_numbered(tmp_path_factory.mktemp("numbered") / "a.tfrecord"), schema=SCHEMA)


def ranks_of(rows: Any, world: int, size: int, remainder: Any) -> list[Any]:
    """The loaders of all ranks; one rank may do without sharding."""
    if world == 0:
        return [rows.batch(size, threads=0)]
    return [rows.shard(rank, world, remainder=remainder).batch(size, threads=0) for rank in range(world)]


def in_order(fed: list[list[int]]) -> list[int]:
    """The rows that all ranks have fed, as their positions go round."""
    longest = max(map(len, fed), default=0)
    return [rows[place] for place in range(longest) for rows in fed if place < len(rows)]


def test_random_chains_continue_with_other_ranks_and_batches(tmp_path: Path):
    """Held against a model too simple to be wrong: the list of the epoch's rows, of which ranks feed the beginning."""
    datasets = write_rows(tmp_path)
    held = 0
    with small_pieces(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.PipelineWarning)
        for seed in range(CHAINS):
            choose = random.Random(seed)
            chain = random_rows(choose)
            try:
                rows = built(chain, datasets)
            except rs.PipelineError:
                continue
            try:
                held += continued(chain, rows, choose)
            except BeyondHorizonError:
                continue
            except Exception as error:
                error.add_note(f"seed {seed}, chain {chain}")
                raise
    assert held > CHAINS // 3


def continued(chain: Any, rows: Any, choose: random.Random) -> bool:
    """Feed an epoch with several layouts, one after the other, and compare with the model; say whether it was done."""
    if is_endless(chain) or chain[-1][0] == "shard":
        return False
    epoch = choose.randrange(3)
    expected = [n for n, _ in rows_of(chain, epoch)]
    done: list[int] = []
    state: dict[str, Any] | None = None
    for turn in range(LAYOUTS):
        world, size = choose.choice((0, 1, 2, 3, 4)), choose.choice((1, 2, 3, 5))
        try:
            ranks = ranks_of(rows, world, size, "even")
            if state is not None:
                ranks[0].restore(state)
        except rs.PipelineError as error:
            assert "ranks" in error.problem  # noqa: PT017 - too few rows for so many, when built or now
            world, size = 0, 2
            ranks = ranks_of(rows, world, size, "even")
        is_last = turn == LAYOUTS - 1
        most = None if is_last else choose.randrange(3)
        fed, states = [], []
        for loader in ranks:
            if state is None:
                loader.set_epoch(epoch)
            else:
                loader.restore(state)
            batches = list(islice(loader, most))
            fed.append(numbers_of(batches))
            states.append(loader.state() if batches else state)
            assert all(len(batch["n"]) for batch in batches)
        done += in_order(fed)
        assert done == expected[: len(done)]
        state = choose.choice(states)
        if len(done) == len(expected):
            break
    assert done == expected
    return bool(expected)


@pytest.mark.parametrize("remainder", ["drop", "repeat"])
def test_ranks_that_drop_or_repeat_rows_feed_each_of_the_others_once(ds: rs.Dataset, remainder: Any):
    shuffled = ds.shuffle(seed=3)
    expected = numbers_of(shuffled.batch(50))
    before = ranks_of(shuffled, 4, 8, remainder)
    fed = [numbers_of(islice(loader, 5)) for loader in before]
    after = [numbers_of(loader.restore(before[1].state())) for loader in ranks_of(shuffled, 3, 10, remainder)]
    rows = in_order(fed) + in_order(after)
    counts = Counter(rows)
    assert rows[: len(ds) - 2] == expected[: len(ds) - 2]
    assert len(set(map(len, after))) == 1
    if remainder == "drop":
        assert set(counts.values()) == {1}
        assert len(ds) - len(counts) < 3
    else:
        assert len(counts) == len(ds)
        assert len(rows) - len(ds) < 3


def test_only_the_batch_size_of_buckets_and_filters_may_change(ds: rs.Dataset):
    odd = ds.shuffle(seed=2).filter(lambda row: row["n"] % 2 == 1)
    expected = numbers_of(odd.batch(10))
    loader = odd.batch(10)
    fed = numbers_of(islice(loader, 4))
    assert fed + numbers_of(odd.batch(7).restore(loader.state())) == expected
    buckets = ds.shuffle(seed=2).bucket_batch("values", [2, 4], size=[5, 7, 9])
    fed = numbers_of(islice(buckets, 6))
    rest = numbers_of(ds.shuffle(seed=2).bucket_batch("values", [2, 4], size=[3, 9, 4]).restore(buckets.state()))
    assert sorted(fed + rest) == list(range(len(ds)))
    shares = [ds.shuffle(seed=2).shard(0, world).filter(lambda row: row["n"] % 2 == 1).batch(5) for world in (2, 3)]
    next(iter(shares[0]))
    with pytest.raises(rs.PipelineError, match="not known which rows the other ranks have fed"):
        shares[1].restore(shares[0].state())


def test_what_cannot_be_continued_otherwise_is_refused_with_the_reason(ds: rs.Dataset):
    two, three = (ds.shard(0, world).shuffle(seed=1).batch(8) for world in (2, 3))
    next(iter(two))
    with pytest.raises(rs.PipelineError, match="another chain") as caught:
        three.restore(two.state())
    assert "if .shard() is the last verb" in str(caught.value)
    counted = ds.batch(8).take(9)
    next(iter(counted))
    with pytest.raises(rs.PipelineError, match="this chain counts batches"):
        ds.batch(4).take(9).restore(counted.state())
    almost = ds.take(20).batch(19)
    next(iter(almost))
    with pytest.raises(rs.PipelineError, match="cannot be divided among the ranks"):
        ds.take(20).shard(0, 4).batch(2).restore(almost.state())


def test_the_state_of_one_rank_serves_all_of_them(ds: rs.Dataset):
    def ranks() -> list[Any]:
        return [ds.shuffle(seed=4).shard(rank, 3).batch(8) for rank in range(3)]

    whole = [[batch["n"].tolist() for batch in loader] for loader in ranks()]
    saving = ranks()[2]
    for _ in islice(saving, 6):
        pass
    resumed = [[batch["n"].tolist() for batch in loader.restore(saving.state())] for loader in ranks()]
    assert resumed == [batches[6:] for batches in whole]
