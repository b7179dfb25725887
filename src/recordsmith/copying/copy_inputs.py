"""What is copied: the files in order, the split of each, and the schema stored next to them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from recordsmith import _core
from recordsmith.dataset import DatasetLayout, find_layout
from recordsmith.dataset.descriptions.carried_file import carried_mode, is_carried, opened_to_carry
from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, Manifest
from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.errors import RecordsmithError, SchemaError, advise, list_names
from recordsmith.run.policy import TextFile
from recordsmith.run.splits.splitting import check_number_of_splits
from recordsmith.schema import Schema
from recordsmith.schema.export.tfds import named_labels
from recordsmith.storage.publication import in_force
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.wording.numbers import bytes_text

__all__ = ["CopyInputs", "find_inputs"]

_WRITTEN_ANEW = ("features.json", "dataset_info.json", "rejected.jsonl", MANIFEST_NAME)
_LONGEST_TEXT = 64 << 20

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class CopyInputs:
    """The inputs of a copy.

    Attributes:
        files: the TFRecord files, in order.
        split_of: the split of each file, in the same order; empty if they have none.
        schema: the schema stored next to them.
        all_declared: every file has it; otherwise some have none of their own.
        texts: other files of the dataset, such as a vocabulary.
        provenance: features that say where a record comes from, and not what it is.
        left_out: sentences about files of the dataset that are not copied.
        found_splits: the splits that the files are in, whether they are kept or not.
        metadata: what is said about all of them.
    """

    files: tuple[str, ...]
    split_of: tuple[str, ...]
    schema: Schema | None
    all_declared: bool
    texts: dict[str, TextFile]
    provenance: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    found_splits: tuple[str, ...] = ()
    metadata: Metadata = Metadata()  # noqa: RUF009 - it cannot be changed

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, in the order of the files."""
        return tuple(dict.fromkeys(self.split_of))

    @property
    def layout(self) -> DatasetLayout:
        """The files as a source takes them."""
        return DatasetLayout(self.files, {}, self.schema)

    def compression(self) -> str | None:
        """Return the compression that all files have, or None."""
        found = {_core.detect_compression(file) for file in self.files}
        return found.pop() if len(found) == 1 and not found & {"none", "auto"} else None


def find_inputs(paths: PathLike | Iterable[PathLike], *, split: str | None, keep_splits: bool) -> CopyInputs:
    """Find the files that some paths stand for, each a file, a folder or a glob.

    Args:
        paths: one or several, whose records follow each other.
        split: only this split of them.
        keep_splits: every file has to have a split, or none.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise RecordsmithError("There is nothing to copy.", advice="Give at least one file, folder or glob.")
    files: list[str] = []
    splits: list[str | None] = []
    schemas: list[tuple[str, Schema | None]] = []
    texts: dict[str, TextFile] = {}
    left_out: tuple[str, ...] = ()
    provenance: dict[str, None] = {}
    said: list[Metadata] = []
    for path in given:
        layout = find_layout(path).select(split)
        split_of = {file: name for name, names in layout.splits.items() for file in names}
        files.extend(layout.files)
        splits.extend(split_of.get(file) for file in layout.files)
        schemas.append((os.fsdecode(path), layout.schema))
        manifest = layout.manifest()
        provenance |= dict.fromkeys(layout.provenance())
        said.append(Metadata() if manifest is None else manifest.metadata)
        if len(given) == 1 and manifest is not None:
            texts, left_out = _texts_beside(layout, manifest)
    if not files:
        raise RecordsmithError("The dataset has no files.", path=os.fsdecode(given[0]))
    _refuse_twice(files)
    declared = [(path, schema) for path, schema in schemas if schema is not None]
    for path, other in declared[1:]:
        if other != declared[0][1]:
            raise SchemaError(
                "The inputs have different schemas.",
                path=path,
                found=_difference(other, declared[0][1]),
                expected=f"the schema of {declared[0][0]}",
                advice=advise("Copy one of them under the other's schema first, with {schema}.", schema=...),
            )
    schema = declared[0][1] if declared else None
    metadata = said[0] if len({*said}) == 1 else Metadata()
    if len({*said}) > 1:
        left_out += ("The inputs have different metadata (licence, citation, ...), so the copy has none.",)
    return CopyInputs(
        tuple(files),
        _checked_splits(files, splits, keep=keep_splits),
        schema,
        len(declared) == len(schemas),
        texts,
        tuple(provenance),
        left_out,
        tuple(dict.fromkeys(name for name in splits if name is not None)),
        metadata,
    )


def _checked_splits(files: list[str], splits: list[str | None], *, keep: bool) -> tuple[str, ...]:
    found = tuple(name for name in splits if name is not None)
    if not keep or not found:
        return ()
    check_number_of_splits(len(set(found)))
    if len(found) < len(files):
        lacking = [os.path.basename(file) for file, name in zip(files, splits, strict=True) if name is None]
        raise RecordsmithError(
            "Some files belong to a split, and others do not.",
            found=f"no split for {list_names(lacking, 4)}; {list_names(dict.fromkeys(found))} for others",
            advice=advise(
                "Combine them with {merge_splits}; {split} divides them again.",
                merge_splits=True,
                split="train=0.8,test=0.2",
            ),
        )
    return found


def _texts_beside(layout: DatasetLayout, manifest: Manifest) -> tuple[dict[str, TextFile], tuple[str, ...]]:
    """Return the texts that a manifest lists next to its shards, and what is left out of them and why.

    Those that every copy writes for itself are not among them.
    """
    anew = {*_WRITTEN_ANEW, *(named_labels(layout.schema) if layout.schema is not None else ())}
    folder = os.path.dirname(layout.described_by or "")
    texts: dict[str, TextFile] = {}
    left_out: list[str] = []
    for name in manifest.files:
        path = in_force(os.path.join(folder, name))
        if name in anew or (not is_carried(path) and not os.path.lexists(path)):
            continue
        if not is_carried(path):
            left_out.append(f"{name!r} is left out: it is not a file but a link or something else.")
            continue
        with opened_to_carry(path) as file:
            raw = file.read(_LONGEST_TEXT + 1)
            try:
                text = raw.decode() if len(raw) <= _LONGEST_TEXT else None
            except UnicodeDecodeError:
                text = None
            if text is None:
                left_out.append(f"{name!r} is left out: it is not a text file of at most {bytes_text(_LONGEST_TEXT)}.")
            else:
                texts[name] = TextFile(text, carried_mode(file))
    return texts, tuple(left_out)


def _refuse_twice(files: list[str]) -> None:
    seen: set[str] = set()
    for file in files:
        real = file if is_ranged(file) else os.path.realpath(file)
        if real in seen:
            raise RecordsmithError("A file is given twice.", path=file, advice="Give each file once.")
        seen.add(real)


def _difference(mine: Schema, theirs: Schema) -> str:
    names = dict.fromkeys([*mine, *theirs])
    differing = [name for name in names if dict(mine).get(name) != dict(theirs).get(name)]
    return f"differences in {list_names(differing)}" if differing else "another order of the features"
