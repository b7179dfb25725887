"""How records are chosen and where they go."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.run.policy import OnError, Output
from recordsmith.run.splits.splitting import SplitPlan

__all__ = ["CopyOptions"]


@dataclass(frozen=True)
class CopyOptions:
    """How records are chosen and where they go, as `rs.copy` says it.

    Attributes:
        out: the folder, or the file if `single` is set.
        split: how to divide; None keeps the splits that there are.
    """

    out: str
    single: bool
    name: str
    split: SplitPlan | None
    stratify: bool
    seed: int
    shuffle: bool
    sample: float | None
    take: int | None
    dedupe: bool
    shards: int | None
    shard_bytes: int
    compression: str | None
    cast: bool
    on_error: OnError
    workers: int
    metadata: Metadata = Metadata()  # noqa: RUF009 - it cannot be changed

    def output(self) -> Output:
        """Return what is written, as a run takes it."""
        return Output(
            self.out,
            self.name,
            is_file=self.single,
            shards=self.shards,
            shard_bytes=self.shard_bytes,
            compression=self.compression,
            on_error=self.on_error,
            workers=self.workers,
            metadata=self.metadata,
        )

    def to_json(self) -> dict[str, Any]:
        """Return what of it decides about the bytes, JSON-ready."""
        left_out = ("out", "workers", "split", "metadata")
        document = {key: value for key, value in asdict(self).items() if key not in left_out}
        said = {"metadata": self.metadata.to_json()} if self.metadata != Metadata() else {}
        return {**document, **said, "split": None if self.split is None else self.split.to_json()}
