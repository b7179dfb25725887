"""to_keras: what Keras has no array for is refused, and the place can be saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from tests.loader.frameworks.framework_data import PLAIN, numbered, write

pytest.importorskip("keras")

SHOWN = {
    "Keras on TensorFlow, PyTorch and JAX (`to_keras`)": {
        "resumes mid-epoch": "test_the_state_continues_in_the_middle_of_an_epoch",
        "resumes at the end": "test_ranks_have_their_shares_and_continue_after_an_epoch",
        "several ranks": "test_ranks_have_their_shares_and_continue_after_an_epoch",
    },
}


def test_the_state_continues_in_the_middle_of_an_epoch(tmp_path: Path):
    ds = numbered(tmp_path / "a.tfrecord", 40)
    whole = [batch["n"].tolist() for batch in ds.shuffle(seed=1).batch(8)]
    batches = ds.shuffle(seed=1).batch(8).to_keras()
    fed = [batches[number]["n"].tolist() for number in range(3)]
    other = ds.shuffle(seed=1).batch(8).to_keras()
    other.load_state_dict(batches.state_dict())
    assert fed + [other[number]["n"].tolist() for number in range(2)] == whole
    assert (len(batches), batches.num_batches) == (5, 5)
    few = ds.filter(lambda row: row["n"] < 9)
    assert few.repeat().batch(8).to_keras().num_batches is None
    with pytest.raises(rs.PipelineError, match="number of batches"):  # Keras would train for ever
        few.batch(8).to_keras()


def test_ranks_have_their_shares_and_continue_after_an_epoch(tmp_path: Path):
    ds = numbered(tmp_path / "a.tfrecord", 40)
    second: list[int] = []
    for rank in range(2):
        chain = ds.shuffle(seed=1).shard(rank, 2).batch(5)
        native = [[batch["n"].tolist() for batch in chain] for _ in range(2)]
        batches = ds.shuffle(seed=1).shard(rank, 2).batch(5).to_keras()
        assert [batches[number]["n"].tolist() for number in range(4)] == native[0]
        other = ds.shuffle(seed=1).shard(rank, 2).batch(5).to_keras()
        other.load_state_dict(batches.state_dict())
        assert [other[number]["n"].tolist() for number in range(4)] == native[1]
        second += [n for batch in native[1] for n in batch]
    assert sorted(second) == list(range(40))


def test_keras_has_no_workers_of_its_own(tmp_path: Path):
    """They would ask for batches side by side: `predict` gave the right rows in another order."""
    batches = numbered(tmp_path / "a.tfrecord", 40).batch(8).to_keras()
    with pytest.raises(rs.PipelineError, match="another order") as caught:
        batches.workers = 3
    assert caught.value.found == "workers=3"
    with pytest.raises(rs.PipelineError, match="another order"):
        batches.use_multiprocessing = True
    batches.workers, batches.use_multiprocessing = 1, False
    assert (batches.workers, batches.use_multiprocessing) == (1, False)


@pytest.mark.parametrize("name", ["text", "tokens", "sparse"])
def test_what_is_no_array_is_refused(tmp_path: Path, name: str):
    ds = write(tmp_path / "a.tfrecord", {name: PLAIN[name]}, 4)
    with pytest.raises(rs.PipelineError, match="Keras needs arrays") as caught:
        ds.batch(4).to_keras()[0]
    assert caught.value.feature == name


def test_a_loader_is_no_array(tmp_path: Path):
    loader = numbered(tmp_path / "a.tfrecord", 8).batch(4)
    assert not hasattr(loader, "shape")
    with pytest.raises(rs.PipelineError, match="not an array"):
        np.asarray(loader)
