"""Every chain feeds what its model says: in order, in every epoch, and after a resume at any batch."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.loader.order.record_order import ENDLESS, Part, Records, Repeated
from tests.loader.numbered import SCHEMA, numbers_of, write_numbered
from tests.loader.random_chains import compare_random_chains

CHAINS = int(os.environ.get("RECORDSMITH_CHAINS", "20000"))


@pytest.mark.parametrize("part", range(4))
def test_random_chains_are_their_models(tmp_path: Path, part: int):
    compared, refused = compare_random_chains(tmp_path, range(500 * part, 500 * (part + 1)))
    assert compared > 2 * refused


@pytest.mark.proof
@pytest.mark.parametrize("part", range(8))
def test_many_random_chains_are_their_models(tmp_path: Path, part: int):
    """RECORDSMITH_CHAINS=1000000 holds a million of them."""
    compare_random_chains(tmp_path, range(10_000 + part, 10_000 + CHAINS, 8))


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    return rs.open(write_numbered(tmp_path_factory.mktemp("numbered") / "a.tfrecord"), schema=SCHEMA)


@pytest.mark.filterwarnings("ignore::recordsmith.PipelineWarning")
@pytest.mark.parametrize("size", [10, 100, 503])
def test_a_shuffle_around_a_repeat_feeds_every_row_as_often(ds: rs.Dataset, size: int):
    fed = numbers_of(ds.shuffle(seed=0).repeat(2).shuffle(seed=1).batch(size))
    assert set(Counter(fed).values()) == {2}
    assert len(fed) == 2 * len(ds)


@pytest.mark.filterwarnings("ignore::recordsmith.PipelineWarning")
def test_a_shuffle_around_a_repeat_of_files_that_are_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("recordsmith.loader.order.read_blocks.CACHE_BYTES", 1000)
    monkeypatch.setattr("recordsmith.loader.order.read_blocks.BLOCK_BYTES", 200)
    compressed = rs.open(write_numbered(tmp_path / "a.tfrecord.gz", 60, compression="gzip"), schema=SCHEMA)
    once = numbers_of(compressed.shuffle(seed=0).batch(7))
    assert sorted(once) == list(range(60))
    assert sorted(numbers_of(compressed.shuffle(seed=0).repeat(2).shuffle(seed=1).batch(7))) == sorted([*range(60)] * 2)


def test_a_repeated_dataset_is_mixed_whole(ds: rs.Dataset):
    mixed = ds.take(100).shuffle(seed=0).repeat(3).mix(ds.skip(100).take(300).shuffle(seed=0), seed=5).batch(50)
    assert Counter(numbers_of(mixed)) == {n: 3 if n < 100 else 1 for n in range(400)}


@pytest.mark.parametrize("lengths", [(334, 334, 334), (400, 335, 334), (7, 50, 3), (503, 2, 503)])
def test_a_mix_of_several_takes_every_row_at_most_once(ds: rs.Dataset, lengths: tuple[int, ...]):
    rows = [Repeated(Records(length), 1) for length in lengths]
    loaders: list[rs.Loader[Any]] = [rs.Loader(replace(ds.plan, order=order)) for order in rows]

    def mixed(weights: Any, stop: Any) -> Any:
        return loaders[0].mix(*loaders[1:], weights=weights, stop=stop).plan.order

    order = mixed(None, "first")
    drawn = order.at(0, np.arange(order.length)).numbers
    assert len(set(drawn.tolist())) == order.length
    for weights in ([1, 1e-3, 1], [5, 1e-6, 2]):
        order = mixed(weights, "first")
        assert len(set(order.at(0, np.arange(order.length)).numbers.tolist())) == order.length
    order = mixed([0.9, 0.05, 0.05], "all")
    owners = np.bincount(order.at(0, np.arange(order.length)).numbers // len(ds), minlength=3)
    assert (owners >= np.minimum(lengths, len(ds))).all()


def test_weights_that_never_end_are_refused(ds: rs.Dataset):
    with pytest.raises(rs.PipelineError, match="would not end"):
        ds.mix(ds, weights=[1, 1e-300], stop="all")
    for weights in ([1, "a"], [1, float("nan")], [1, 0], 3):
        with pytest.raises(rs.PipelineError, match="a weight above 0"):
            ds.mix(ds, weights=weights)  # type: ignore[arg-type]


def test_a_class_that_no_row_has_left_is_not_asked_for(ds: rs.Dataset):
    few = ds.take(3)  # classes 0, 1 and 2 of five
    assert sorted(numbers_of(few.balance("label").batch(2))) == [0, 1, 2]
    with pytest.raises(rs.PipelineError, match="none has it"):
        few.balance("label", {"4": 2})


def test_rows_that_balance_brings_again_have_random_streams_of_their_own(ds: rs.Dataset):
    order = ds.take(6).balance("label").batch(1).plan.order  # class 0 has two rows, the others one
    drawn = order.at(0, np.arange(order.length))
    assert len(set(zip(drawn.numbers.tolist(), drawn.epochs.tolist(), strict=True))) == order.length


def test_the_end_of_an_epoch_is_the_beginning_of_the_next(ds: rs.Dataset):
    """Also where files are read in order, and their end is only known when it comes."""
    for chain in (ds.batch(100), ds.shuffle(seed=1).batch(100), ds.batch(100).repeat(2)):
        list(chain)
        state = chain.state()
        list(chain)
        after = chain.state()
        list(chain.restore(state))
        list(chain)
        list(chain.restore(after))
        assert chain.session.upcoming().epoch == 3 * (chain.plan.epochs_fed or 0)


def test_a_chain_of_rows_has_no_state(ds: rs.Dataset):
    rows = ds.shuffle(seed=0)
    next(iter(rows))
    with pytest.raises(rs.PipelineError, match="no batches yet"):
        rows.state()


# --- what has no end ---


def test_the_rest_of_an_endless_order_is_endless(ds: rs.Dataset):
    assert Part(Repeated(Records(3), None), 5, ENDLESS).length == ENDLESS
    endless = ds.shuffle(seed=0).repeat().skip(5)
    with pytest.raises(TypeError, match="no length"):
        len(endless)
    with pytest.raises(rs.PipelineError, match="endless repeat"):
        endless.shuffle(seed=0)
    assert len(endless.batch(4).take(3)) == 3
    assert len(numbers_of(endless.batch(4).take(3))) == 12


@pytest.mark.parametrize(
    "chain",
    [
        lambda ds: ds.take(0).batch(2).repeat(),
        lambda ds: ds.batch(2).take(0).repeat(),
        lambda ds: ds.take(0).repeat().batch(2),
        lambda ds: ds.filter(bool).batch(2).take(0),
    ],
)
def test_an_endless_repeat_of_nothing_ends(ds: rs.Dataset, chain: Callable[[rs.Dataset], rs.Loader[Any]]):
    assert list(chain(ds)) == []


def test_an_endless_repeat_of_what_a_filter_leaves_says_that_there_is_nothing(ds: rs.Dataset):
    nothing = ds.take(3).filter(lambda row: row["n"] < 0).batch(2, threads=0).repeat()
    with pytest.raises(rs.PipelineError, match="yields no batches"):
        next(iter(nothing))


def test_numbers_beyond_64_bits_are_rows_all_the_same(ds: rs.Dataset):
    few = ds.take(3)
    assert numbers_of(few.take(1 << 80).batch(2)) == [0, 1, 2]
    assert numbers_of(few.skip(1 << 80).batch(2)) == []
    assert sorted(numbers_of(few.shuffle(seed=0, buffer=1 << 80).batch(2))) == [0, 1, 2]
    assert numbers_of(few.batch(1 << 80)) == [0, 1, 2]
    forever = few.shuffle(seed=1).repeat(1 << 80).batch(3)
    state = {**forever.state(), "epoch": 7}
    assert sorted(next(iter(forever.restore(state)))["n"].tolist()) == [0, 1, 2]
    with pytest.raises(rs.PipelineError, match="number of ranks"):
        few.shard(0, 1 << 80, remainder="repeat")
    with pytest.raises(rs.PipelineError, match="more rows than can be counted"):
        few.balance("label", {"0": 1 << 80})
