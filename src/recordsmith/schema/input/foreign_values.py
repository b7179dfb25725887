"""Converts single values of other libraries: tensors to numpy arrays, Arrow scalars to plain Python values.

No library is imported here: a value can only come from one that the caller has imported already.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import EncodeError
from recordsmith.schema.input.foreign import comes_from

__all__ = ["plain_inside", "plain_value", "plain_values"]

_KNOWN_MODULES = frozenset({"builtins", "numpy", "recordsmith", "datetime", "decimal", "pathlib", "PIL"})


def plain_values(values: list[Any], kinds: set[type]) -> list[Any]:
    """Replace what other libraries made in a list whose types are known; the list itself if there is nothing of it."""
    if all(kind.__module__.partition(".")[0] in _KNOWN_MODULES for kind in kinds):
        return values
    plain = []
    for row, value in enumerate(values):
        try:
            plain.append(plain_value(value))
        except EncodeError as error:
            raise error.at(row=row) from None
    return plain


def plain_value(value: Any) -> Any:
    """Return a tensor as a numpy array (a ragged one as a Ragged), an Arrow scalar as Python's, all else as it is.

    >>> import pyarrow
    >>> plain_value(pyarrow.scalar(3)), plain_value("a")
    (3, 'a')
    """
    package = type(value).__module__.partition(".")[0]
    if package in _KNOWN_MODULES:
        return value
    if package == "pyarrow" and hasattr(value, "as_py"):
        return value.as_py()
    if package == "tensorflow" and hasattr(value, "row_splits"):
        return _ragged(value)
    if hasattr(value, "__array__"):
        return _array(value)
    return value


def plain_inside(value: Any) -> Any:
    """Replace what other libraries made in lists within lists, which numpy does not look into for each of them.

    >>> plain_inside([[1, 2], (3, 4)])
    [[1, 2], [3, 4]]
    """
    return [plain_inside(entry) for entry in value] if isinstance(value, (list, tuple)) else plain_value(value)


def _array(value: Any) -> Any:
    try:
        if comes_from(value, "torch") or hasattr(value, "requires_grad"):
            value = value.detach().cpu().resolve_conj().resolve_neg()
            if str(value.dtype) == "torch.bfloat16":  # numpy has none; float32 holds all of its values
                value = value.float()
            return value.numpy()
        return np.asarray(value)
    except Exception as error:  # noqa: BLE001 - whatever the other library raises, it has no values to give
        name = type(value).__name__
        raise EncodeError(
            f"The values of a {name} cannot be read.",
            found=f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}",
            expected="values in memory",
            advice="Convert it to a numpy array first. Symbolic tensors have no values until they are run.",
        ) from None


def _ragged(value: Any) -> Ragged:
    values = value.values
    inner: Any = _ragged(values) if hasattr(values, "row_splits") else _array(values)
    if isinstance(inner, np.ndarray) and inner.dtype.kind == "O":
        strings = inner.reshape(-1).tolist()
        lengths = [len(string) for string in strings]
        inner = ByteColumn(np.frombuffer(b"".join(strings), np.uint8), offsets_of(lengths))
    return Ragged(inner, _array(value.row_splits))
