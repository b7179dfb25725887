"""One batch of any framework in one form: names and numpy arrays.

Frameworks are recognised by the module that an object's type comes from, so that none has to be imported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, PackedColumn, Ragged, ShapedColumn, SparseColumn

__all__ = ["TARGET_NAMES", "Batch", "Values", "framework_of", "read_batch"]

Values = npt.NDArray[Any] | list[npt.NDArray[Any]]
"""A column: an array whose first axis is the rows, or a list of rows of different shape."""

TARGET_NAMES = ("label", "labels", "target", "targets", "y", "class", "category", "class_id", "label_id", "outcome")
"""What people call the target where it travels in a dict with the inputs."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """One batch.

    Attributes:
        inputs: the inputs by name; a single one is called "".
        target: the targets by name; a single one is called "".
        rows: how many elements it has.
        form: "pair", "pair and more", "dict" (a target found by its name in a dict), or "inputs".
        batched: False where the pipeline gives single elements.
        index: the records' numbers, where the pipeline says them.
        given: what the pipeline gave as inputs, and as target.
        unequal_rows: the rows of inputs and target, where they differ.

    >>> read_batch((np.zeros((4, 2)), np.arange(4))).rows
    4
    """

    inputs: dict[str, Values]
    target: dict[str, Values]
    rows: int
    form: str
    batched: bool = True
    index: npt.NDArray[np.int64] | None = None
    given: tuple[Any, Any] = field(default=(None, None))
    unequal_rows: tuple[int, int] | None = None


def framework_of(thing: Any) -> str:
    """Return the package that an object's type, or a base of it, comes from: "tensorflow", "torch", "jax", "keras".

    >>> framework_of(np.zeros(3)), framework_of([1])
    ('numpy', 'builtins')
    """
    known = {"tensorflow": "tensorflow", "torch": "torch", "jax": "jax", "jaxlib": "jax", "keras": "keras"}
    known |= {"tf_keras": "keras", "recordsmith": "recordsmith"}
    for base in type(thing).__mro__:
        root = base.__module__.partition(".")[0]
        if root in known:
            return known[root]
    return type(thing).__module__.partition(".")[0]


def read_batch(given: Any, *, with_index: bool = False) -> Batch:
    """Return a batch in our form.

    Args:
        given: what the pipeline yields: (inputs, target), a dict, an array, or one element of a dataset.
        with_index: the last part of the tuple is the records' numbers.

    >>> batch = read_batch({"x": np.zeros((4, 2)), "label": np.arange(4)})
    >>> list(batch.inputs), list(batch.target), batch.form
    (['x'], ['label'], 'dict')
    >>> read_batch((np.zeros(2), np.int64(1))).batched
    False
    """
    index = None
    if with_index and isinstance(given, tuple):
        given, index = given[:-1], np.asarray(_values(given[-1])).reshape(-1).astype(np.int64)
    raw_inputs, raw_target, form, name = _split(given)
    inputs, target = _named(raw_inputs), {} if raw_target is None else _named(raw_target)
    if name and list(target) == [""]:
        target = {name: target[""]}
    batched = not any(_is_scalar(column) for column in (target or inputs).values())
    if not batched:
        inputs = {name: _as_row(column) for name, column in inputs.items()}
        target = {name: _as_row(column) for name, column in target.items()}
    sizes = [len(column) for column in inputs.values()]
    rows = sizes[0] if sizes else next((len(column) for column in target.values()), 0)
    unequal = next(((rows, len(column)) for column in target.values() if len(column) != rows), None)
    return Batch(inputs, target, rows, form, batched, index, (raw_inputs, raw_target), unequal)


def _split(given: Any) -> tuple[Any, Any, str, str]:
    """Tell inputs from target: both, the form, and the name that the target has in a dict."""
    if isinstance(given, tuple) and hasattr(given, "_fields") and not _is_ragged_tuple(given):
        given = dict(zip(given._fields, given, strict=True))
    if isinstance(given, Mapping):
        targets = [name for name in given if str(name).lower() in TARGET_NAMES]
        if len(targets) != 1 or len(given) == 1:
            return given, None, "inputs", ""
        inputs = {name: value for name, value in given.items() if name != targets[0]}
        return inputs, given[targets[0]], "dict", str(targets[0])
    if isinstance(given, (tuple, list)) and not _is_ragged_tuple(given) and not _is_plain_list(given):
        if len(given) == 1:
            return given[0], None, "inputs", ""
        if len(given) == 2:
            return given[0], given[1], "pair", ""
        if len(given) == 3 and _rank(given[2]) == 1 and _rank(given[1]) > 1 and _rank(given[0]) == _rank(given[1]):
            return tuple(given[:2]), given[2], "pair", ""  # ids, mask, labels
        return given[0], given[1], "pair and more", ""
    return given, None, "inputs", ""


def _is_ragged_tuple(given: Any) -> bool:
    return getattr(given, "_fields", None) in (("values", "offsets"), ("values", "places"))


def _is_plain_list(given: Any) -> bool:
    return isinstance(given, list) and (not given or isinstance(given[0], (str, bytes, int, float)))


def _rank(value: Any) -> int:
    shape = getattr(value, "shape", None)
    return len(shape) if shape is not None and not isinstance(value, Mapping) else -1


def _named(value: Any) -> dict[str, Values]:
    """Return the columns of inputs or target by name."""
    if isinstance(value, PackedColumn):
        return {name: np.asarray(value[name]) for name in value.names}
    if isinstance(value, Mapping):
        found: dict[str, Values] = {}
        for name, entry in value.items():
            for below, column in _named(entry).items():
                found[f"{name}.{below}" if below else str(name)] = column
        return found
    if isinstance(value, (tuple, list)) and not _is_ragged_tuple(value) and _holds_arrays(value):
        return {str(place): column for place, entry in enumerate(value) for column in _named(entry).values()}
    return {"": _values(value)}


def _holds_arrays(value: Sequence[Any]) -> bool:
    """Whether a list is several inputs, rather than the rows of one: its entries have a shape with rows."""
    if isinstance(value, tuple):
        return True
    return bool(value) and all(_rank(entry) >= 1 for entry in value) and framework_of(value[0]) != "numpy"


def _values(value: Any) -> Values:  # noqa: PLR0911 - one branch for each kind of tensor
    framework = framework_of(value)
    if isinstance(value, np.ma.MaskedArray):
        return value.filled(np.nan) if value.dtype.kind == "f" else value.filled(0)
    if framework == "tensorflow":
        return _from_tensorflow(value)
    if framework == "torch":
        return _from_torch(value)
    if isinstance(value, ByteColumn):
        return _texts(value.to_list())
    if isinstance(value, SparseColumn):
        return np.asarray(value.to_dense()) if hasattr(value, "to_dense") else [np.asarray(row.values) for row in value]
    if isinstance(value, (Ragged, ShapedColumn)):
        rows = [np.asarray([] if row is None else row) for row in value]
        return _stacked(rows)
    if _is_ragged_tuple(value) and hasattr(value, "offsets"):
        offsets = np.asarray(_values(value.offsets))
        flat = np.asarray(_values(value.values))
        return [flat[start:stop] for start, stop in pairwise(offsets.tolist())]
    if isinstance(value, list) and value and isinstance(value[0], (str, bytes)):
        return _texts(value)
    if isinstance(value, list) and value and _rank(value[0]) >= 0:
        return _stacked([np.asarray(_values(row)) for row in value])
    if isinstance(value, (str, bytes)):
        return np.asarray(value, dtype=object)
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "US" else array


def _from_tensorflow(value: Any) -> Values:
    kind = type(value).__name__
    if kind == "SparseTensor":
        value = sys.modules["tensorflow"].sparse.to_dense(value)
    elif kind.startswith("RaggedTensor"):
        return [np.asarray(_values(row)) for row in value]
    array = np.asarray(value.numpy())
    return array.astype(object) if array.dtype.kind in "SU" else array


def _from_torch(value: Any) -> Values:
    if getattr(value, "is_nested", False):
        return [np.asarray(_values(row)) for row in value.unbind()]
    if getattr(value, "is_sparse", False):
        value = value.to_dense()
    value = value.detach().cpu()
    if str(value.dtype) == "torch.bfloat16":
        value = value.float()
    return np.asarray(value.numpy())


def _texts(values: Sequence[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _stacked(rows: list[npt.NDArray[Any]]) -> Values:
    return np.stack(rows) if rows and len({row.shape for row in rows}) == 1 else rows


def _is_scalar(column: Values) -> bool:
    return isinstance(column, np.ndarray) and column.ndim == 0


def _as_row(column: Values) -> Values:
    return column[np.newaxis] if isinstance(column, np.ndarray) else [np.asarray(column, dtype=object)]
