"""Single payloads: tf.train.Example and tf.train.SequenceExample to plain Python values and back, without protobuf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    set is absent, as in protobuf. Bytes that protobuf would refuse are a CorruptRecordError.

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
    and shape. None is left out. Features are written in the order of their names, so the same content gives the same bytes.

    >>> encode_example({"label": 3}).hex()
    '0a100a0e0a056c6162656c12051a030a0103'
    """
    return _core.encode_example(_present(mapping), _canonical)


def encode_sequence_example(
    context: Mapping[str, Any], feature_lists: Mapping[str, Sequence[Any]] | None = None
) -> bytes:
    """Encode a context, and feature lists with one entry per step, as a tf.train.SequenceExample.

    Values follow the rules of `encode_example`; None among the steps is a step without a value.

    >>> len(encode_sequence_example({}, {"frames": [b"first", b"second"]}))
    37
    """
    lists = {} if feature_lists is None else {name: list(steps) for name, steps in feature_lists.items()}
    return _core.encode_sequence_example(_present(context), lists, _canonical)


def _payload(data: bytes | bytearray | memoryview) -> bytes:
    # A copy of anything that may change: the core relies on bytes staying what it checked.
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"a payload must be bytes, not {type(data).__name__}")


def _present(mapping: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(mapping, Mapping):
        raise EncodeError("An Example is made from a mapping of names to values.", found=type(mapping).__name__)
    return {name: value for name, value in mapping.items() if value is not None}


def _canonical(name: str, value: Any) -> npt.NDArray[Any] | list[bytes]:
    """Turn a value that the core does not take as it is into a flat float32 or int64 array, or a list of bytes."""
    if isinstance(value, (bytearray, memoryview)):
        return [bytes(value)]
    if isinstance(value, str):
        return [_text(name, value)]
    try:
        array = np.asarray(value)
    except ValueError as error:  # nested lists of different lengths
        raise _refused(name, value, f"lists of different lengths cannot be flattened: {error}") from None
    flat = array.reshape(-1)
    if not flat.size and not isinstance(value, np.ndarray):
        raise EncodeError(
            "An empty list does not say which kind of list it is.",
            feature=name,
            found=repr(value),
            advice="Leave the feature out, give an empty array of a dtype such as np.empty(0, np.int64), "
            "or declare a Schema.",
        )
    match array.dtype.kind:
        case "b" | "i":
            return np.ascontiguousarray(flat, np.int64)
        case "u":
            if flat.size and int(flat.max()) > np.iinfo(np.int64).max:
                raise _refused(name, value, "the number is above the largest int64, 2**63 - 1")
            return np.ascontiguousarray(flat, np.int64)
        case "f":
            return _float32(name, value, flat)
        case "S" | "U" | "O":
            return _strings(name, value, flat)
        case _:
            raise _refused(name, value, f"an Example cannot hold {array.dtype}")


def _float32(name: str, value: Any, flat: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(flat, np.float32)
    if (np.isinf(narrow) & ~np.isinf(flat)).any():
        raise _refused(name, value, "the number is too large for float32, which is all that an Example holds")
    return narrow


def _strings(name: str, value: Any, flat: npt.NDArray[Any]) -> list[bytes]:
    if flat.dtype.kind == "S" and isinstance(value, np.ndarray):
        return [bytes(item) for item in flat]
    # numpy strips NULs from the end of strings and turns mixed lists into strings: go by the original items.
    items: list[Any] = flat.tolist() if isinstance(value, np.ndarray) else _flattened(value)
    strings = []
    for item in items:
        if isinstance(item, str):
            strings.append(_text(name, item))
        elif isinstance(item, (bytes, bytearray, memoryview)):
            strings.append(bytes(item))
        elif isinstance(item, int) and all(isinstance(other, int) for other in items):
            raise _refused(name, value, "the number is outside int64, -2**63 to 2**63 - 1")
        else:
            raise _refused(name, value, f"it holds a {type(item).__name__}")
    return strings


def _flattened(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [inner for item in value for inner in _flattened(item)]
    if isinstance(value, np.ndarray):
        return list(value.reshape(-1).tolist())
    return [value]


def _text(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _refused(name, text, "the text has a lone surrogate, which UTF-8 cannot hold") from None


def _refused(name: str, value: Any, reason: str) -> EncodeError:
    return EncodeError(
        f"The value cannot be stored in an Example: {reason}.",
        feature=name,
        found=f"{type(value).__name__} {value!r}",
        expected="an int, float, str or bytes, or a list or an array of one of them",
        advice="Convert the value first, or declare a Schema, which has more types.",
    )
