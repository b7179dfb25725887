"""Says without reading records that two datasets have the same ones: by the fingerprints in their manifests."""

from __future__ import annotations

import os
from collections.abc import Sequence

from recordsmith.dataset.descriptions.manifest import Manifest
from recordsmith.dataset.layout import find_layout
from recordsmith.records.described_splits import DescribedSplit
from recordsmith.report.sections import TableSection
from recordsmith.storage.ranged.opening import file_size

__all__ = ["same_records"]

PathLike = str | os.PathLike[str]

_TEXT = (
    "The fingerprints in both manifests are equal: each split has the same records. Their order and files may "
    "differ. The file sizes match the manifests, and the files were not read."
)


def same_records(
    paths: Sequence[PathLike | Sequence[PathLike]], names: Sequence[str], split: str | None
) -> TableSection | None:
    """Return what is said about two datasets that have the same records; None if that is not known.

    Args:
        paths: both datasets.
        names: what they are called.
        split: compare only this split.
    """
    found = [find_layout(path).manifest() for path in paths]
    first, second = found
    if first is None or second is None or first.schema != second.schema:
        return None
    of_first, of_second = (_fingerprinted(manifest, split) for manifest in (first, second))
    if not of_first or not of_second or _facts(of_first) != _facts(of_second):
        return None
    rows = tuple((name, one.records, one.records, one.fingerprint) for name, one in of_first.items())
    return TableSection("Counts", ("records", *names, "fingerprint"), rows, _TEXT)


def _facts(splits: dict[str, DescribedSplit]) -> dict[str, tuple[int | None, str | None]]:
    return {name: (split.records, split.fingerprint) for name, split in splits.items()}


def _fingerprinted(manifest: Manifest, split: str | None) -> dict[str, DescribedSplit]:
    """Return the splits that are meant, if all have a fingerprint, and files of the size that the manifest says."""
    splits = {name: one for name, one in manifest.splits.items() if split in (None, name)}
    for one in splits.values():
        if one.fingerprint is None or any(_size(shard.path) != shard.bytes for shard in one.shards):
            return {}
    return splits


def _size(path: str) -> int | None:
    try:
        return file_size(path)
    except OSError:
        return None
