"""Checks of the options that everything that writes a dataset has in common."""

from __future__ import annotations

import os
import re
from typing import Any

from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.workers.threads import default_workers

__all__ = ["check_name", "check_on_error", "check_seed", "check_shards", "checked_workers", "default_name"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.]*")
_MOST_SHARDS = 99_999
_ON_ERROR = ("stop", "skip", "quarantine")


def check_name(name: Any) -> None:
    """Raise for a dataset name that cannot begin file names."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RecordsmithError(
            "A dataset name may contain only letters, digits, underscores and dots: file names begin with it.",
            found=repr(name),
        )


def default_name(out: str) -> str:
    """Return the dataset name for an output folder.

    >>> default_name("/data/my-pets"), default_name("/")
    ('my_pets', 'dataset')
    """
    letters = [letter if letter.isalnum() and letter.isascii() else "_" for letter in os.path.basename(out)]
    return "".join(letters).strip("_") or "dataset"


def check_shards(shards: Any) -> None:
    """Raise for a number of shards that cannot be written."""
    if not _is_count(shards) or shards > _MOST_SHARDS:
        raise RecordsmithError(f"shards must be a number of files from 1 to {_MOST_SHARDS}.", found=repr(shards))


def checked_workers(workers: Any) -> int:
    """Return the number of workers to use; None means one for each processor."""
    if workers is None:
        return default_workers()
    if not _is_count(workers):
        raise RecordsmithError("workers must be an integer of at least 1.", found=repr(workers))
    return int(workers)


def check_seed(seed: Any) -> None:
    """Raise for a seed that is not a whole number."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise RecordsmithError("The seed must be an integer.", found=repr(seed))


def check_on_error(on_error: Any) -> None:
    """Raise for anything but "stop", "skip" and "quarantine"."""
    if on_error not in _ON_ERROR:
        raise RecordsmithError(
            f"Unknown on_error.{did_you_mean(str(on_error), _ON_ERROR)}",
            found=repr(on_error),
            expected=list_names(_ON_ERROR),
        )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
