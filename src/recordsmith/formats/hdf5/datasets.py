"""The datasets of an HDF5 file as arrays that are read some rows at a time, through h5py.

Nothing outside the file is read: links to other files and datasets that are stored in other files are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith.errors import CorruptRecordError, RecordsmithError, import_extra
from recordsmith.formats.arrays.stored_arrays import Array, StoredArray
from recordsmith.formats.files.source_files import SourceFile, opened
from recordsmith.storage.ranged.opening import is_ranged

__all__ = ["Hdf5Array", "array_in_file", "datasets_of", "opened_hdf5"]

_MOST_DATASETS = 10_000
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Hdf5Array(StoredArray):
    """A dataset of an HDF5 file.

    Attributes:
        order: "C"; or, for MATLAB's arrays, whose dimensions h5py shows the other way round, "first" or "last": the
            dimension of MATLAB's array that has the rows.
        text: its values are strings.
    """

    order: str = "C"
    text: bool = False

    def rows(self, start: int, stop: int) -> Array:
        """Return some entries."""
        with opened_hdf5(self.file) as file:
            data = file[self.member]
            if self.order == "first":
                part = np.asarray(data[..., start:stop]).T
            elif self.order == "last":
                part = np.asarray(data[start:stop])
                part = part.transpose(0, *range(part.ndim - 1, 0, -1))
            else:
                part = np.asarray(data[start:stop])
        if self.text:
            flat = [value.rstrip(b"\0").decode(errors="surrogateescape") for value in part.astype(object).reshape(-1)]
            part = np.array(flat, object).reshape(part.shape)
        return part.reshape(len(part), *self.shape[1:])


@contextmanager
def opened_hdf5(file: SourceFile) -> Iterator[Any]:
    """Open a file that must still be the one that was found; whatever is wrong with it is an error that names it."""
    h5py = import_extra("h5py", "hdf5", purpose="Reading HDF5")
    with opened(file) as stream:
        try:
            with h5py.File(stream if is_ranged(file.path) else file.path, "r") as found:
                yield found
        except (OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError, SystemError) as error:
            if isinstance(error, RecordsmithError):
                raise
            raise CorruptRecordError(
                "This is not a complete HDF5 file.",
                path=file.path,
                found=str(error).partition("\n")[0],
                advice="Copy the file again from its source, or write it again.",
            ) from None


def datasets_of(group: Any, path: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Give the datasets below a group, with their names in it joined by "/"."""
    h5py = import_extra("h5py", "hdf5", purpose="Reading HDF5")
    if prefix.count("/") > _DEEPEST:
        raise RecordsmithError("Groups are nested too deep.", path=path, found=prefix[:80])
    for number, name in enumerate(group):
        if number > _MOST_DATASETS:
            raise RecordsmithError(f"A group has more than {_MOST_DATASETS} entries.", path=path, found=prefix or "/")
        if name.startswith("#"):  # what MATLAB keeps for itself
            continue
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise RecordsmithError(
                "The file has a link to another place, which is not followed.",
                path=path,
                found=f"{prefix}{name} -> {getattr(link, 'filename', '')}{link.path}",
                advice="Read it with h5py, and pass the arrays to rs.make.",
            )
        entry = group[name]
        if isinstance(entry, h5py.Group):
            yield from datasets_of(entry, path, f"{prefix}{name}/")
        elif isinstance(entry, h5py.Dataset):
            if entry.is_virtual or entry.external:
                raise RecordsmithError(
                    "The values of a dataset are in other files, which are not read.",
                    path=path,
                    found=prefix + name,
                    advice="Read it with h5py, and pass the arrays to rs.make.",
                )
            yield prefix + name, entry


def array_in_file(file: SourceFile, dataset: Any, order: str = "C") -> Hdf5Array:
    """Return a dataset as an array of a file."""
    h5py = import_extra("h5py", "hdf5", purpose="Reading HDF5")
    text = h5py.check_string_dtype(dataset.dtype) is not None
    if not text and (dataset.dtype.hasobject or dataset.dtype.names):
        raise RecordsmithError(
            "A dataset has values of different lengths, references or several fields.",
            path=file.path,
            found=f"{dataset.name}: {dataset.dtype}",
            advice="Read it with h5py, and pass its rows to rs.make; or choose other datasets with columns=[...].",
        )
    if dataset.size and dataset.chunks and not dataset.id.get_storage_size():
        raise RecordsmithError(
            "A dataset has no stored values, only a shape.",
            path=file.path,
            found=f"{dataset.name}: {dataset.shape}",
            advice="Choose the other datasets with columns=[...].",
        )
    shape = dataset.shape
    if order == "first":
        shape = shape[::-1]
    elif order == "last":
        shape = (shape[0], *shape[:0:-1])
    dtype = "O" if text else dataset.dtype.str
    return Hdf5Array(file, 0, dtype, tuple(map(int, shape)), member=dataset.name, order=order, text=text)


def explained(found: Any, path: str) -> None:
    """Refuse files that are something else than arrays, as text that say what they are."""
    attributes: Mapping[str, Any] = found.attrs
    if "keras_version" in attributes or "layer_names" in attributes or "model_weights" in found:
        raise RecordsmithError("This is a Keras model, not data.", path=path)
    for name in list(found)[:100]:
        if "pandas_type" in found[name].attrs:
            raise RecordsmithError(
                "This file was written by pandas.",
                path=path,
                found=f"the key {name!r}",
                advice=f"Read it with pandas: rs.make(pandas.read_hdf({path!r}, {name!r}), ...)",
            )
