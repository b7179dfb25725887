"""grain takes a dataset as its source; its checkpoint handler, alone and in Orbax, saves the place of to_jax()."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.frameworks.clients.epochs import ROWS, write
from tests.loader.frameworks.clients.running import run
from tests.loader.frameworks.framework_data import numbered, numbers

SHOWN = {
    "grain": {
        "feeds": "test_a_dataset_is_a_source_that_gives_many_rows_at_once",
        "resumes mid-epoch": "test_a_dataset_is_a_source_that_gives_many_rows_at_once",
        "resumes at the end": "test_epochs_of_grain_continue_after_a_resume",
        "several workers": "test_worker_processes_of_grain_read_a_dataset",
        "several ranks": "test_ranks_of_grain_share_a_dataset",
    },
    "JAX (`to_jax`)": {
        "resumes mid-epoch": "test_the_checkpoint_handler_of_grain_saves_the_place",
        "resumes at the end": "test_orbax_saves_the_place_beside_the_weights",
    },
    "Orbax": {
        "feeds": "test_orbax_saves_the_place_beside_the_weights",
        "resumes mid-epoch": "test_orbax_saves_the_place_beside_the_weights",
        "resumes at the end": "test_orbax_saves_the_place_beside_the_weights",
    },
}

grain = pytest.importorskip("grain")


@pytest.fixture
def ds(tmp_path: Path) -> rs.Dataset:
    return numbered(tmp_path / "a.tfrecord", 60)


def test_a_dataset_is_a_source_that_gives_many_rows_at_once(ds: rs.Dataset, monkeypatch: pytest.MonkeyPatch):
    from grain._src.python.dataset import base

    assert isinstance(ds, base.SupportsBatchedReadRandomAccessDataSource)
    batches = grain.MapDataset.source(ds).shuffle(seed=1).map(lambda row: row["n"]).batch(8)
    assert sorted(int(n) for place in range(len(batches)) for n in batches[place]) == list(range(60))
    running = iter(batches.to_iter_dataset())
    next(running)
    other = iter(batches.to_iter_dataset())
    other.set_state(running.get_state())
    assert [batch.tolist() for batch in other] == [batch.tolist() for batch in running]


def test_the_checkpoint_handler_of_grain_saves_the_place(ds: rs.Dataset, tmp_path: Path):
    epath = pytest.importorskip("etils.epath")
    batches = ds.shuffle(seed=1).batch(8).to_jax()
    running = iter(batches)
    for _ in range(3):
        next(running)
    handler = grain.checkpoint.CheckpointHandler()
    handler.save(epath.Path(tmp_path), batches)
    other = handler.restore(epath.Path(tmp_path), ds.shuffle(seed=1).batch(8).to_jax())
    assert numbers(other) == numbers(running)
    with pytest.raises(rs.PipelineError, match="not the state of a loader"):
        other.set_state(b"{")


@pytest.mark.parametrize("taken", [0, 3, 8, 11])
def test_orbax_saves_the_place_beside_the_weights(ds: rs.Dataset, tmp_path: Path, taken: int):
    import numpy as np

    orbax = pytest.importorskip("orbax.checkpoint")
    whole = [numbers(batches) for batches in [ds.shuffle(seed=1).batch(8).to_jax()] * 3]
    batches = ds.shuffle(seed=1).batch(8).to_jax()
    running = iter(batches)
    for number in range(taken):
        if number == 8:
            running = iter(batches)
        next(running)
    weights = {"w": np.arange(4.0)}
    with orbax.CheckpointManager(tmp_path / "run") as manager:
        save = orbax.args.Composite(
            weights=orbax.args.StandardSave(weights), data=grain.checkpoint.CheckpointSave(running)
        )
        manager.save(taken, args=save)
        manager.wait_until_finished()
        other = iter(ds.shuffle(seed=1).batch(8).to_jax())
        restore = orbax.args.Composite(
            weights=orbax.args.StandardRestore(weights), data=grain.checkpoint.CheckpointRestore(other)
        )
        restored = manager.restore(taken, args=restore)
    assert restored["weights"]["w"].tolist() == [0.0, 1.0, 2.0, 3.0]
    epoch, batch = divmod(taken, 8)
    assert numbers(restored["data"]) == whole[epoch][batch:]


def test_epochs_of_grain_continue_after_a_resume(ds: rs.Dataset):
    def build() -> Any:
        epochs = grain.MapDataset.source(ds).seed(1).shuffle().map(lambda row: int(row["n"])).batch(60).repeat(3)
        return iter(epochs.to_iter_dataset())

    whole = [batch.tolist() for batch in build()]
    assert [sorted(batch) for batch in whole] == [list(range(60))] * 3
    running = build()
    next(running)
    other = build()
    other.set_state(running.get_state())
    assert [batch.tolist() for batch in other] == whole[1:]


def test_ranks_of_grain_share_a_dataset(ds: rs.Dataset):
    shares = [grain.MapDataset.source(ds)[rank::2] for rank in range(2)]
    rows = [int(share[place]["n"]) for share in shares for place in range(len(share))]
    assert sorted(rows) == list(range(60))


@pytest.mark.proof
def test_worker_processes_of_grain_read_a_dataset(tmp_path: Path):
    path = write(str(tmp_path))
    assert run("grain_script.py", path) == list(range(ROWS))
