"""to_jax: batches as arrays on a device."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.loader.frameworks.framework_data import PLAIN, numbered, numbers, our_threads, write

jax = pytest.importorskip("jax")


@pytest.fixture
def ds(tmp_path: Path) -> rs.Dataset:
    return numbered(tmp_path / "a.tfrecord", 50)


def test_every_feature_comes_as_arrays(tmp_path: Path) -> None:
    ds = write(tmp_path / "a.tfrecord", PLAIN, 6)
    (batch,) = ds.batch(6).to_jax()
    (native,) = ds.batch(6)
    assert isinstance(batch["matrix"], jax.Array)
    assert batch["matrix"].tolist() == native["matrix"].tolist()
    assert (batch["n"].dtype, batch["n"].tolist()) == (np.int32, native["n"].tolist())
    assert batch["boxes"].values.shape == (6, 4)
    assert batch["boxes"].offsets.tolist() == native["boxes"].offsets.tolist()
    assert [row.tolist() for row in batch["shaped"]] == native["shaped"].to_list()
    assert batch["blob"]["pixels"].shape == (6, 2, 2)
    assert batch["text"] == native["text"]
    sparse = importlib.import_module("jax.experimental.sparse").BCOO(
        (batch["sparse"].values, batch["sparse"].places), shape=(6, 10)
    )
    assert sparse.todense().tolist() == native["sparse"].dense().tolist()


@pytest.mark.parametrize("ahead", [0, 1, 5])
def test_the_same_batches_and_a_new_epoch_each_time(ds: rs.Dataset, ahead: int) -> None:
    native, batches = ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8).to_jax(ahead=ahead)
    assert len(batches) == 7
    assert [numbers(batches) for _ in range(2)] == [numbers(native) for _ in range(2)]


def test_the_state_is_that_of_what_was_received(ds: rs.Dataset) -> None:
    loader = ds.shuffle(seed=1).batch(8)
    running = iter(loader.to_jax(ahead=3))
    first = [next(running)["n"].tolist() for _ in range(2)]
    other = ds.shuffle(seed=1).batch(8).restore(loader.state())
    assert first + numbers(other.to_jax()) == numbers(ds.shuffle(seed=1).batch(8))


@pytest.mark.parametrize(("dtype", "values"), [("int64", [1, 2**40]), ("uint64", [1, 2**32]), ("float64", [0, -1e39])])
def test_numbers_that_do_not_fit_are_refused(tmp_path: Path, dtype: Any, values: list[float]) -> None:
    schema = rs.Schema({"n": rs.Scalar(dtype)})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_columns({"n": values}, schema)
    with pytest.raises(rs.PipelineError, match="32 bits") as caught:
        list(rs.open(tmp_path / "a.tfrecord", schema=schema).batch(2).to_jax())
    assert caught.value.feature == "n"


def test_numbers_that_fit_come_in_32_bits(tmp_path: Path) -> None:
    values = [np.nan, np.inf, -np.inf, 0.1, 3e38]
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_columns({"x": values}, rs.Schema({"x": rs.Scalar("float64")}))
    ds = rs.open(tmp_path / "a.tfrecord", schema=rs.Schema({"x": rs.Scalar("float64")}))
    (batch,) = ds.batch(5).to_jax()
    np.testing.assert_array_equal(batch["x"], np.array(values, np.float32))


def test_a_device_is_chosen(ds: rs.Dataset) -> None:
    device = jax.devices("cpu")[0]
    inputs, _ = next(iter(ds.batch(4).pairs("x", "y").to_jax(device=device)))
    assert inputs.devices() == {device}


def test_what_jax_has_no_array_for_is_refused(tmp_path: Path, ds: rs.Dataset) -> None:
    optional = write(tmp_path / "b.tfrecord", {"n": PLAIN["n"], "maybe": rs.Scalar("float32", optional=True)}, 4)
    with pytest.raises(rs.PipelineError, match="may lack this feature"):
        optional.batch(2).to_jax()
    with pytest.raises(rs.PipelineError, match="may lack this feature"):
        list(optional.batch(2).map(lambda batch: batch).to_jax())
    with pytest.raises(rs.PipelineError, match="batches ahead"):
        ds.batch(2).to_jax(ahead=-1)


def test_leaving_early_leaves_no_thread(ds: rs.Dataset) -> None:
    for _ in ds.shuffle(seed=0).batch(2, threads=2).to_jax():
        break
    gc.collect()
    assert our_threads() == []


def test_whatever_is_made_anew_a_new_iteration_is_a_new_epoch(ds: rs.Dataset) -> None:
    native, loader = ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8)
    iter(loader.to_jax())  # never advanced: it does not count
    assert [numbers(loader.to_jax()), numbers(loader), numbers(loader.to_jax())] == [numbers(native) for _ in range(3)]
    assert loader.state() == native.state()
