"""One split of a dataset that a run wrote."""

from __future__ import annotations

from dataclasses import dataclass, field

from recordsmith.dataset.manifest import Manifest

__all__ = ["MadeSplit"]


@dataclass(frozen=True)
class MadeSplit:
    """One split of a dataset that was made.

    Attributes:
        rows: how many records it has.
        bytes: how large its files are.
        shards: how many files it has.
        classes: how many records of each class, where there is a label.
    """

    rows: int
    bytes: int
    shards: int
    classes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def all_of(cls, manifest: Manifest) -> dict[str, MadeSplit]:
        """Return the splits that a manifest lists, by name."""
        return {
            name: cls(split.records or 0, split.bytes or 0, len(split.shards), split.classes)
            for name, split in manifest.splits.items()
        }
