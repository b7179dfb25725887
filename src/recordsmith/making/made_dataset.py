"""What came of making a dataset: the splits, their classes and sizes, and what was left out."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from recordsmith.dataset.manifest import MANIFEST_NAME, load_manifest
from recordsmith.making.reject_reasons import RejectReason
from recordsmith.schema import Label, Schema

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
    def all_of(cls, manifest: dict[str, Any]) -> dict[str, MadeSplit]:
        """Return the splits that a manifest lists, by name."""
        return {
            name: cls(split["records"], split["bytes"], len(split["shards"]), split.get("classes", {}))
            for name, split in manifest["splits"].items()
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
        unlabelled: rows that were left out because they have no label.
        splits_kept: the splits are those of the source.
        label: the feature that is the label, if there is one.
        class_weights: a weight for each class, by what records store (the number of a class), for Keras' class_weight.
        class_names: the names of these classes.
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
    unlabelled: int = 0
    splits_kept: bool = False
    label: str | None = None
    class_weights: dict[Any, float] = field(default_factory=dict)
    class_names: dict[Any, str] = field(default_factory=dict)
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
    def weights_by_name(self) -> dict[str, float]:
        """The weight of each class by its name.

        >>> MadeDataset("d", "d", {}, class_weights={0: 0.5, 1: 2.0}, class_names={0: "cat", 1: "dog"}).weights_by_name
        {'cat': 0.5, 'dog': 2.0}
        """
        return {self.class_names.get(value, str(value)): weight for value, weight in self.class_weights.items()}

    @property
    def rejected_path(self) -> str | None:
        """The file that has the refused rows, if there is one."""
        path = os.path.join(self.folder, "rejected.jsonl")
        return path if os.path.exists(path) else None

    @classmethod
    def of_folder(cls, folder: str) -> MadeDataset:
        """Read from a folder's manifest what came of making it."""
        document = load_manifest(os.path.join(folder, MANIFEST_NAME))
        made: dict[str, Any] = document.get("made", {})
        outcome = made.get("outcome", {})
        weights = document.get("class_weights") or {}
        values = _stored_values(document, weights.get("feature"), weights.get("weights", {}))
        return cls(
            folder=folder,
            name=document.get("name", ""),
            splits=MadeSplit.all_of(document),
            source_rows=outcome.get("source_rows", 0),
            source_bytes=outcome.get("source_bytes"),
            rejects=outcome.get("rejects", 0),
            reasons=tuple(RejectReason(**reason) for reason in outcome.get("reasons", ())),
            dropped=outcome.get("dropped", 0),
            unassigned=outcome.get("unassigned", 0),
            unlabelled=outcome.get("unlabelled", 0),
            splits_kept=outcome.get("splits_kept", False),
            label=weights.get("feature"),
            class_weights={values[name]: weight for name, weight in weights.get("weights", {}).items()},
            class_names={value: name for name, value in values.items()},
            left_out=tuple(outcome.get("left_out", ())),
            warnings=tuple(outcome.get("warnings", ())),
        )


def _stored_values(document: dict[str, Any], label: str | None, names: Iterable[str]) -> dict[str, Any]:
    """Return what records store for each class: the number of one that has a name, else the value itself."""
    feature = Schema.from_json(document["schema"]).get(label) if label is not None and "schema" in document else None
    if isinstance(feature, Label):
        return {name: feature.names.index(name) if name in feature.names else name for name in names}
    kind = getattr(getattr(feature, "dtype", None), "kind", "")
    if kind == "b":
        return {name: name == "True" for name in names}
    if kind in ("i", "u"):
        return {name: int(name) for name in names}
    return {name: float(name) if kind == "f" else name for name in names}
