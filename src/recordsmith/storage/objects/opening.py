"""Which implementation talks to which URL."""

from __future__ import annotations

import os
from functools import lru_cache

from recordsmith.errors import RecordsmithError
from recordsmith.storage.objects.addresses import OBSTORE_SCHEMES, scheme_of, without_secrets
from recordsmith.storage.objects.object_folder import ObjectFolder

__all__ = ["open_folder"]

_SETTINGS = ("AWS_", "AZURE_", "GOOGLE_", "HOME", "RECORDSMITH_REMOTE")  # variables that decide how a store is reached


def open_folder(url: str) -> ObjectFolder:
    """Return the folder that a URL stands for. Nothing is sent yet. While settings stay, connections are used again.

    >>> open_folder("s3://bucket/data").shown("a.tfrecord")
    's3://bucket/data/a.tfrecord'
    """
    scheme = scheme_of(url).rstrip(":")  # "s3://" without slashes at its end
    if scheme not in OBSTORE_SCHEMES:
        from recordsmith.storage.objects.fsspec_folder import FsspecFolder  # here and below: most data is local

        return FsspecFolder(url)
    bucket = url.partition("://")[2].partition("/")[0]
    if not bucket:
        raise RecordsmithError(
            "The URL names no bucket.",
            path=f"{scheme}://",
            expected=f"a URL such as {scheme}://bucket/folder",
            advice="Buckets cannot be listed here. Name the one that contains the data.",
        )
    if "@" in bucket and scheme in ("s3", "s3a", "gs"):
        raise RecordsmithError(
            "A URL of object storage cannot contain credentials: they would be stored with the data.",
            path=without_secrets(url),
            expected=f"a URL such as {scheme}://bucket/folder",
            advice="Give them in environment variables, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        )
    return _opened(url, tuple(sorted(item for item in os.environ.items() if item[0].startswith(_SETTINGS))))


@lru_cache(maxsize=128)
def _opened(url: str, _settings: tuple[tuple[str, str], ...]) -> ObjectFolder:
    from recordsmith.storage.objects.obstore_folder import ObstoreFolder

    return ObstoreFolder(url)
