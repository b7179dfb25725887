"""A chain of recordsmith's own verbs: it knows its records, so that what arrives is compared by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline
from recordsmith.errors import PipelineError
from recordsmith.loader import Loader
from recordsmith.loader.verbs.rows.pairs import Paired

__all__ = ["RecordsmithLoader"]


class RecordsmithLoader(Pipeline):
    """A loader. Batches are read from a copy, so that the loader's own place does not move.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_columns({"n": range(5), "y": range(5)}, rs.Schema({"n": rs.Scalar("int64"), "y": rs.Label(5)}))
    >>> chain = RecordsmithLoader(rs.open(path).batch(2).pairs("n", "y"))
    >>> chain.label, chain.with_index, len(list(chain.epoch()))
    ('y', True, 3)
    """

    kind = "a recordsmith loader"

    def __init__(self, loader: Loader[Any]) -> None:
        plan = loader.plan
        if plan.batching is None:
            raise PipelineError(
                "This chain feeds single rows, but a model is fed batches.", advice="Write .batch(32) at its end."
            )
        self.endless = plan.epochs_fed is None
        self.sharded = plan.has("sharded") or any(verb["verb"] == "shard" for verb in plan.verbs)
        if len(plan.datasets) == 1:
            self.records = plan.datasets[0]
        pairs = [change for change in plan.batch_changes if isinstance(change, Paired)]
        if pairs and pairs[-1] is plan.batch_changes[-1]:
            target = pairs[-1].target
            self.label = target if isinstance(target, str) else None
            self.with_index = True
            plan = replace(plan, batch_changes=(*plan.batch_changes[:-1], replace(pairs[-1], with_index=True)))
        self._loader: Loader[Any] = Loader(plan)  # one of its own: looking at epochs does not count for the other
        self._loader.session.move(loader.session.upcoming())

    def epoch(self, number: int = 0) -> Iterator[Any]:  # noqa: ARG002 - for those that are told
        """Begin an epoch."""
        return iter(self._loader)
