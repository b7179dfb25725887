"""The result of a copy: what was read, what was written, and what was left out."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, load_manifest
from recordsmith.run.engines.part import DonePart
from recordsmith.run.publishing.written_dataset import MadeSplit, WrittenDataset, common_outcome
from recordsmith.run.run import Finished
from recordsmith.run.staging.reject_reasons import RejectReason
from recordsmith.storage.json_descriptions import JsonObject

__all__ = ["CopiedDataset"]


@dataclass(frozen=True)
class CopiedDataset(WrittenDataset):
    """The result of `rs.copy`, which `recordsmith copy` prints.

    Attributes:
        path: the folder or the file that was written.
        splits: its splits by name; a single file has one, with the name "".
        source_rows: the number of records in the input, damaged ones included.
        rejects: damaged records, and those that do not fit the schema.
        reasons: the most common reasons for rejecting them.
        unmatched: records that do not meet the condition, or are not among the chosen numbers.
        duplicates: records left out because an equal one was copied.
        not_sampled: records that are not in the sample.
        unassigned: records left over by splits that are given as numbers.
        left_out: features that are not copied.
        verbatim: True if the records have the same bytes; False if they were decoded and encoded again.
        warnings: what you should know about the copy.
        part: what one part of the work has done, if `part` was given. There is no copy then, and `splits` is empty.

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
    part: DonePart | None = None

    @property
    def left_behind(self) -> int:
        """The number of records that were read but not written, for any reason."""
        return self.rejects + self.unmatched + self.duplicates + self.not_sampled + self.unassigned

    @classmethod
    def of_file(cls, path: str, finished: Finished) -> CopiedDataset:
        """Return the result of a copy to one file, which has no manifest."""
        (split,) = finished.splits.values()
        made = MadeSplit(split["records"], split["bytes"], 1, split.get("classes", {}))
        return cls._of_outcome(path, {"": made}, JsonObject(finished.outcome, "outcome"))

    @classmethod
    def _of_outcome(cls, path: str, splits: dict[str, MadeSplit], outcome: JsonObject) -> CopiedDataset:
        return cls(
            path=path,
            splits=splits,
            **common_outcome(outcome),
            unmatched=outcome.count("dropped") or 0,
            duplicates=outcome.count("duplicates") or 0,
            not_sampled=outcome.count("not_sampled") or 0,
            verbatim=outcome.entries.get("verbatim") is not False,
        )

    @classmethod
    def of_folder(cls, folder: str) -> CopiedDataset:
        """Read the result of a copy from the manifest of its folder."""
        manifest = load_manifest(os.path.join(folder, MANIFEST_NAME))
        return cls._of_outcome(folder, MadeSplit.all_of(manifest), manifest.outcome)
