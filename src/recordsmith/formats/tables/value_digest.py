"""A digest of the values of Arrow arrays. Unused memory, such as that of nulls, does not change it."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordsmith.errors import import_extra

__all__ = ["add_values"]


def add_values(array: Any, digest: Any) -> None:
    """Add the values of an array to a digest of hashlib.

    The memory of an array cannot be used: the bytes of nulls, and those after the last value, are undefined.

    >>> import hashlib, pyarrow
    >>> digests = [hashlib.blake2b() for _ in range(2)]
    >>> add_values(pyarrow.array([1, None, 3]), digests[0]), add_values(pyarrow.array([0, 1, None, 3])[1:], digests[1])
    (None, None)
    >>> digests[0].digest() == digests[1].digest()
    True
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    types, kind = arrow.types, array.type
    digest.update(f"{kind} {len(array)}".encode())
    digest.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)))
    values = array.drop_null()
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        digest.update(np.ascontiguousarray(values.to_numpy(zero_copy_only=False)))
    elif types.is_string(kind) or types.is_binary(kind) or types.is_large_string(kind) or types.is_large_binary(kind):
        plain = values.cast(arrow.large_binary())
        offsets = np.frombuffer(plain.buffers()[1], np.int64, len(plain) + 1, plain.offset * 8)
        digest.update(np.diff(offsets))
        data = plain.buffers()[2]
        if data is not None:
            digest.update(memoryview(data)[int(offsets[0]) : int(offsets[-1])])
    else:
        for value in values.to_pylist():
            digest.update(repr(value).encode())
