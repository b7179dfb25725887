"""A dataset as PyTorch's map-style datasets are used, and columns in the hands of libraries that rebuild sequences."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.numbered import SCHEMA, write_numbered

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, DistributedSampler, Subset, WeightedRandomSampler, default_convert  # noqa: E402 - there may be none


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    return rs.open(write_numbered(tmp_path_factory.mktemp("numbered") / "a.tfrecord", 60), schema=SCHEMA)


def test_several_rows_are_the_rows_one_by_one(ds: rs.Dataset):
    numbers = [5, 0, -1, 5]
    for fetched, number in zip(ds.__getitems__(numbers), numbers, strict=True):
        one = ds[number]
        assert (fetched["n"], fetched["text"], fetched["values"].tolist()) == (
            one["n"],
            one["text"],
            one["values"].tolist(),
        )
    assert ds.__getitems__([]) == []
    with pytest.raises(IndexError, match="no record 60"):
        ds.__getitems__([60])


def test_samplers_choose_the_rows(ds: rs.Dataset):
    plain = pickle.loads(pickle.dumps(ds.select("n", "label")))

    def rows(**options: Any) -> list[int]:
        return [int(n) for batch in DataLoader(plain, batch_size=7, **options) for n in batch["n"]]

    assert rows() == list(range(60))
    assert sorted(rows(shuffle=True)) == list(range(60))
    shares = [rows(sampler=DistributedSampler(plain, num_replicas=3, rank=rank)) for rank in range(3)]
    assert sorted(chain(*shares)) == list(range(60))
    assert set(rows(sampler=WeightedRandomSampler([n < 3 for n in range(60)], 40))) <= {0, 1, 2}
    assert [int(n) for n in next(iter(DataLoader(Subset(plain, [9, 7]), batch_size=2)))["n"]] == [9, 7]


def test_libraries_leave_columns_whole(ds: rs.Dataset):
    """They rebuild sequences with type(x)(list), which these columns could not be built from."""
    (batch,) = ds[:5].batch(5)
    for name in ("text", "values"):
        assert not isinstance(batch[name], Sequence)
        assert default_convert(batch)[name] is batch[name]
        assert next(reversed(batch["text"])) == batch["text"][-1]
        assert "row 3" in batch["text"]
    utilities = pytest.importorskip("lightning_utilities")
    moved = utilities.core.apply_func.apply_to_collection(batch, torch.Tensor, lambda tensor: tensor)
    assert moved["values"] is batch["values"]


def test_a_loader_has_no_batches_by_number(ds: rs.Dataset):
    loader = ds.batch(30)
    with pytest.raises(rs.PipelineError, match="one after the other") as raised:
        loader[0]
    assert isinstance(raised.value, TypeError)
    assert "to_torch()" in str(raised.value)
    assert len(list(loader)) == 2


@pytest.mark.parametrize("name", ["to_torch", "to_tf", "to_jax", "to_keras", "state"])
def test_a_dataset_says_that_batches_have_it(name: str, ds: rs.Dataset):
    assert not hasattr(ds, name)
    with pytest.raises(AttributeError, match=rf"ds\.batch\(32\)\.{name}"):
        getattr(ds, name)
    with pytest.raises(AttributeError, match="no attribute 'to_troch'"):
        _ = ds.to_troch
