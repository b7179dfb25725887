"""Reads folders of TensorFlow Datasets: dataset_info.json and features.json next to the shards."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass

from recordsmith.errors import RecordsmithError, SchemaError
from recordsmith.records.described_splits import (
    DescribedShard,
    DescribedSplit,
    check_file_name,
    check_split_name,
    files_by_split,
)
from recordsmith.schema import Schema
from recordsmith.schema.export.tfds import DATASET_INFO_NAME, FEATURES_NAME, FILE_TEMPLATE
from recordsmith.storage.json_descriptions import JsonObject, read_json_object
from recordsmith.storage.publication import in_force, switch_in
from recordsmith.storage.ranged.opening import is_file
from recordsmith.wording.call_stack import caller_level

__all__ = ["DATASET_INFO_NAME", "TfdsFolder", "UnusedSchemaWarning", "read_tfds_folder"]

_PLACEHOLDER = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True, slots=True)
class TfdsFolder:
    """What the descriptions of a TFDS folder say.

    Attributes:
        path: dataset_info.json.
        schema: what is in a record; None where some feature is not known here.
        splits: the splits by name, with their files.
    """

    path: str
    schema: Schema | None
    splits: dict[str, DescribedSplit]

    @property
    def files_by_split(self) -> dict[str, tuple[str, ...]]:
        """The paths of the files, by split."""
        return files_by_split(self.splits)


class UnusedSchemaWarning(UserWarning):
    """A description of TensorFlow Datasets has a feature that is not supported, and so none of its features is used."""


def read_tfds_folder(folder: str) -> TfdsFolder:
    """Read the descriptions of a TFDS folder.

    >>> from recordsmith.schema import Label
    >>> from recordsmith.schema.export.tfds import write_tfds_metadata
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = write_tfds_metadata(folder, {"animal": Label(["cat", "dog"])}, "pets", {"train": [8, 8]})
    >>> tfds = read_tfds_folder(folder)
    >>> tfds.schema["animal"], [shard.name for shard in tfds.splits["train"].shards]
    (Label(['cat', 'dog']), ['pets-train.tfrecord-00000-of-00002', 'pets-train.tfrecord-00001-of-00002'])
    """
    path = os.path.join(folder, DATASET_INFO_NAME)
    info = read_json_object(path, "TFDS description")
    file_format = info.text("fileFormat", "tfrecord")
    if file_format != "tfrecord":
        raise SchemaError(
            f"This TFDS dataset is stored as {file_format[:60]}, not as TFRecords.",
            path=path,
            advice="Prepare it with file_format='tfrecord'.",
        )
    splits: dict[str, DescribedSplit] = {}
    try:
        for split in info.objects("splits"):
            name = check_split_name(split.text("name"))
            if name in splits:
                raise SchemaError(f"The TFDS description has the split {name!r} twice.")
            splits[name] = _split(folder, info.text("name"), name, split)
    except RecordsmithError as error:
        raise error.at(path=path) from None
    if not any(split.shards for split in splits.values()):
        raise SchemaError("This TFDS description names no files.", path=path, advice="Open the data files with a glob.")
    return TfdsFolder(path, _schema(folder), splits)


def _split(folder: str, dataset: str, name: str, split: JsonObject) -> DescribedSplit:
    lengths = split.counts("shardLengths")
    template = split.text("filepathTemplate", "") or FILE_TEMPLATE
    switch = switch_in(folder)
    names = (_shard_name(template, dataset, name, shard, len(lengths)) for shard in range(len(lengths)))
    shards = (DescribedShard(switch.path(file), records) for file, records in zip(names, lengths, strict=True))
    return DescribedSplit(tuple(shards))


def _schema(folder: str) -> Schema | None:
    path = os.path.join(folder, FEATURES_NAME)
    if not is_file(in_force(path)):
        return None
    read_json_object(path, "TFDS description")  # a damaged file is an error; a feature that is not known here is none
    try:
        return Schema.from_tfds(path) or None
    except SchemaError as error:  # the records themselves tell what is stored, but not all that was meant
        name = "" if error.feature is None else f"feature {error.feature!r}: "
        warnings.warn(
            f"{FEATURES_NAME} is not used ({name}{error.problem.rstrip('.')}). The types are inferred from the "
            "records, which do not store shapes and dtypes such as uint64. Pass a schema to declare them.",
            UnusedSchemaWarning,
            stacklevel=caller_level(),
        )
        return None


def _shard_name(template: str, dataset: str, split: str, shard: int, shards: int) -> str:
    """Fill in a template by hand: format fields of somebody else's making can ask for any width and any attribute.

    >>> _shard_name(FILE_TEMPLATE, "pets", "train", 0, 2)
    'pets-train.tfrecord-00000-of-00002'
    """
    values = {
        "DATASET": dataset,
        "SPLIT": split,
        "FILEFORMAT": "tfrecord",
        "SHARD_INDEX": f"{shard:05}",
        "NUM_SHARDS": f"{shards:05}",
        "SHARD_X_OF_Y": f"{shard:05}-of-{shards:05}",
    }
    literal = _PLACEHOLDER.sub("", template)
    if "{" in literal or "}" in literal or not set(_PLACEHOLDER.findall(template)) <= set(values):
        raise SchemaError(
            "The TFDS description has a file name template that is not supported.",
            found=repr(template[:200]),
            expected=f"placeholders {', '.join(f'{{{name}}}' for name in values)}",
        )
    return check_file_name(os.path.basename(_PLACEHOLDER.sub(lambda match: values[match[1]], template)))
