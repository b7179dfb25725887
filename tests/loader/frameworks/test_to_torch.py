"""to_torch: batches for PyTorch's DataLoader."""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import feed
from tests.loader.frameworks.framework_data import NUMBERED, PLAIN, STEPS, numbered, numbers, our_threads, write

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402 - there may be none

SHOWN = {
    "PyTorch's DataLoader": {
        "feeds": "test_each_iteration_is_a_new_epoch",
        "resumes mid-epoch": "test_state_continues_elsewhere",
        "resumes at the end": "test_a_state_from_the_end_continues_with_the_next_epoch",
        "several workers": "test_workers_repeat_nothing_and_keep_the_order",
    },
}


@pytest.fixture
def ds(tmp_path: Path) -> rs.Dataset:
    return numbered(tmp_path / "a.tfrecord", 50)


def test_every_feature_comes_as_tensors(tmp_path: Path) -> None:
    ds = write(tmp_path / "a.tfrecord", PLAIN, 6)
    (batch,) = ds.batch(6).to_torch()
    (native,) = ds.batch(6)
    for name in ("n", "matrix", "label"):
        assert batch[name].dtype == getattr(torch, native[name].dtype.name)
        assert batch[name].numpy().tolist() == native[name].tolist()
    assert batch["small"].dtype == torch.uint16
    assert [row.tolist() for row in batch["boxes"].rows()] == native["boxes"].to_list()
    assert batch["boxes"].values.shape == (6, 4)
    assert batch["tokens"].offsets.tolist() == [0, 0, 1, 3, 3, 4, 6]
    assert [row.tolist() for row in batch["wide"]] == native["wide"].to_list()
    assert [row.tolist() for row in batch["shaped"]] == native["shaped"].to_list()
    assert batch["text"] == native["text"].to_list()
    assert batch["words"].rows()[5] == ["a", "b", "5"]
    assert batch["parts"].rows()[2] == [b"\xff\x00"] * 2
    assert batch["blob"]["pixels"].shape == (6, 2, 2)
    assert batch["sparse"].to_dense().numpy().tolist() == native["sparse"].dense().tolist()


def test_steps_come_as_ragged_tensors(tmp_path: Path) -> None:
    ds = write(tmp_path / "a.tfrecord", STEPS, 6)
    (batch,) = ds.batch(6).to_torch()
    assert [row.tolist() for row in batch["times"].rows()] == [[], [0], [0, 1]] * 2
    assert batch["frames"].values.shape == (6, 2, 2)
    assert batch["said"].rows()[2] == ["word", "word"]
    assert [row.tolist() for row in batch["curves"].values.rows()] == [[], [], [0.0]] * 2


def test_a_ragged_batch_makes_a_nested_tensor(tmp_path: Path) -> None:
    ds = write(tmp_path / "a.tfrecord", {"tokens": PLAIN["tokens"]}, 6)
    (batch,) = ds.batch(6).to_torch()
    bag = torch.nn.EmbeddingBag(5, 3)
    assert bag(batch["tokens"].values, batch["tokens"].offsets[:-1]).shape == (6, 3)


def test_tensors_share_memory_and_can_be_changed(ds: rs.Dataset) -> None:
    seen: list[np.ndarray[Any, Any]] = []

    def keep(batch: dict[str, Any]) -> dict[str, Any]:
        seen.append(batch["x"])
        return batch

    for batch in ds.batch(10, threads=0).map(keep).to_torch():
        assert batch["x"].data_ptr() == seen[-1].ctypes.data
        batch["x"] += 1


def test_read_only_arrays_are_copied_without_a_warning(ds: rs.Dataset) -> None:
    mapped = ds.batch(10).map(lambda batch: {"x": np.broadcast_to(batch["x"][:, :1], (10, 4))})
    assert next(iter(mapped.to_torch()))["x"].shape == (10, 4)


def test_pairs_and_length(ds: rs.Dataset) -> None:
    batches = ds.batch(20).pairs("x", "y").to_torch()
    assert len(batches) == len(DataLoader(batches, batch_size=None)) == 3
    inputs, target = next(iter(DataLoader(batches, batch_size=None)))
    assert (inputs.dtype, target.dtype) == (torch.float32, torch.int64)
    with pytest.raises(TypeError, match="not known"):
        len(ds.filter(lambda row: row["n"] < 3).batch(2).to_torch())


def test_what_pytorch_has_no_tensor_for_is_refused(tmp_path: Path, ds: rs.Dataset) -> None:
    optional = write(tmp_path / "b.tfrecord", {"n": PLAIN["n"], "maybe": rs.Scalar("float32", optional=True)}, 4)
    with pytest.raises(rs.PipelineError, match="may lack this feature") as caught:
        optional.batch(2).to_torch()
    assert caught.value.feature == "maybe"
    with pytest.raises(rs.PipelineError, match="may lack this feature"):
        list(optional.batch(2).map(lambda batch: batch).to_torch())
    assert len(list(optional.select("n").batch(2).to_torch())) == 2
    with pytest.raises(rs.PipelineError, match="no batches yet"):
        ds.shuffle().to_torch()


def test_each_iteration_is_a_new_epoch(ds: rs.Dataset) -> None:
    native, batches = ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8).to_torch()
    fed = DataLoader(batches, batch_size=None)
    assert [numbers(fed) for _ in range(3)] == [numbers(native) for _ in range(3)]


CHAINS: dict[str, Callable[[rs.Dataset], Any]] = {
    "files": lambda ds: ds.batch(4),
    "shuffled": lambda ds: ds.shuffle(seed=1).batch(4),
    "batches repeated": lambda ds: ds.shuffle(seed=1).batch(4).repeat(3),
    "rows repeated": lambda ds: ds.shuffle(seed=1).repeat(3).batch(4),
    "parts": lambda ds: ds.shuffle(seed=1).batch(4).skip(2).take(7).repeat(2),
    "filtered": lambda ds: ds.shuffle(seed=1).filter(lambda row: row["n"] % 3 == 0).batch(4).repeat(2),
    "ranks": lambda ds: ds.shuffle(seed=1).shard(1, 3).batch(4),
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("processes", [2, 3])
def test_shares_of_processes_are_every_other_batch(ds: rs.Dataset, chain: Callable[..., Any], processes: int) -> None:
    plan = chain(ds).plan
    whole = numbers(batch for batch, _ in feed(plan, Cursor()))
    for share in range(processes):
        assert numbers(batch for batch, _ in feed(plan, Cursor(), (share, processes))) == whole[share::processes]


@pytest.mark.parametrize(
    ("method", "kept"),
    [("fork", "loader"), ("fork", "persistent"), ("spawn", "persistent"), ("fork", "nothing"), ("spawn", "nothing")],
    ids=str,
)
def test_workers_repeat_nothing_and_keep_the_order(tmp_path: Path, method: str, kept: str) -> None:
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_columns({"n": np.arange(20)}, rs.Schema({"n": rs.Scalar("int64")}))
    script = Path(__file__).with_name("workers_script.py")
    command = [sys.executable, str(script), str(tmp_path / "a.tfrecord"), method, kept]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    fed, native, states = json.loads(done.stdout)
    assert fed == native
    assert len({str(epoch) for epoch in fed}) == 5
    assert "worker processes of a DataLoader made them" in states[0]
    assert states[1] == "epoch 5, batch 1"
    assert states[2] == "True" or (kept == "persistent" and "was restored while worker processes" in states[2])


def test_whatever_is_made_anew_a_new_iteration_is_a_new_epoch(ds: rs.Dataset) -> None:
    native, loader = ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8)
    expected = [numbers(native) for _ in range(5)]
    kept = loader.to_torch()
    ways = [loader.to_torch(), DataLoader(loader.to_torch(), batch_size=None), loader, kept, kept]
    assert [numbers(way) for way in ways] == expected
    assert loader.state() == native.state()


def test_the_state_is_that_of_a_dataloader_without_workers(ds: rs.Dataset) -> None:
    native, loader = ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8)
    states = [native.state() for _ in range(2) for _ in native]
    assert [loader.state() for _ in range(2) for _ in DataLoader(loader.to_torch(), batch_size=None)] == states


def test_an_iterator_that_is_never_advanced_does_not_count(ds: rs.Dataset) -> None:
    native, loader = ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8)
    for _ in range(3):
        iter(loader)
        iter(loader.to_torch())
        iter(DataLoader(loader.to_torch(), batch_size=None))
    assert numbers(DataLoader(loader.to_torch(), batch_size=None)) == numbers(native)
    assert numbers(loader) == numbers(native)


def test_augmentation_is_another_in_each_epoch(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (2, 32, 32, 3), np.uint8)
    schema = rs.Schema({"image": rs.Image()})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_columns({"image": [encode_image(one, "png") for one in pixels]}, schema)
    changes = [rs.augment.Brightness(0.5)]
    loader = rs.open(tmp_path / "a.tfrecord", schema=schema).images((32, 32), augment=changes).batch(2)
    first, second = (next(iter(DataLoader(loader.to_torch(), batch_size=None)))["image"] for _ in range(2))
    assert not torch.equal(first, second)


def test_state_continues_elsewhere(ds: rs.Dataset) -> None:
    batches = ds.shuffle(seed=1).batch(8).to_torch()
    whole, second = numbers(batches), numbers(batches)
    again = ds.shuffle(seed=1).batch(8).to_torch()
    running = iter(again)
    first = [next(running)["n"].tolist() for _ in range(3)]
    state = json.loads(json.dumps(again.state_dict()))
    other = ds.shuffle(seed=1).batch(8).to_torch()
    other.load_state_dict(state)
    assert first + numbers(other) == whole
    assert numbers(other) == second


def test_a_state_from_the_end_continues_with_the_next_epoch(ds: rs.Dataset) -> None:
    loader = ds.shuffle(seed=4).batch(8)
    fed = DataLoader(loader.to_torch(), batch_size=None)
    first = numbers(fed)
    again = ds.shuffle(seed=4).batch(8).restore(loader.state())
    second = numbers(DataLoader(again.to_torch(), batch_size=None))
    assert second == numbers(fed) != first


def test_state_of_a_workers_share_continues(ds: rs.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torchdata's StatefulDataLoader asks for it, in each worker."""

    class Info:
        id, num_workers, seed = 1, 3, 11

    monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda: Info)
    batches = ds.shuffle(seed=1).batch(4).to_torch()
    share = numbers(batches)
    for done in (0, 1, 3):
        again = ds.shuffle(seed=1).batch(4).to_torch()
        running = iter(again)
        first = [next(running)["n"].tolist() for _ in range(done)]
        other = ds.shuffle(seed=1).batch(4).to_torch()
        other.load_state_dict(again.state_dict())
        assert first + numbers(other) == share


def test_leaving_early_leaves_no_thread(ds: rs.Dataset) -> None:
    batches = ds.shuffle(seed=0).batch(2, threads=2).to_torch()
    for _ in batches:
        break
    gc.collect()
    assert our_threads() == []


def test_datasets_and_loaders_can_be_pickled(ds: rs.Dataset) -> None:
    loader = ds.shuffle(seed=1, buffer=10).batch(8)
    expected = numbers(loader)
    other = pickle.loads(pickle.dumps(ds.shuffle(seed=1, buffer=10).batch(8)))
    assert numbers(other) == expected
    assert pickle.loads(pickle.dumps(ds)).schema == NUMBERED
