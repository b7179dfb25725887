"""Tells the samples of a WebDataset from an archive of any files, such as a packed folder of images."""

from __future__ import annotations

import os
from itertools import islice

from recordsmith.errors import RecordsmithError
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.webdataset.samples import group_samples
from recordsmith.formats.webdataset.tar_members import tar_members

__all__ = ["is_sample_archive"]

_LOOKED_AT = 200  # samples
# What is a whole dataset by itself, and never the only file of a sample.
_DATASETS = frozenset({"csv", "tsv", "jsonl", "parquet", "arrow", "xlsx", "h5", "hdf5", "mat", "tfrecord", "zip", "db"})


def is_sample_archive(path: str) -> bool:
    """Say whether a tar file has samples: files of one name, or numbered files or one kind of file in one folder.

    What cannot be read is left to the source, which says why.
    """
    try:
        samples = list(islice(group_samples(tar_members(SourceFile.at(path), content=False)), _LOOKED_AT))
    except (RecordsmithError, OSError):
        return True
    if not samples or any(len(sample.members) > 1 for sample in samples):
        return True
    suffixes = {name.rpartition(".")[2] for sample in samples for name in sample.members}
    folders = {os.path.dirname(sample.key) for sample in samples}
    are_numbered = all(os.path.basename(sample.key).isdecimal() for sample in samples)
    return len(folders) == 1 and (len(suffixes) == 1 or are_numbered) and not suffixes & _DATASETS
