"""How records are chosen and where they go."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

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
    on_error: str
    workers: int

    def to_json(self) -> dict[str, Any]:
        """Return what of it decides about the bytes, JSON-ready."""
        document = {key: value for key, value in asdict(self).items() if key not in ("out", "workers", "split")}
        return {**document, "split": None if self.split is None else self.split.to_json()}
