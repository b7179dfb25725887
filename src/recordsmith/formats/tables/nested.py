"""Nested Arrow types: finding a common type of two, and the leaf columns of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from recordsmith.errors import import_extra
from recordsmith.formats.tables.columns import ColumnFacts, is_image_struct, merged
from recordsmith.formats.tables.exact_numbers import held_by_float

__all__ = [
    "MisfitError",
    "facts_over_all",
    "fitted",
    "is_unicode",
    "leaf_names",
    "plain_type",
    "type_of_values",
    "united_type",
    "value_at",
]

_KINDS = {
    "int64": "a 64-bit integer",
    "double": "a number",
    "string": "a string",
    "bool": "true or false",
    "binary": "bytes",
    "timestamp": "a date and time",
    "date32": "a date",
    "time64": "a time of day",
    "duration": "a duration",
    "struct": "an object",
    "list": "a list",
}


_HELD_BY_ALL = 2048  # every float dtype has the whole numbers up to here


class MisfitError(ValueError):
    """A Python value that does not fit an Arrow type, and where in the row it stands."""

    def __init__(self, name: str, kind: Any, value: Any) -> None:
        super().__init__(name)
        self.name = name
        self.reason = _reason(kind, value)
        self.value = value


def _reason(kind: Any, value: Any) -> str:
    if isinstance(value, str) and str(kind) == "string":
        return "The text has half of a surrogate pair, so it is not Unicode."
    if str(kind) == "double" and isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return "The number does not fit in a float64, as the numbers in other rows do."
    word = re.split(r"\W", str(kind))[0]
    return f"The value is not {_KINDS.get(word, kind)}, as in other rows."


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


def type_of_values(values: Iterable[Any]) -> Any:
    """Return the type that holds values as read from JSON; where none does, that of the first counts.

    >>> type_of_values([{"a": 1}, {"a": 0.5, "b": ["x"]}])
    StructType(struct<a: double, b: list<item: string>>)
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    found: list[Any] = [value for value in values if value is not None]
    if not found:
        return arrow.null()
    if isinstance(found[0], dict):
        by_name: dict[str, list[Any]] = {}
        for value in found:
            for name, inner in value.items() if isinstance(value, dict) else ():
                by_name.setdefault(name, []).append(inner)
        return arrow.struct([(name, type_of_values(inner)) for name, inner in by_name.items()])
    if isinstance(found[0], list):
        return arrow.list_(type_of_values(entry for value in found if isinstance(value, list) for entry in value))
    if isinstance(found[0], bool):
        return arrow.bool_()
    if isinstance(found[0], str):
        return arrow.string()
    return arrow.float64() if any(map(_is_fraction, found)) else arrow.int64()


def fitted(value: Any, kind: Any, name: str = "", exact: set[str] | None = None) -> Any:
    """Return a value as read from JSON in the form in which Arrow takes it for a type, or raise a MisfitError.

    A number that a float may not hold is noted in `exact` by its name, and the nearest float takes its place. Where
    that cannot be, it is a misfit if a float64 does not hold it.

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
        return {field.name: fitted(value.get(field.name), field.type, inner + field.name, exact) for field in kind}
    if types.is_list(kind) and isinstance(value, list):
        # Lists of objects are taken apart: there is no single value to which the name would lead.
        inside = None if types.is_struct(kind.value_type) else exact
        return [fitted(entry, kind.value_type, name, inside) for entry in value]
    if types.is_float64(kind) and isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        if isinstance(value, float) or -_HELD_BY_ALL <= value <= _HELD_BY_ALL:
            return float(value)
        if exact is not None:
            exact.add(name)
        elif isinstance(value, Decimal) or not held_by_float(value):
            raise MisfitError(name, kind, value)
        return _nearest_float(value)
    if types.is_int64(kind) and isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    if (types.is_string(kind) and isinstance(value, str) and is_unicode(value)) or (
        types.is_boolean(kind) and isinstance(value, bool)
    ):
        return value
    raise MisfitError(name, kind, value)


def value_at(row: Any, name: str) -> Any:
    """Return the value to which a name leads in nested objects; None if there is none.

    >>> value_at({"a": {"b": 1}}, "a/b"), value_at({"a": None}, "a/b")
    (1, None)
    """
    if not isinstance(row, dict):
        return None
    if name in row:
        return row[name]
    for key in row:  # which may have a "/" of its own
        if name.startswith(f"{key}/") and (found := value_at(row[key], name[len(key) + 1 :])) is not None:
            return found
    return None


def _is_fraction(value: Any) -> bool:
    """Say whether a number is written with a point or an exponent."""
    return isinstance(value, float) or (isinstance(value, Decimal) and value.as_tuple().exponent != 0)


def _nearest_float(value: int | Decimal) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def is_unicode(text: str) -> bool:
    r"""Say whether a text has no half of a surrogate pair, which JSON can write and UTF-8 cannot.

    >>> is_unicode("né"), is_unicode("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def facts_over_all(name: str, kind: Any, seen: Iterable[tuple[int, dict[str, ColumnFacts]]]) -> ColumnFacts:
    """Put together what all parts of a table show of a column; a part that lacks it has no value in any row.

    Args:
        name: the column.
        kind: the type that holds the values of all parts.
        seen: of each part, how many rows it has, and what is known of its columns.
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    known: ColumnFacts | None = None
    plain = plain_type(kind)
    for rows, facts in seen:
        if not rows:
            continue
        found = facts.get(name, ColumnFacts(arrow.null(), missing=True))
        if united_type(plain, plain_type(found.type)) != plain or found.lengths[_depth(kind) :]:
            continue  # of another kind than elsewhere: its rows are refused
        if arrow.types.is_null(found.type) and known is not None:
            known = merged(known, ColumnFacts(kind, True, known.lengths), kind)
        elif known is None or arrow.types.is_null(known.type):
            missing = found.missing or known is not None
            known = ColumnFacts(found.type, missing, found.lengths, found.large, found.classes)
        else:
            known = merged(known, found, kind)
    if known is None:
        return ColumnFacts(kind, missing=True)
    return ColumnFacts(kind, known.missing, known.lengths, known.large, known.classes)


def _depth(kind: Any) -> int:
    """Return how many lists a type has within each other."""
    types = import_extra("pyarrow", "arrow", purpose="Reading tables").types
    depth = 0
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        depth, kind = depth + 1, kind.value_type
    return depth
