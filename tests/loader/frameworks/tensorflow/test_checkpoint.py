"""tf.train.Checkpoint saves the place of to_tf(); what TensorFlow cannot save or send elsewhere is refused at once."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.frameworks.framework_data import numbered, numbers

tf = pytest.importorskip("tensorflow")

SHOWN = {
    "TensorFlow (`to_tf`)": {
        "resumes mid-epoch": "test_a_checkpoint_continues_where_it_was",
        "resumes at the end": "test_a_checkpoint_continues_where_it_was",
    },
}


@pytest.mark.parametrize("taken", [0, 3, 8, None])
def test_a_checkpoint_continues_where_it_was(tmp_path: Path, taken: int | None):
    ds = numbered(tmp_path / "a.tfrecord", 60)
    whole = [numbers(batches) for batches in [ds.shuffle(seed=1).batch(8)] * 3]
    loader = ds.shuffle(seed=1).batch(8)
    for _ in islice(loader.to_tf(), taken):
        pass
    model = tf.Variable(1.0)
    saved = tf.train.Checkpoint(model=model, data=loader.tf_state()).save(str(tmp_path / "checkpoint"))
    again = ds.shuffle(seed=1).batch(8)
    tf.train.Checkpoint(model=model, data=again.tf_state()).restore(saved).assert_consumed()
    rest = numbers(again.to_tf())
    if taken in (0, 3):
        assert rest == whole[0][taken:]
        rest = numbers(again.to_tf())
    assert rest == whole[1]


def test_a_checkpoint_of_other_data_is_refused(tmp_path: Path):
    loader = numbered(tmp_path / "a.tfrecord", 20).batch(4)
    saved = tf.train.Checkpoint(data=loader.tf_state()).save(str(tmp_path / "checkpoint"))
    other = numbered(tmp_path / "b.tfrecord", 24).batch(4)
    with pytest.raises(rs.PipelineError, match="other data"):
        tf.train.Checkpoint(data=other.tf_state()).restore(saved)
    with pytest.raises(rs.PipelineError, match="not the state of a loader"):
        other.tf_state().deserialize(b"{")


def test_an_iterator_cannot_be_saved_and_tensorflow_says_so(tmp_path: Path):
    iterator = iter(numbered(tmp_path / "a.tfrecord", 20).batch(4).to_tf())
    with pytest.raises(tf.errors.FailedPreconditionError, match="stateful"):
        tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))


@pytest.mark.parametrize("mode", ["parallel_epochs", "distributed_epoch"])
def test_the_tf_data_service_refuses_at_once_what_only_this_process_can_make(tmp_path: Path, mode: str):
    ds = numbered(tmp_path / "a.tfrecord", 20)
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target.partition("://")[2]))
    spread: Any = service.distribute(processing_mode=mode, service=dispatcher.target)
    with pytest.raises(tf.errors.FailedPreconditionError, match="stateful"):
        list(ds.batch(4).to_tf().apply(spread))
    graph = ds.batch(4).to_tf(graph=True).apply(spread)
    assert sorted(n for batch in numbers(graph) for n in batch) == list(range(20))
    del worker
