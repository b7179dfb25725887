"""Arrow's extension types: tensors of one shape written as such, and all of them read as what they are made of.

    arrow.fixed_shape_tensor    lists in lists of fixed sizes, and back
    arrow.bool8                 bools
    arrow.uuid, arrow.json      bytes, text

An array of another extension type, known to pyarrow or not, is read as its storage.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

__all__ = ["tensor_array", "tensor_type", "without_extension"]


def tensor_type(kind: Any) -> Any:
    """Return the type of tensors for lists in lists of fixed sizes; None if they hold something else than numbers.

    >>> import pyarrow
    >>> tensor_type(pyarrow.list_(pyarrow.list_(pyarrow.float32(), 3), 2)).shape
    [2, 3]
    """
    arrow = sys.modules["pyarrow"]
    shape = []
    while arrow.types.is_fixed_size_list(kind):
        shape.append(kind.list_size)
        kind = kind.value_type
    if not shape or not all(shape) or not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        return None
    return arrow.fixed_shape_tensor(kind, shape)


def tensor_array(array: Any, kind: Any) -> Any:
    """Return lists in lists of fixed sizes as an array of a `tensor_type`."""
    arrow = sys.modules["pyarrow"]
    missing = array.is_null() if array.null_count else None
    for _ in kind.shape:
        array = _values(array)
    storage = arrow.FixedSizeListArray.from_arrays(array, math.prod(kind.shape), mask=missing)
    return arrow.ExtensionArray.from_storage(kind, storage.cast(kind.storage_type))


def without_extension(array: Any) -> Any:
    """Return an array of an extension type as an array of plain types; any other array as it is.

    >>> import numpy, pyarrow
    >>> without_extension(pyarrow.FixedShapeTensorArray.from_numpy_ndarray(numpy.ones((1, 2, 1)))).to_pylist()
    [[[1.0], [1.0]]]
    """
    arrow = sys.modules["pyarrow"]
    if not isinstance(array, arrow.ExtensionArray):
        return array
    name = array.type.extension_name
    if name == "arrow.fixed_shape_tensor":
        return _nested_lists(array, arrow)
    if name == "arrow.bool8":
        return array.storage.cast(arrow.bool_())
    return array.storage


def _nested_lists(array: Any, arrow: Any) -> Any:
    shape, permutation = list(array.type.shape), array.type.permutation
    missing = array.is_null() if array.null_count else None
    values = _values(array.storage)
    if permutation is not None and list(permutation) != sorted(permutation):  # the bytes are in another order
        stored = np.asarray(values).reshape(len(array), *shape)
        turned = stored.transpose(0, *(axis + 1 for axis in permutation))
        shape = list(turned.shape[1:])
        values = arrow.array(np.ascontiguousarray(turned).ravel())
    for size in reversed(shape[1:]):
        values = arrow.FixedSizeListArray.from_arrays(values, size)
    return arrow.FixedSizeListArray.from_arrays(values, shape[0], mask=missing)


def _values(lists: Any) -> Any:
    """Return the values of lists of a fixed size, also those below a null."""
    size = lists.type.list_size
    return lists.values.slice(lists.offset * size, len(lists) * size)
