"""Plans the outputs of a repair, and refuses bad ones before anything is written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, load_manifest
from recordsmith.dataset.descriptions.tfds_folder import DATASET_INFO_NAME, read_tfds_folder
from recordsmith.dataset.layout import find_layout
from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.records.shards import files_in, resolve_files
from recordsmith.storage.publication import in_force, switch_in
from recordsmith.storage.ranged.opening import is_file, is_folder

__all__ = ["Plan", "plan_outputs", "refuse_existing"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be repaired.

    Attributes:
        files: the damaged files.
        targets: where each goes; empty where nothing is to be written.
        folder: the dataset's folder, if one was given.
        output: the folder or file that was asked for.
        described: the files that the folder's description lists, with how many records it says that they have.
    """

    files: tuple[str, ...]
    targets: tuple[str, ...]
    folder: str | None
    output: str | None
    described: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """The files that the description lists and the folder does not have."""
        existing = {os.path.basename(file) for file in self.files}
        return tuple(name for name in self.described if name not in existing)

    @property
    def is_file(self) -> bool:
        """The output is one file, and no folder."""
        return self.targets == (self.output,)

    @property
    def is_one_file(self) -> bool:
        """A single file was given, and no folder."""
        return self.folder is None and len(self.files) == 1


def plan_outputs(bad: PathLike | Iterable[PathLike], good: PathLike | None) -> Plan:
    """Settle which files are meant and where each goes."""
    found = resolve_files(bad)
    files = [file for path in found for file in (_record_files(path) if is_folder(path) else [path])]
    for file in files:
        if not is_file(file):
            raise RecordsmithError(
                "Only files can be repaired, not pipes or devices.", path=file, advice="Copy the data to a file first."
            )
    folder = found[0] if len(found) == 1 and is_folder(found[0]) else None
    described = {} if folder is None else _described_records(folder)
    if good is None:
        return Plan(tuple(files), (), folder, None, described)
    output = os.fsdecode(good)
    into_folder = folder is not None or len(files) > 1 or os.path.isdir(output) or output.endswith(os.sep)
    if into_folder and os.path.exists(output) and not os.path.isdir(output):
        raise RecordsmithError(
            "There are several files to repair, but the output is a single file.",
            path=output,
            advice="Give a folder as the output.",
        )
    targets = [os.path.join(output, os.path.basename(file)) if into_folder else output for file in files]
    _refuse_twice(files, targets)
    _refuse_inputs(files, targets)
    return Plan(tuple(files), tuple(targets), folder, output, described)


def refuse_existing(targets: Iterable[str]) -> None:
    """Raise if one of the files is there already."""
    there = [target for target in targets if os.path.lexists(target)]
    if there:
        raise RecordsmithError(
            "The output already exists.",
            path=there[0],
            found=None if len(there) == 1 else list_names(map(os.path.basename, there)),
            advice=advise("Choose another output, or give {overwrite} to replace it.", overwrite=True),
        )


def _record_files(folder: str) -> list[str]:
    """Return the files of a folder that are records by their names or by the manifest, damaged as they may be."""
    switch = switch_in(folder)
    names = {os.path.basename(file): None for file in files_in(folder)}
    names |= {name: None for name in _described_records(folder) if is_file(in_force(os.path.join(folder, name)))}
    return [switch.path(name) for name in sorted(names)] or list(find_layout(folder).files)


def _described_records(folder: str) -> dict[str, int | None]:
    """Return the files that a manifest or a TFDS description lists, with their records; none if it is unreadable."""
    for name, read in ((MANIFEST_NAME, load_manifest), (DATASET_INFO_NAME, lambda _: read_tfds_folder(folder))):
        path = os.path.join(folder, name)
        if is_file(in_force(path)):
            with contextlib.suppress(RecordsmithError, OSError):
                splits = read(path).splits.values()
                return {shard.name: shard.records for split in splits for shard in split.shards}
    return {}


def _refuse_twice(files: Sequence[str], targets: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for file, target in zip(files, targets, strict=True):
        if target in seen:
            raise RecordsmithError(
                "Two repaired files would have the same name.",
                path=target,
                found=f"{seen[target]} and {file}",
                advice="Repair one folder at a time.",
            )
        seen[target] = file


def _refuse_inputs(files: Sequence[str], targets: Sequence[str]) -> None:
    inputs = {os.path.realpath(file) for file in files}
    for target in targets:
        same = os.path.realpath(target) in inputs
        if not same and os.path.exists(target):
            same = any(os.path.samefile(target, file) for file in files)
        if same:
            raise RecordsmithError(
                "The output is the damaged file itself, which is never changed.",
                path=target,
                advice="Write to another file, check the result, then replace the damaged file yourself.",
            )
