"""Which implementation talks to which URL."""

from __future__ import annotations

from recordsmith.storage.objects.addresses import scheme_of
from recordsmith.storage.objects.fsspec_folder import FsspecFolder
from recordsmith.storage.objects.object_folder import ObjectFolder
from recordsmith.storage.objects.obstore_folder import SCHEMES, ObstoreFolder

__all__ = ["open_folder"]


def open_folder(url: str) -> ObjectFolder:
    """Return the folder that a URL stands for. Nothing is sent yet.

    >>> open_folder("s3://bucket/data").shown("a.tfrecord")
    's3://bucket/data/a.tfrecord'
    """
    return ObstoreFolder(url) if scheme_of(url) in SCHEMES else FsspecFolder(url)
