"""The result of `rs.make`: the splits, their classes and sizes, and what was left out."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, Manifest, load_manifest
from recordsmith.errors import SchemaError, list_names
from recordsmith.run.engines.part import DonePart
from recordsmith.run.publishing.written_dataset import MadeSplit, WrittenDataset, common_outcome
from recordsmith.run.staging.reject_reasons import RejectReason
from recordsmith.run.staging.staging import REJECTED_NAME
from recordsmith.schema import Label

__all__ = ["MadeDataset"]


@dataclass(frozen=True)
class MadeDataset(WrittenDataset):
    """The result of `rs.make`, which `recordsmith make` prints.

    Attributes:
        folder: the folder of the dataset.
        name: its name, the beginning of its file names.
        splits: its splits by name.
        source_rows: the number of rows of the source.
        source_bytes: the size of the source; None if it is not known.
        rejects: the number of rejected rows; `rejected.jsonl` has them with their reasons, if they were quarantined.
        reasons: the most common reasons for rejecting them.
        dropped: rows for which the map function returned None.
        unassigned: rows left over by splits that are given as numbers.
        unlabelled: rows that were left out because they have no label.
        splits_kept: whether the splits are those of the source.
        label: the feature that is the label, if there is one.
        class_weights: a weight for each class, by what records store (the number of a class), for Keras' class_weight.
        class_names: the names of these classes.
        left_out: columns of the source that the schema does not have.
        warnings: what you should know before you train on it.
        rejected_path: the file with the rejected rows, if there is one.
        part: what one part of the work has done, if `part` was given. There is no dataset then, and `splits` is empty.

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
    rejected_path: str | None = None
    part: DonePart | None = None

    @property
    def weights_by_name(self) -> dict[str, float]:
        """The weight of each class by its name.

        >>> MadeDataset("d", "d", {}, class_weights={0: 0.5, 1: 2.0}, class_names={0: "cat", 1: "dog"}).weights_by_name
        {'cat': 0.5, 'dog': 2.0}
        """
        return {self.class_names.get(value, str(value)): weight for value, weight in self.class_weights.items()}

    @classmethod
    def of_folder(cls, folder: str) -> MadeDataset:
        """Read the result from the manifest of a folder."""
        manifest = load_manifest(os.path.join(folder, MANIFEST_NAME))
        outcome = manifest.outcome
        rejected = os.path.join(folder, REJECTED_NAME)
        values = _stored_values(manifest)
        return cls(
            folder=folder,
            name=manifest.name,
            splits=MadeSplit.all_of(manifest),
            **common_outcome(outcome),
            dropped=outcome.count("dropped") or 0,
            unlabelled=outcome.count("unlabelled") or 0,
            splits_kept=outcome.entries.get("splits_kept") is True,
            label=manifest.label,
            rejected_path=rejected if os.path.exists(rejected) else None,
            class_weights={values[name]: weight for name, weight in manifest.class_weights.items()},
            class_names={value: name for name, value in values.items()},
        )


def _stored_values(manifest: Manifest) -> dict[str, Any]:
    """Return what records store for each class: the number of one that has a name, else the value itself."""
    names = tuple(manifest.class_weights)
    feature = None if manifest.schema is None else manifest.schema.get(manifest.label or "")
    if isinstance(feature, Label):
        return {name: feature.names.index(name) if name in feature.names else name for name in names}
    kind = getattr(getattr(feature, "dtype", None), "kind", "")
    if kind == "b":
        return {name: name == "True" for name in names}
    if kind not in ("i", "u", "f"):
        return {name: name for name in names}
    try:
        return {name: float(name) if kind == "f" else int(name) for name in names}
    except ValueError:
        raise SchemaError(
            "The class weights in the manifest do not match its label.",
            path=manifest.path,
            found=list_names(names),
            expected="numbers, as the label has them",
        ) from None
