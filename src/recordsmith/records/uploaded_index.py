"""The index of a file that was uploaded: put next to it at once, so that no reader has to stream the file for one."""

from __future__ import annotations

import logging
import os

import numpy as np

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.records.index import build_index, cache_paths, upload_index
from recordsmith.storage.objects import without_secrets
from recordsmith.storage.ranged.remote_object import version_of

__all__ = ["index_uploaded"]

_LOG = logging.getLogger("recordsmith")
_NOTED = 10**9  # nanoseconds: any time later than that of an object, which is 0. So equal files have equal indexes


def index_uploaded(path: str, url: str, etag: str | None) -> None:
    """Index a TFRecord file, and put the index next to the object that it was uploaded to.

    Nothing depends on it: if it fails, whoever reads the object first builds the index.

    Args:
        path: the local file.
        url: the object.
        etag: its version.
    """
    if not etag:
        return
    try:
        index = build_index(path)
        version = version_of(etag, index.size)
        identity = version, index.size, 0, 0, version, _NOTED  # as cpp/files/remote_file.h has it
        target = cache_paths(path)[0]
        os.makedirs(os.path.dirname(target), exist_ok=True)
        offsets = np.ascontiguousarray(index.offsets[:], np.uint64)
        _core.write_index_file(target, identity, index.compression, index.content, offsets)
        try:
            upload_index(url, target)
        finally:
            os.remove(target)
    except (RecordsmithError, OSError) as error:
        _LOG.info("%s: its index was not uploaded: %s", without_secrets(url), error)
