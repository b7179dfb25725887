"""The arrays of HDF5 files as a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from recordsmith.errors import RecordsmithError, list_names
from recordsmith.formats.arrays.array_features import Column
from recordsmith.formats.arrays.source import ArraysSource, base_name, by_split, tables_of_files
from recordsmith.formats.files.source_files import PathLike, SourceFile, find_files
from recordsmith.formats.hdf5.datasets import array_in_file, datasets_of, explained, opened_hdf5
from recordsmith.formats.tables.options import names_of, table_options
from recordsmith.records.shards import split_in_name
from recordsmith.schema import Schema

__all__ = ["Hdf5Source", "hdf5"]

SUFFIXES = (".h5", ".hdf5", ".hdf")


def hdf5(
    paths: PathLike | Iterable[PathLike],
    *,
    label: str | None = None,
    columns: str | Iterable[str] | None = None,
    types: Mapping[str, Any] | None = None,
    schema: Schema | None = None,
    floats: str = "auto",
    strip: bool = False,
) -> Hdf5Source:
    """Return the datasets of HDF5 files as a source for `make`. Row i of the result has entry i of each of them.

    Groups named train and test are splits, and so are datasets named x_train and x_test, or files named train.h5 and
    test.h5. Other groups are part of the name: "images/left".

    Args:
        paths: a file, a folder, a glob, or a list of these. Several files must be splits.
        label: the dataset with the class.
        columns: use only these datasets.
        types: the types of datasets, by name: a feature, a dtype, "text", "bytes" or "label".
        schema: the features. Other datasets are left out.
        floats: the dtype that float64 is stored as: "float32", "float64", or "auto": float32, unless a value is at
            least 2**24.
        strip: remove white space around class names, so that "cat" and "cat " are the same class.

    >>> import recordsmith as rs, tempfile, h5py, numpy
    >>> path = tempfile.mkdtemp() + "/digits.h5"
    >>> with h5py.File(path, "w") as file:
    ...     file["image"] = numpy.zeros((3, 28, 28), "uint8")
    ...     file["label"] = [4, 0, 9]
    >>> rs.sources.hdf5(path, label="label").schema()
    Schema({
        'image': Tensor('uint8', (28, 28)),
        'label': Label(10),
    })
    """
    options = table_options(label=label, columns=columns, types=types, schema=schema, floats=floats, strip=strip)
    files = find_files(paths, SUFFIXES, kind="HDF5")
    wanted = {*names_of(columns), *names_of(label), *(schema or ())} if columns or schema else set()
    if len(files) == 1:
        return Hdf5Source(_tables_of(files[0], wanted), options)
    found = [(file, one[None]) for file in files for one in [_tables_of(file, wanted, split=False)]]
    return Hdf5Source(tables_of_files(found, ".h5"), options)


class Hdf5Source(ArraysSource):
    """The arrays of HDF5 files. Made by `rs.sources.hdf5`."""

    kind: ClassVar[str] = "hdf5"


def _tables_of(file: SourceFile, wanted: set[str], *, split: bool = True) -> dict[str | None, dict[str, Column]]:
    with opened_hdf5(file) as opened:
        explained(opened, file.path)
        tops = list(opened)
        are_splits = (
            split
            and len(tops) > 1
            and all(split_in_name(top) is not None and hasattr(opened[top], "keys") for top in tops)
        )
        tables: dict[str | None, dict[str, Column]] = {}
        for top in tops if are_splits else [None]:
            found = datasets_of(opened if top is None else opened[top], file.path)
            chosen = ((name, data) for name, data in found if not wanted or name in wanted or base_name(name) in wanted)
            columns: dict[str, Column] = {name: array_in_file(file, data) for name, data in chosen if data.shape}
            tables[None if top is None else split_in_name(top)] = columns
    if not any(tables.values()):
        raise RecordsmithError("The file contains no arrays.", path=file.path, found=list_names(tops))
    return by_split(tables[None]) if None in tables and split else tables
