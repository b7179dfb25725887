"""What came of copying a dataset: what went in, what came out, and what became of the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from recordsmith.dataset.manifest import MANIFEST_NAME, load_manifest
from recordsmith.run.made_split import MadeSplit
from recordsmith.run.reject_reasons import RejectReason
from recordsmith.run.run import Finished
from recordsmith.storage.json_descriptions import JsonObject

__all__ = ["CopiedDataset"]


@dataclass(frozen=True)
class CopiedDataset:
    """A dataset that was copied: what `rs.copy` returns and `recordsmith copy` prints.

    Attributes:
        path: the folder or the file that was written.
        splits: its splits by name; a single file has one, with the name "".
        source_rows: the records that were read, with those that could not be.
        rejects: damaged records, and those that do not fit the schema.
        reasons: the commonest reasons for that.
        unmatched: records that the condition leaves out.
        duplicates: records that are there again.
        not_sampled: records that the sample leaves out.
        unassigned: records that no split asked for.
        left_out: features that are not copied.
        verbatim: the records are the same bytes; otherwise they were decoded and encoded anew.
        warnings: what should be known about the copy.

    >>> copied = CopiedDataset("data", {"train": MadeSplit(7, 1234, 1)}, source_rows=10, duplicates=3)
    >>> copied.rows, copied.left_behind, copied.ok
    (7, 3, True)
    """

    path: str
    splits: dict[str, MadeSplit]
    source_rows: int = 0
    source_bytes: int | None = None
    rejects: int = 0
    reasons: tuple[RejectReason, ...] = ()
    unmatched: int = 0
    duplicates: int = 0
    not_sampled: int = 0
    unassigned: int = 0
    left_out: tuple[str, ...] = ()
    verbatim: bool = True
    warnings: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether every record that was asked for was copied."""
        return self.rejects == 0

    @property
    def rows(self) -> int:
        """How many records were written."""
        return sum(split.rows for split in self.splits.values())

    @property
    def bytes(self) -> int:
        """How large the files are."""
        return sum(split.bytes for split in self.splits.values())

    @property
    def left_behind(self) -> int:
        """How many records were read and not written, for whatever reason."""
        return self.rejects + self.unmatched + self.duplicates + self.not_sampled + self.unassigned

    @classmethod
    def of_file(cls, path: str, finished: Finished) -> CopiedDataset:
        """Return what came of copying to one file, which has no manifest."""
        (split,) = finished.splits.values()
        made = MadeSplit(split["records"], split["bytes"], 1, split.get("classes", {}))
        return cls._of_outcome(path, {"": made}, JsonObject(finished.outcome, "outcome"))

    @classmethod
    def _of_outcome(cls, path: str, splits: dict[str, MadeSplit], outcome: JsonObject) -> CopiedDataset:
        return cls(
            path=path,
            splits=splits,
            source_rows=outcome.count("source_rows") or 0,
            source_bytes=outcome.count("source_bytes"),
            rejects=outcome.count("rejects") or 0,
            reasons=tuple(map(RejectReason.of, outcome.objects("reasons"))),
            unmatched=outcome.count("dropped") or 0,
            duplicates=outcome.count("duplicates") or 0,
            not_sampled=outcome.count("not_sampled") or 0,
            unassigned=outcome.count("unassigned") or 0,
            left_out=outcome.texts("left_out"),
            verbatim=outcome.entries.get("verbatim") is not False,
            warnings=outcome.texts("warnings"),
        )

    @classmethod
    def of_folder(cls, folder: str) -> CopiedDataset:
        """Read from a folder's manifest what came of copying it."""
        manifest = load_manifest(os.path.join(folder, MANIFEST_NAME))
        return cls._of_outcome(folder, MadeSplit.all_of(manifest), manifest.outcome)
