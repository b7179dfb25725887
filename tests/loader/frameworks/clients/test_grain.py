"""grain takes a dataset as its source, and its checkpoint handler saves the place of to_jax()."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs
from tests.loader.frameworks.framework_data import numbered, numbers

SHOWN = {
    "grain": {
        "feeds": "test_a_dataset_is_a_source_that_gives_many_rows_at_once",
        "resumes mid-epoch": "test_a_dataset_is_a_source_that_gives_many_rows_at_once",
    },
    "JAX (`to_jax`)": {
        "resumes mid-epoch": "test_the_checkpoint_handler_of_grain_saves_the_place",
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
