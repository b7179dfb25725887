"""Nested Arrow types: one that holds the rows of two, and the columns at the bottom of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordsmith.errors import import_extra
from recordsmith.making.sources.table_columns import is_image_struct

__all__ = ["MisfitError", "fitted", "leaf_names", "plain_type", "united_type"]


class MisfitError(ValueError):
    """A Python value that does not fit an Arrow type, and where in the row it stands.

    >>> MisfitError("a/b", "int64", "x").reason
    'The value is not int64, which it is in other rows.'
    """

    def __init__(self, name: str, kind: Any, value: Any) -> None:
        super().__init__(name)
        self.name = name
        self.reason = f"The value is not {kind}, which it is in other rows."
        self.value = value


def plain_type(kind: Any) -> Any:
    """Return a type with dates and times as the text they were.

    >>> import pyarrow
    >>> plain_type(pyarrow.list_(pyarrow.timestamp("s")))
    ListType(list<item: string>)
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if arrow.types.is_struct(kind):
        return arrow.struct([(field.name, plain_type(field.type)) for field in kind])
    if arrow.types.is_list(kind):
        return arrow.list_(plain_type(kind.value_type))
    return arrow.string() if arrow.types.is_temporal(kind) else kind


def united_type(first: Any, second: Any) -> Any:
    """Return the type that holds the values of two; where none does, the first: values of the second are misfits.

    >>> import pyarrow
    >>> united_type(pyarrow.int64(), pyarrow.float64()), united_type(pyarrow.int64(), pyarrow.string())
    (DataType(double), DataType(int64))
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    types = arrow.types
    if first == second or types.is_null(second):
        return first
    if types.is_null(first):
        return second
    if types.is_struct(first) and types.is_struct(second):
        fields = {field.name: field.type for field in first}
        for field in second:
            fields[field.name] = united_type(fields[field.name], field.type) if field.name in fields else field.type
        return arrow.struct(list(fields.items()))
    if types.is_list(first) and types.is_list(second):
        return arrow.list_(united_type(first.value_type, second.value_type))
    if {str(first), str(second)} == {"int64", "double"}:
        return arrow.float64()
    return first


def leaf_names(name: str, kind: Any) -> Iterator[str]:
    """Give the names of the columns that a column becomes once structs are taken apart.

    >>> import pyarrow
    >>> list(leaf_names("a", pyarrow.struct([("x", pyarrow.int64()), ("y", pyarrow.string())])))
    ['a/x', 'a/y']
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    types = arrow.types
    if (types.is_list(kind) or types.is_large_list(kind)) and types.is_struct(kind.value_type):
        kind = kind.value_type
        for field in kind:
            yield from leaf_names(f"{name}/{field.name}", field.type)
    elif types.is_struct(kind) and not is_image_struct(kind):
        for field in kind:
            yield from leaf_names(f"{name}/{field.name}", field.type)
    else:
        yield name


def fitted(value: Any, kind: Any, name: str = "") -> Any:
    """Return a value as read from JSON in the form in which Arrow takes it for a type, or raise a MisfitError.

    >>> import pyarrow
    >>> fitted({"a": 1, "b": [2]}, pyarrow.struct([("b", pyarrow.list_(pyarrow.float64()))]))
    {'b': [2.0]}
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    types = arrow.types
    if value is None:
        return None
    if types.is_struct(kind) and isinstance(value, dict):
        inner = f"{name}/" if name else ""
        return {field.name: fitted(value.get(field.name), field.type, inner + field.name) for field in kind}
    if types.is_list(kind) and isinstance(value, list):
        return [fitted(entry, kind.value_type, name) for entry in value]
    if types.is_float64(kind) and isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise MisfitError(name, kind, value) from None
    if types.is_int64(kind) and isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    if (types.is_string(kind) and isinstance(value, str) and _is_whole(value)) or (
        types.is_boolean(kind) and isinstance(value, bool)
    ):
        return value
    raise MisfitError(name, kind, value)


def _is_whole(text: str) -> bool:
    """Say whether a text has no half of a surrogate pair, which JSON can write and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
