"""The batches of CIFAR-10 and CIFAR-100 as a source. It is chosen by name only: the files are pickles."""

from __future__ import annotations

import os
import re
from typing import Any, ClassVar

import numpy as np

from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.formats.arrays.array_features import Column
from recordsmith.formats.arrays.source import ArraysSource
from recordsmith.formats.cifar.pickled_arrays import unpickled
from recordsmith.formats.files.source_files import PathLike, SourceFile, opened
from recordsmith.formats.tables.options import table_options
from recordsmith.schema import Label

__all__ = ["CifarSource", "cifar", "refuse_cifar"]

_LARGEST_BATCH = 1 << 30
_BATCHES = re.compile(r"data_batch_\d+|test_batch|train|test")
_FOLDERS = ("cifar-10-batches-py", "cifar-100-python")
_META = ("batches.meta", "meta")
_LABELS = {"labels": "label", "fine_labels": "label", "coarse_labels": "coarse_label"}
_NAMES = {"label": ("label_names", "fine_label_names"), "coarse_label": ("coarse_label_names",)}


def cifar(folder: PathLike) -> CifarSource:
    """Return the images of CIFAR-10 or CIFAR-100 as a source for `make`, with the splits train and test.

    The files are pickles. They are read without running any code in them: anything but arrays, texts, numbers and
    containers is an error.

    Args:
        folder: the folder cifar-10-batches-py or cifar-100-python, unpacked.
    """
    root = os.fspath(folder)
    if not is_cifar(root):
        inside = [os.path.join(root, name) for name in _FOLDERS]
        root = next((path for path in inside if is_cifar(path)), root)
    names = sorted(name for name in os.listdir(root) if _BATCHES.fullmatch(name))
    if not names:
        raise RecordsmithError(
            "The folder has no batches of CIFAR.",
            path=root,
            found=list_names(sorted(os.listdir(root))),
            expected="files such as data_batch_1 and test_batch, or train and test",
        )
    files = {name: SourceFile.at(os.path.join(root, name)) for name in names}
    tables: dict[str | None, list[dict[str, Any]]] = {}
    for name, file in files.items():
        tables.setdefault("test" if name.startswith("test") else "train", []).append(_batch(file))
    meta = next((os.path.join(root, name) for name in _META if os.path.isfile(os.path.join(root, name))), None)
    classes = {} if meta is None else _class_names(_load(SourceFile.at(meta)))
    joined: dict[str | None, dict[str, Column]] = {
        split: {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
        for split, batches in tables.items()
    }
    types = {name: Label(found) for name, found in classes.items() if name in next(iter(joined.values()))}
    options = table_options(label="label", types=types, schema=None, floats="auto")
    return CifarSource(joined, options)


class CifarSource(ArraysSource):
    """The images of CIFAR. Made by `rs.sources.cifar`."""

    kind: ClassVar[str] = "cifar"


def is_cifar(folder: str) -> bool:
    """Say whether a folder looks like the batches of CIFAR, by the names of its files."""
    has_batch = any(os.path.isfile(os.path.join(folder, name)) for name in ("data_batch_1", "train"))
    return has_batch and any(os.path.isfile(os.path.join(folder, name)) for name in _META)


def refuse_cifar(folder: str) -> None:
    """Say of a folder of CIFAR that its pickles are read only if that is asked for."""
    if any(is_cifar(os.path.join(folder, name)) for name in ("", *_FOLDERS)):
        raise RecordsmithError(
            "The batches of CIFAR are pickles, which are not read unless you ask for it.",
            path=folder,
            advice=advise("Pass {kind}. No code in them is run.", kind=("rs.sources.cifar(folder)", "--kind cifar")),
        )


def _load(file: SourceFile) -> dict[str, Any]:
    if file.size > _LARGEST_BATCH:
        raise RecordsmithError(
            "The file is too large for a batch of CIFAR.", path=file.path, found=f"{file.size} bytes"
        )
    with opened(file) as stream:
        data = stream.read()
    try:
        found = unpickled(data)
    except ValueError as error:
        raise RecordsmithError(f"The pickle is not a batch of CIFAR: {error}.", path=file.path) from None
    if not isinstance(found, dict):
        raise RecordsmithError("The pickle is not a batch of CIFAR.", path=file.path, found=type(found).__name__)
    return found


def _batch(file: SourceFile) -> dict[str, Any]:
    found = _load(file)
    data: Any = found.get("data")
    rows = len(data) if isinstance(data, np.ndarray) and data.shape[1:] == (3072,) and data.dtype == np.uint8 else 0
    if not rows:
        raise RecordsmithError(
            "The batch has no images of 32 x 32 pixels.", path=file.path, found=list_names(map(str, found))
        )
    columns: dict[str, Any] = {"image": data.reshape(rows, 3, 32, 32).transpose(0, 2, 3, 1)}
    for theirs, ours in _LABELS.items():
        if theirs in found:
            columns[ours] = np.asarray(found[theirs], np.int64)
            if columns[ours].shape != (rows,):
                raise RecordsmithError(f"The batch must have one of {theirs} per image.", path=file.path)
    if "label" not in columns:
        raise RecordsmithError("The batch has no labels.", path=file.path, found=list_names(map(str, found)))
    names = found.get("filenames")
    if isinstance(names, list) and len(names) == rows:
        columns["filename"] = np.array([str(name) for name in names], object)
    return columns


def _class_names(meta: dict[str, Any]) -> dict[str, list[str]]:
    found = {ours: next((meta[name] for name in names if name in meta), None) for ours, names in _NAMES.items()}
    return {ours: [str(name) for name in names] for ours, names in found.items() if isinstance(names, list) and names}
