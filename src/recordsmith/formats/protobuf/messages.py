"""The fields of protobuf messages as columns.

double, float, int32, uint64, bool ...   Scalar of that dtype; Tensor of shape (None,) if repeated
string, bytes                            Text, Bytes
enum                                     Label, if its numbers are 0 to n - 1; else Scalar("int64")
message                                  its fields, named with "/"
repeated message, map                    lists of its fields; lists in lists are Sequences
a message inside of itself               Bytes: the serialized message
an extension                             the same, named as in [pkg.name]

A field that knows whether it was set, and was not, is absent. So are the fields of a message that was not set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recordsmith.columns.offset_column import offsets_of
from recordsmith.errors import RecordsmithError, SchemaError, SchemaMismatchError, import_extra
from recordsmith.formats.protobuf.descriptors import message_class
from recordsmith.schema import Bytes, Feature, Label, Scalar, Schema, Sequence, Tensor, Text

__all__ = ["ProtobufMessages"]

_MOST_COLUMNS = 10_000
# The numbers of FieldDescriptor's types.
_DTYPES: dict[int, Any] = {
    **dict.fromkeys((1,), "float64"),
    **dict.fromkeys((2,), "float32"),
    **dict.fromkeys((3, 16, 18), "int64"),
    **dict.fromkeys((4, 6), "uint64"),
    **dict.fromkeys((5, 15, 17), "int32"),
    **dict.fromkeys((7, 13), "uint32"),
    8: "bool",
    14: "int64",
}
_TEXT, _BYTES, _ENUM = 9, 12, 14


@dataclass(frozen=True, slots=True)
class _Column:
    """A field, with the fields on the way to it."""

    name: str
    feature: Feature
    path: tuple[Any, ...]
    serialized: bool = False

    @property
    def levels(self) -> int:
        return sum(map(_is_repeated, self.path))


class ProtobufMessages:
    """Decodes records that are messages of one type.

    Args:
        descriptor: the file that `protoc --include_imports --descriptor_set_out` wrote.
        message: the full name of the message type.
    """

    def __init__(self, descriptor: str | os.PathLike[str], message: str) -> None:
        self._path = os.fspath(descriptor)
        self._message = message
        with open(self._path, "rb") as file:
            self._content = file.read((64 << 20) + 1)
        _ = self.schema  # what is wrong with the file is said at once

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("_path", "_message", "_content")}

    @cached_property
    def _class(self) -> Any:
        return message_class(self._content, self._message, self._path)

    @cached_property
    def _columns(self) -> dict[str, _Column]:
        found: dict[str, _Column] = {}
        for column in _columns_of(self._class.DESCRIPTOR, (), ()):
            found[column.name] = column
            if len(found) > _MOST_COLUMNS:
                raise SchemaError(
                    f"The message type has more than {_MOST_COLUMNS:,} fields.", path=self._path, found=self._message
                )
        if not found:
            raise SchemaError("The message type has no fields.", path=self._path, found=self._message)
        return found

    @cached_property
    def schema(self) -> Schema:
        """What the columns are."""
        return Schema({name: column.feature for name, column in self._columns.items()})

    def columns(self, payloads: list[bytes], schema: Schema) -> dict[str, Any]:
        """Decode some records to the columns of a part of the schema."""
        wanted = [self._columns[name] for name in schema]
        values: dict[str, list[Any]] = {name: [] for name in schema}
        failure = import_extra("google.protobuf.message", "protobuf").DecodeError
        for number, payload in enumerate(payloads):
            try:
                message = self._class.FromString(payload)
            except failure as error:
                raise self._not_one(number, f"protobuf says: {str(error)[:200]}") from None
            if payload and not message.ListFields():
                raise self._not_one(number, "none of its fields is in the record")
            for column in wanted:
                values[column.name].append(_value(message, column.path, column))
        try:
            _, parts = schema.columns_to_parts(values)
        except RecordsmithError as error:
            error.record, error.row = error.row, None
            raise
        return schema.assemble([(*_plain(part[0], part[1]), part[2], None) for part in parts])

    def _not_one(self, number: int, found: str) -> SchemaMismatchError:
        return SchemaMismatchError(
            f"The record is not a message of the type {self._message!r}.",
            record=number,
            found=found,
            advice="Name the type that the records were written with.",
        )


def _plain(values: Any, offsets: Any) -> tuple[Any, Any]:
    """Return stored values as the core gives them: strings one after the other, with offsets."""
    if isinstance(values, list):
        return np.frombuffer(b"".join(values), np.uint8), offsets_of([len(one) for one in values])
    return values, offsets


def _columns_of(kind: Any, path: tuple[Any, ...], inside: tuple[str, ...]) -> Iterable[_Column]:
    extensions = sorted(kind.file.pool.FindAllExtensions(kind), key=lambda field: field.number)
    for field in (*kind.fields, *extensions):
        here = (*path, field)
        name = "/".join(map(_name, here))
        inner = field.message_type
        if inner is None:
            yield _Column(name, _feature(field, here), here)
        elif inner.full_name in (*inside, kind.full_name):
            words = f"a serialized {inner.full_name}"
            yield _Column(name, _nested(Bytes, here, words), here, serialized=True)
        else:
            yield from _columns_of(inner, here, (*inside, kind.full_name))


def _name(field: Any) -> str:
    """Return the name of a field; that of an extension as protobuf's text format has it, such as [pkg.color]."""
    return f"[{field.full_name}]" if field.is_extension else str(field.name)


def _content(message: Any, field: Any) -> Any:
    return message.Extensions[field] if field.is_extension else getattr(message, field.name)


def _is_set(message: Any, field: Any) -> bool:
    return bool(message.HasExtension(field) if field.is_extension else message.HasField(field.name))


def _is_repeated(field: Any) -> bool:
    repeated = getattr(field, "is_repeated", None)  # newer versions warn of `label`
    return bool(repeated) if repeated is not None else field.label == field.LABEL_REPEATED


def _is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _may_be_absent(path: tuple[Any, ...]) -> bool:
    """Say whether a single value may be absent: it knows whether it was set, or a message around it does."""
    required = 2  # LABEL_REQUIRED
    return any(field.has_presence and not getattr(field, "is_required", _label(field) == required) for field in path)


def _label(field: Any) -> int:
    return int(field.label) if not hasattr(field, "is_required") else 0


def _feature(field: Any, path: tuple[Any, ...]) -> Feature:
    if field.type == _TEXT:
        return _nested(Text, path, "")
    if field.type == _BYTES:
        return _nested(Bytes, path, "")
    if field.type == _ENUM:
        values = sorted((value.number, value.name) for value in field.enum_type.values)
        numbers = [number for number, _ in values]
        if numbers == list(range(len(numbers))) and not any(map(_is_repeated, path)):
            return Label([name for _, name in values], optional=_may_be_absent(path))
        words = ", ".join(f"{number} {name}" for number, name in values)
        return _nested(None, path, words[:500], "int64")
    return _nested(None, path, "", _DTYPES[field.type])


def _nested(strings: Callable[..., Feature] | None, path: tuple[Any, ...], words: str, dtype: str = "") -> Feature:
    """Return the feature of a value with as many lists around it as there are repeated fields on the way to it."""
    levels = sum(map(_is_repeated, path))
    # Lists of int64 and float32 are what an Example has; a float64 or uint64 would not fit there.
    storage = {} if dtype in ("", "float64", "uint64", "float32", "int64") else {"storage": "list"}
    said: dict[str, Any] = {"description": words} if words else {}
    if levels == 0:
        said["optional"] = _may_be_absent(path)
    if levels == 1:
        return strings((None,), **said) if strings else Tensor(dtype, (None,), **storage, **said)  # type: ignore[arg-type]
    found = strings(**({} if levels else said)) if strings else Scalar(dtype, **storage, **({} if levels else said))  # type: ignore[arg-type]
    for level in range(levels):
        found = Sequence(found, **(said if level == levels - 1 else {}))
    return found


def _value(message: Any, path: tuple[Any, ...], column: _Column) -> Any:
    """Return the value of a field: None if it is absent, a list of values for each repeated field on the way."""
    field, rest = path[0], path[1:]
    if _is_repeated(field):
        found = _content(message, field)
        if _is_map(field):  # in no order of its own
            keys = sorted(found)
            if rest[0].name == "key":
                return list(keys)
            entries = [found[key] for key in keys]
            return [_value(entry, rest[1:], column) for entry in entries] if len(rest) > 1 else entries
        if rest:
            return [_value(entry, rest, column) for entry in found]
        return [entry.SerializeToString(deterministic=True) for entry in found] if column.serialized else list(found)
    if column.levels == 0 and field.has_presence and not _is_set(message, field):
        return None
    found = _content(message, field)
    if rest:
        return _value(found, rest, column)
    return found.SerializeToString(deterministic=True) if column.serialized else found
