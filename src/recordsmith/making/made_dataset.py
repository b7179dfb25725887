"""What came of making a dataset: the splits, their classes and sizes, and what was left out."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from recordsmith.dataset.manifest import MANIFEST_NAME, Manifest, load_manifest
from recordsmith.making.reject_reasons import RejectReason

__all__ = ["MadeDataset", "MadeSplit"]


@dataclass(frozen=True)
class MadeSplit:
    """One split of a dataset that was made.

    Attributes:
        rows: how many records it has.
        bytes: how large its files are.
        shards: how many files it has.
        classes: how many records of each class, where there is a label.

    >>> MadeSplit(10, 1234, 1, {"cat": 7, "dog": 3}).classes["cat"]
    7
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


@dataclass(frozen=True)
class MadeDataset:
    """A dataset that was made: what `rs.make` returns and `recordsmith make` prints.

    Attributes:
        folder: where it lies.
        name: its name, the beginning of its file names.
        splits: its splits by name.
        source_rows: rows that the source had.
        source_bytes: how large the source is; None where that is not known.
        rejects: rows that were refused; `rejected.jsonl` has each with its reason, if they were quarantined.
        reasons: the commonest reasons for that.
        dropped: rows for which the map function returned None.
        unassigned: rows that no split asked for.
        class_weights: a weight for each class of the label, as Keras' class_weight takes it after naming.
        left_out: columns of the source that the schema does not have.
        warnings: what should be known before training on it.

    >>> MadeDataset("data", "pets", {"train": MadeSplit(10, 1234, 1)}, source_rows=11, rejects=1).ok
    False
    """

    folder: str
    name: str
    splits: dict[str, MadeSplit]
    source_rows: int = 0
    source_bytes: int | None = None
    rejects: int = 0
    reasons: tuple[RejectReason, ...] = ()
    dropped: int = 0
    unassigned: int = 0
    label: str | None = None
    class_weights: dict[str, float] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every row of the source got in, as far as it was asked for."""
        return self.rejects == 0

    @property
    def rows(self) -> int:
        """How many records all splits have together."""
        return sum(split.rows for split in self.splits.values())

    @property
    def bytes(self) -> int:
        """How large all files of all splits are together."""
        return sum(split.bytes for split in self.splits.values())

    @property
    def rejected_path(self) -> str | None:
        """The file that has the refused rows, if there is one."""
        path = os.path.join(self.folder, "rejected.jsonl")
        return path if os.path.exists(path) else None

    @classmethod
    def of_folder(cls, folder: str) -> MadeDataset:
        """Read from a folder's manifest what came of making it."""
        manifest = load_manifest(os.path.join(folder, MANIFEST_NAME))
        outcome = manifest.outcome
        return cls(
            folder=folder,
            name=manifest.name,
            splits=MadeSplit.all_of(manifest),
            source_rows=outcome.count("source_rows") or 0,
            source_bytes=outcome.count("source_bytes"),
            rejects=outcome.count("rejects") or 0,
            reasons=tuple(map(RejectReason.of, outcome.objects("reasons"))),
            dropped=outcome.count("dropped") or 0,
            unassigned=outcome.count("unassigned") or 0,
            label=manifest.label,
            class_weights=manifest.class_weights,
            left_out=outcome.texts("left_out"),
            warnings=outcome.texts("warnings"),
        )
