"""The arrays of MATLAB's `.mat` files as a source.

A vector of N x 1 or 1 x N is one number per row. Version 7.3 is HDF5, and is read some rows at a time; older versions
are read whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from recordsmith.errors import CorruptRecordError, RecordsmithError, import_extra, list_names
from recordsmith.formats.arrays.array_features import Column
from recordsmith.formats.arrays.source import ArraysSource, tables_of_files
from recordsmith.formats.files.source_files import PathLike, SourceFile, find_files, opened
from recordsmith.formats.hdf5.datasets import Hdf5Array, array_in_file, datasets_of, opened_hdf5
from recordsmith.formats.tables.options import names_of, table_options
from recordsmith.schema import Schema

__all__ = ["MatSource", "mat"]

MOST_BYTES = 4 << 30  # of the arrays of a file that is read whole
_NUMBERS = "biufcUS"


def mat(
    paths: PathLike | Iterable[PathLike],
    *,
    label: str | None = None,
    columns: str | Iterable[str] | None = None,
    types: Mapping[str, Any] | None = None,
    schema: Schema | None = None,
    floats: str = "auto",
    strip: bool = False,
) -> MatSource:
    """Return the arrays of `.mat` files as a source for `make`. Row i of the result has entry i of each of them.

    The rows are in the first dimension. If the arrays agree only in the last dimension of the larger ones, as X of
    32 x 32 x 3 x N and y of N x 1, the rows are there, and a warning says so.

    Args:
        paths: the file, or files that are splits: train.mat and test.mat.
        label: the variable with the class.
        columns: use only these variables.
        types: the types of variables, by name: a feature, a dtype, "text", "bytes" or "label".
        schema: the features. Other variables are left out.
        floats: the dtype that float64 is stored as: "float32", "float64", or "auto": float32, unless a value is at
            least 2**24.
        strip: remove white space around class names, so that "cat" and "cat " are the same class.

    >>> import recordsmith as rs, tempfile, scipy.io, numpy
    >>> path = tempfile.mkdtemp() + "/digits.mat"
    >>> scipy.io.savemat(path, {"X": numpy.zeros((3, 4), "uint8"), "y": [[1], [0], [1]]})
    >>> rs.sources.mat(path, label="y").schema()
    Schema({
        'X': Tensor('uint8', (4,)),
        'y': Label(2),
    })
    """
    options = table_options(label=label, columns=columns, types=types, schema=schema, floats=floats, strip=strip)
    files = find_files(paths, (".mat",), kind=".mat")
    wanted = {*names_of(columns), *names_of(label), *(schema or ())} if columns or schema else set()
    lost: list[str] = []
    found = [(file, _arrays_of(file, wanted, lost)) for file in files]
    return MatSource(tables_of_files(found, ".mat"), options, tuple(dict.fromkeys(lost)))


def _arrays_of(file: SourceFile, wanted: set[str], lost: list[str]) -> dict[str, Column]:
    """Return the arrays of a file, and note what was left out or changed."""
    with opened(file) as stream:
        is_hdf5 = stream.read(128).startswith(b"MATLAB 7.3") or _is_hdf5(stream)
    found, left_out = (_variables_of_hdf5 if is_hdf5 else _variables)(file, wanted)
    if not found:
        first = left_out[0].partition("/")[0] if left_out else "name"
        raise RecordsmithError(
            "The file contains no arrays of numbers.",
            path=file.path,
            found=list_names(left_out),
            advice="Read it in Python, and pass the arrays:",
            example="import scipy.io\n"
            f"struct = scipy.io.loadmat({file.path!r}, simplify_cells=True)[{first!r}]\n"
            'rs.make(struct, "data")  # if its fields are arrays with one entry per row',
        )
    if left_out:
        lost.append(f"{list_names(left_out)} left out: only arrays of numbers and text are read.")
    turned = _with_rows_first(found)
    if turned is not None:
        found = turned
        lost.append("The rows are in the last dimension of the larger arrays.")
    return {name: _as_vector(column) for name, column in found.items()}


class MatSource(ArraysSource):
    """The arrays of a `.mat` file. Made by `rs.sources.mat`."""

    kind: ClassVar[str] = "mat"


def _is_hdf5(stream: Any) -> bool:
    stream.seek(512)
    return bool(stream.read(8) == b"\x89HDF\r\n\x1a\n")


def _variables(file: SourceFile, wanted: set[str]) -> tuple[dict[str, Column], list[str]]:
    """Return the variables of a file that is read whole, and the names of those that are no arrays."""
    io = import_extra("scipy.io", "mat", purpose="Reading .mat files")
    try:
        with opened(file) as stream:
            listed = {name: shape for name, shape, _ in io.whosmat(stream) if not wanted or name in wanted}
            _check_size(file, listed)
            stream.seek(0)
            loaded = io.loadmat(stream, variable_names=list(listed))
    except RecordsmithError:
        raise
    except Exception as error:  # noqa: BLE001 - scipy raises whatever a damaged file leads it to
        raise CorruptRecordError(
            "This is not a complete .mat file.",
            path=file.path,
            found=str(error).partition("\n")[0] or type(error).__name__,
            advice="Copy the file again from its source, or save it again.",
        ) from None
    arrays = {name: _strings(loaded[name]) for name in listed if name in loaded}
    kept = {name: array for name, array in arrays.items() if array is not None}
    return kept, [name for name in listed if name not in kept]


def _check_size(file: SourceFile, shapes: Mapping[str, tuple[int, ...]]) -> None:
    if 8 * sum(prod(shape) for shape in shapes.values()) > MOST_BYTES:
        raise RecordsmithError(
            f"The arrays of the file may take more than {MOST_BYTES >> 30} GB, and are read whole.",
            path=file.path,
            advice="Save it with -v7.3, or choose some variables with columns=[...].",
        )


def _strings(value: Any) -> Any:
    """Return an array of numbers or of text; a cell array of texts is one; None for anything else."""
    if not isinstance(value, np.ndarray) or value.dtype.kind in _NUMBERS:
        return value if isinstance(value, np.ndarray) and value.ndim else None
    cells = value.reshape(-1).tolist() if value.dtype.kind == "O" else []
    if cells and all(isinstance(cell, np.ndarray) and cell.dtype.kind == "U" and cell.size <= 1 for cell in cells):
        return np.array([str(cell.item()) if cell.size else "" for cell in cells], object)
    return None


def _variables_of_hdf5(file: SourceFile, wanted: set[str]) -> tuple[dict[str, Column], list[str]]:
    kept: dict[str, Column] = {}
    left_out = []
    with opened_hdf5(file) as found:
        for name, data in datasets_of(found, file.path):
            if wanted and name not in wanted:
                continue
            kind = data.attrs.get("MATLAB_class", b"double")
            if data.shape and data.dtype.kind in "biufc" and kind not in (b"char", b"cell", b"struct"):
                kept[name] = array_in_file(file, data, "first")
            else:
                left_out.append(name)
    return kept, left_out


def _with_rows_first(columns: Mapping[str, Column]) -> dict[str, Column] | None:
    """Return the arrays with the last dimension of the larger ones first, if only so they agree; None if not needed."""
    vectors = {max(column.shape) for column in columns.values() if _is_vector(column)}
    larger = {name: column for name, column in columns.items() if not _is_vector(column)}
    if len(vectors) != 1 or not larger:
        return None
    (rows,) = vectors
    if all(column.shape[0] == rows for column in larger.values()):
        return None
    if not all(column.shape[-1] == rows for column in larger.values()):
        return None
    return {**columns, **{name: _turned(column) for name, column in larger.items()}}


def _turned(column: Column) -> Column:
    if isinstance(column, Hdf5Array):
        return replace(column, order="last", shape=(column.shape[-1], *column.shape[:-1]))
    assert isinstance(column, np.ndarray)  # noqa: S101 - for the type checker: there are no others
    return np.moveaxis(column, -1, 0)


def _is_vector(column: Column) -> bool:
    return len(column.shape) == 1 or (len(column.shape) == 2 and 1 in column.shape)


def _as_vector(column: Column) -> Column:
    """Return a vector, which MATLAB stores as a matrix of one row or one column, with one dimension."""
    if len(column.shape) != 2 or 1 not in column.shape:
        return column
    size = max(column.shape)
    if isinstance(column, np.ndarray):
        return column.reshape(size)
    assert isinstance(column, Hdf5Array)  # noqa: S101 - for the type checker: there are no others
    return replace(column, shape=(size,), order="first" if column.shape[0] == size else "last")
