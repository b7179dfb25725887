"""Converts tf.train.Example and tf.train.SequenceExample to plain Python values and back, without protobuf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import EncodeError

__all__ = ["decode_example", "decode_sequence_example", "encode_example", "encode_sequence_example"]

Values: TypeAlias = "npt.NDArray[np.float32] | npt.NDArray[np.int64] | list[bytes]"


def decode_example(data: bytes | bytearray | memoryview) -> dict[str, Values]:
    """Decode a serialized tf.train.Example.

    Every feature is a float32 array, an int64 array or a list of bytes, as it is stored. A feature whose kind is not
    set is absent, as in protobuf. Bytes that protobuf cannot parse raise a CorruptRecordError.

    >>> decode_example(encode_example({"label": 3, "name": "cat"}))
    {'label': array([3]), 'name': [b'cat']}
    """
    return _core.decode_example(_payload(data))


def decode_sequence_example(
    data: bytes | bytearray | memoryview,
) -> tuple[dict[str, Values], dict[str, list[Values | None]]]:
    """Decode a serialized tf.train.SequenceExample into its context and its feature lists.

    A feature list is one entry per step; a step whose kind is not set is None.

    >>> decode_sequence_example(encode_sequence_example({"id": 7}, {"tokens": [[1, 2], [3]]}))
    ({'id': array([7])}, {'tokens': [array([1, 2]), array([3])]})
    """
    return _core.decode_sequence_example(_payload(data))


def encode_example(mapping: Mapping[str, Any]) -> bytes:
    """Encode a mapping of names to values as a tf.train.Example.

    Without a schema the type of each value decides: integers and bools become an int64 list, floats a float list, str
    (as UTF-8) and bytes a bytes list. Lists, tuples and arrays of any shape are flattened; use a Schema to keep dtype
    and shape. None is left out. Features are written in the order of their names, so equal content gives equal bytes.

    >>> encode_example({"label": 3}).hex()
    '0a100a0e0a056c6162656c12051a030a0103'
    """
    return _core.encode_example(_present(mapping), _canonical)


def encode_sequence_example(
    context: Mapping[str, Any], feature_lists: Mapping[str, Sequence[Any]] | None = None
) -> bytes:
    """Encode a context, and feature lists with one entry per step, as a tf.train.SequenceExample.

    Values are encoded as by `encode_example`; None is a step without a value.

    >>> payload = encode_sequence_example({"id": 7}, {"frames": [b"first", b"second"]})
    >>> context, feature_lists = decode_sequence_example(payload)
    >>> feature_lists["frames"]
    [[b'first'], [b'second']]
    """
    lists = {name: _steps(name, steps) for name, steps in (feature_lists or {}).items()}
    return _core.encode_sequence_example(_present(context), lists, _canonical)


def _steps(name: str, steps: Any) -> list[Any]:
    if isinstance(steps, (str, bytes)) or not isinstance(steps, Iterable):
        raise EncodeError(
            "A feature list needs one entry for each step.",
            feature=name,
            found=f"{type(steps).__name__} {steps!r}",
            expected="a list with the values of each step",
        )
    return list(steps)


def _payload(data: bytes | bytearray | memoryview) -> bytes:
    # A copy of anything that may change: the core relies on bytes staying what it checked.
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"a payload must be bytes, not {type(data).__name__}")


def _present(mapping: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(mapping, Mapping):
        raise EncodeError("An Example needs a mapping of names to values.", found=type(mapping).__name__)
    return {name: value for name, value in mapping.items() if value is not None}


def _canonical(name: str, value: Any) -> npt.NDArray[Any] | list[bytes]:
    """Turn a value that the core does not take as it is into a flat float32 or int64 array, or a list of bytes."""
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return [_string(name, value)]
    if isinstance(value, (int, float)):
        return _from_items(name, value, [value])
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise _refused(name, value, "it has masked values, which cannot be stored")
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
        if not _is_rectangular(value):
            raise _refused(name, value, "lists of different lengths cannot be flattened")
        return _from_items(name, value, _flattened(value))
    return _from_array(name, value, np.asarray(value).reshape(-1))


def _from_array(name: str, value: Any, flat: npt.NDArray[Any]) -> npt.NDArray[Any] | list[bytes]:
    match flat.dtype.kind:
        case "b" | "i":
            return np.ascontiguousarray(flat, np.int64)
        case "u":
            if flat.size and int(flat.max()) > _INT64.max:
                raise _refused(name, value, "the number is above the largest int64, 2**63 - 1")
            return np.ascontiguousarray(flat, np.int64)
        case "f":
            return _float32(name, value, flat)
        case "S" | "U":
            return [_string(name, item) for item in flat.tolist()]
        case "O":  # anything that numpy can only hold as it is
            raise _refused(name, value, f"it has the type {type(value).__name__}")
        case _:
            raise _refused(name, value, f"an Example cannot hold {flat.dtype}")


def _from_items(name: str, value: Any, items: list[Any]) -> npt.NDArray[Any] | list[bytes]:
    if not items:
        raise EncodeError(
            "The type of an empty list cannot be inferred.",
            feature=name,
            found=repr(value),
            advice="Leave the feature out, give an empty array with a dtype, such as np.empty(0, np.int64) or, for "
            "strings, np.empty(0, 'S1'), or declare a Schema.",
        )
    for kind in (_WHOLE, _NUMBERS, _STRINGS):
        if isinstance(items[0], kind):
            misfit = next((item for item in items if not isinstance(item, _NUMBERS if kind is _WHOLE else kind)), None)
            if misfit is not None or any(item is None for item in items):
                raise _refused(name, value, f"it also contains a value of type {type(misfit).__name__}")
            break
    else:
        raise _refused(name, value, f"it contains a value of type {type(items[0]).__name__}")
    if kind is _STRINGS:
        return [_string(name, item) for item in items]
    if all(isinstance(item, _WHOLE) for item in items):
        whole = [int(item) for item in items]
        if min(whole) < _INT64.min or max(whole) > _INT64.max:
            raise _refused(name, value, "the number is outside int64, -2**63 to 2**63 - 1")
        return np.array(whole, np.int64)
    try:
        wide = np.array([float(item) for item in items])
    except OverflowError:
        raise _refused(name, value, "the number is too large for a float") from None
    return _float32(name, value, wide)


def _float32(name: str, value: Any, flat: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(flat, np.float32)
    if (np.isinf(narrow) & ~np.isinf(flat)).any():
        raise _refused(name, value, "the number is too large for float32, the only float type of an Example")
    return narrow


_INT64 = np.iinfo(np.int64)
_WHOLE = (int, np.integer, np.bool_)
_NUMBERS = (int, float, np.integer, np.floating, np.bool_)
_STRINGS = (str, bytes, bytearray, memoryview)


def _is_rectangular(value: Any) -> bool:
    if not isinstance(value, (list, tuple)) or not any(isinstance(item, (list, tuple, np.ndarray)) for item in value):
        return True
    if not all(isinstance(item, (list, tuple, np.ndarray)) for item in value):
        return False
    return len({len(item) for item in value}) == 1 and all(_is_rectangular(item) for item in value)


def _flattened(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [inner for item in value for inner in _flattened(item)]
    if isinstance(value, np.ndarray):
        return list(value.reshape(-1).tolist())
    return [value]


def _string(name: str, string: Any) -> bytes:
    if not isinstance(string, str):
        return bytes(string)
    try:
        return string.encode()
    except UnicodeEncodeError:
        raise _refused(name, string, "the string has a lone surrogate, which UTF-8 cannot encode") from None


def _refused(name: str, value: Any, reason: str) -> EncodeError:
    return EncodeError(
        f"The value cannot be stored in an Example: {reason}.",
        feature=name,
        found=f"{type(value).__name__} {value!r}",
        expected="an int, float, str or bytes, or a list or an array of one of them",
        advice="Convert the value first, or use a Schema, which supports more types.",
    )
