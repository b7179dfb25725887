"""What every task gets to work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.measuring.workers import Workers


@dataclass(frozen=True, slots=True)
class Context:
    """The peers, the datasets that lie ready, and how often to measure."""

    workers: Workers
    datasets: dict[str, StoredDataset]
    folder: Path
    repeats: int
    scale: float
    say: Callable[[str], None]

    def missing(self, *peers: str) -> list[str]:
        """A sentence for each of the peers that cannot take part."""
        return [f"{peer}: {self.workers.skipped[peer]}" for peer in peers if peer in self.workers.skipped]
