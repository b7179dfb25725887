"""The description next to the files of a dataset: recordsmith.json, or TFDS's dataset_info.json."""

from __future__ import annotations

import os
from dataclasses import dataclass

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, load_manifest
from recordsmith.dataset.descriptions.tfds_folder import DATASET_INFO_NAME, read_tfds_folder
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.records.described_splits import files_by_split
from recordsmith.storage.publication import in_force
from recordsmith.storage.ranged.opening import is_file

__all__ = ["Description", "description_in", "descriptions", "read_description"]

_NAMES = (MANIFEST_NAME, DATASET_INFO_NAME)


@dataclass(frozen=True, slots=True)
class Description:
    """A description that can be read.

    Attributes:
        path: the file.
        splits: the files that it names, by split, whether they are there or not.
    """

    path: str
    splits: dict[str, tuple[str, ...]]

    @property
    def name(self) -> str:
        """The file's name."""
        return os.path.basename(self.path)

    def files(self, split: str | None = None) -> list[str]:
        """Return the files of a split, or of all."""
        return [file for name, files in self.splits.items() if split in (None, name) for file in files]


def description_in(folder: str) -> str | None:
    """Return the description that counts in a folder; None if there is none."""
    return next((path for name in _NAMES if is_file(in_force(path := os.path.join(folder, name)))), None)


def read_description(path: str, facts: DatasetFacts) -> Description:
    """Read a description, unless the survey has read it; what is wrong with it is raised."""
    if facts.manifest is not None and path == facts.described_by:
        return Description(path, files_by_split(facts.manifest.splits))
    if os.path.basename(path) == MANIFEST_NAME:
        return Description(path, files_by_split(load_manifest(path).splits))
    return Description(path, read_tfds_folder(os.path.dirname(path)).files_by_split)


def descriptions(facts: DatasetFacts) -> list[Description]:
    """Return the descriptions of the folders that were looked at; those that cannot be read are left out."""
    paths = [facts.described_by] if facts.described_by is not None else map(description_in, facts.paths)
    found = []
    for path in paths:
        if path is not None:
            try:
                found.append(read_description(path, facts))
            except (RecordsmithError, OSError, ValueError):
                continue  # rule F016 reports it
    return found
