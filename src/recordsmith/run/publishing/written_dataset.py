"""What is known of every dataset that a run wrote: its splits, and what of the source is in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from recordsmith.dataset.descriptions.manifest import Manifest
from recordsmith.display.tables import note, table
from recordsmith.run.staging.reject_reasons import RejectReason
from recordsmith.storage.json_descriptions import JsonObject
from recordsmith.wording.markup import Child, element
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["MadeSplit", "WrittenDataset", "common_outcome"]

_CLASSES = 20  # that a notebook shows


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


class WrittenDataset:
    """What the results of `rs.make` and `rs.copy` have in common."""

    splits: dict[str, MadeSplit]
    source_rows: int
    source_bytes: int | None
    rejects: int
    reasons: tuple[RejectReason, ...]
    left_out: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether no row or record was rejected."""
        return self.rejects == 0

    @property
    def rows(self) -> int:
        """How many records were written."""
        return sum(split.rows for split in self.splits.values())

    @property
    def bytes(self) -> int:
        """How large all files are together."""
        return sum(split.bytes for split in self.splits.values())

    def _repr_html_(self) -> str:
        """Return what notebooks show: the splits with their classes, and what was left out."""
        return element(
            "div",
            table(["split", "records", "files", "size", "classes"], [_shown(*one) for one in self.splits.items()]),
            note(f"{count_text(self.rejects, 'row')} of {self.source_rows:,} were rejected.") if self.rejects else None,
            [note(clipped(str(reason), 600)) for reason in self.reasons],
            [note(clipped(warning, 600)) for warning in self.warnings],
        )


def _shown(name: str, split: MadeSplit) -> list[Child]:
    """Return the line of a split in a table."""
    classes = [f"{clipped(one, 60)} {rows:,}" for one, rows in islice(split.classes.items(), _CLASSES)]
    more = f", … {len(split.classes) - _CLASSES:,} more" if len(split.classes) > _CLASSES else ""
    return [
        clipped(name, 60),
        f"{split.rows:,}",
        f"{split.shards:,}",
        bytes_text(split.bytes),
        ", ".join(classes) + more,
    ]


def common_outcome(outcome: JsonObject) -> dict[str, Any]:
    """Return the fields of a result that the outcome of a run has for all of them."""
    counts = ("source_rows", "rejects", "unassigned")
    return {
        **{name: outcome.count(name) or 0 for name in counts},
        "source_bytes": outcome.count("source_bytes"),
        "reasons": tuple(map(RejectReason.of, outcome.objects("reasons"))),
        "left_out": outcome.texts("left_out"),
        "warnings": outcome.texts("warnings"),
    }
