"""Infers the feature of a column of an Arrow table.

int, bool of any width     Scalar, in an int64 list
float, decimal             Scalar("float32"), or "float64" where a float32 would not do; see `floats`
string; date, time         Text; dates and times in ISO form, or int64 of a unit that was asked for
duration                   Scalar("int64") in the unit of the column, which the description names
binary                     Bytes
lists of these             Tensor, Text or Bytes of shape (n,), or (None,) where the length varies
struct                     its fields, named with "/"; a list of structs: lists of its fields
struct of bytes and path   Image, as Hugging Face stores it
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recordsmith.columns.arrow_extensions import without_extension
from recordsmith.errors import RecordsmithError, SchemaError, did_you_mean, import_extra
from recordsmith.formats.tables.options import TableOptions, feature_for_word
from recordsmith.formats.tables.times import UNITS, time_feature
from recordsmith.schema import Audio, Bytes, Feature, Label, Scalar, Schema, Tensor, Text

__all__ = [
    "ColumnFacts",
    "facts_of",
    "flattened",
    "is_image_struct",
    "is_wide",
    "label_feature",
    "merged",
    "named_facts",
    "schema_of",
    "stripped",
]

MOST_CLASSES = 65_536
EXACT_IN_FLOAT32 = 2.0**24  # from here on a float32 cannot represent every integer
_WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What is known of a column after a look at all of it.

    Attributes:
        type: its Arrow type.
        missing: some rows have no value.
        lengths: of lists, the shortest and the longest at each level of nesting.
        large: it has finite values of 2**24 or more.
        classes: of a label, the values that occur.
        numbers: of cells of text, how many are numbers.
        others: how many are not.
        beyond: how many of the numbers are whole and do not fit 64 bits.
        rounded: how many of them are whole and would be rounded as float64.
    """

    type: Any
    missing: bool = False
    lengths: tuple[tuple[int, int], ...] = ()
    large: bool = False
    classes: frozenset[str] = frozenset()
    numbers: int = 0
    others: int = 0
    beyond: int = 0
    rounded: int = 0


def facts_of(array: Any, *, label: bool = False) -> ColumnFacts:
    """Look at a column; at the values that occur, if it is the label.

    >>> import pyarrow
    >>> facts = facts_of(pyarrow.array(["a", None, "a"]), label=True)
    >>> facts.missing, sorted(facts.classes)
    (True, ['a'])
    """
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading tables")
    types = arrow.types
    if label and types.is_nested(array.type):
        raise SchemaError("A label must be one value per row.", found=str(array.type))
    classes = frozenset(_words(compute.unique(array))) if label else frozenset()
    if len(classes) > MOST_CLASSES:
        raise too_many_classes()
    lengths = []
    kind, missing = array.type, array.null_count > 0
    if is_image_struct(kind):
        gaps = [compute.is_null(compute.struct_field(array, field)) for field in ("bytes", "path")]
        missing = bool(compute.any(compute.and_(*gaps), min_count=0).as_py())
    while types.is_list(array.type) or types.is_large_list(array.type) or types.is_fixed_size_list(array.type):
        extremes = compute.min_max(compute.list_value_length(array))
        least, most = extremes["min"].as_py(), extremes["max"].as_py()
        lengths.append((0 if least is None else least, 0 if most is None else most))
        array = compute.list_flatten(array)
    large = bool((types.is_integer(array.type) or is_wide(array.type)) and _largest(array) >= EXACT_IN_FLOAT32)
    return ColumnFacts(kind, missing, tuple(lengths), large, classes)


def named_facts(name: str, array: Any, options: TableOptions) -> ColumnFacts:
    """Look at a column; what is wrong with it is said with its name."""
    try:
        return facts_of(array, label=options.is_label(name))
    except RecordsmithError as error:
        raise error.at(feature=name) from None


def merged(first: ColumnFacts, second: ColumnFacts, common: Any) -> ColumnFacts:
    """Put together what two parts of a column show; `common` is the type that holds both.

    >>> import pyarrow
    >>> one, two = facts_of(pyarrow.array([[1]])), facts_of(pyarrow.array([[1, 2]]))
    >>> merged(one, two, one.type).lengths
    ((1, 2),)
    """
    if len(first.lengths) == len(second.lengths):
        pairs = zip(first.lengths, second.lengths, strict=True)
        lengths = tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in pairs)
    else:
        lengths = max(first.lengths, second.lengths, key=len)
    classes = first.classes | second.classes
    if len(classes) > MOST_CLASSES:
        raise too_many_classes()
    return ColumnFacts(
        common,
        first.missing or second.missing,
        lengths,
        first.large or second.large,
        classes,
        first.numbers + second.numbers,
        first.others + second.others,
        first.beyond + second.beyond,
        first.rounded + second.rounded,
    )


def schema_of(columns: Mapping[str, ColumnFacts], options: TableOptions) -> Schema:
    """Return the schema of the columns: what was declared, and for the rest what the data show.

    >>> import pyarrow
    >>> schema_of({"x": facts_of(pyarrow.array([1.5])), "n": facts_of(pyarrow.array([1, None]))}, TableOptions())
    Schema({
        'x': Scalar('float32'),
        'n': Scalar('int64', optional=True),
    })
    """
    if options.schema is not None:
        return options.schema
    features = {}
    for name, facts in columns.items():
        try:
            features[name] = options.declared(name) or _feature(facts, options, options.hint(name))
        except RecordsmithError as error:
            raise error.at(feature=name) from None
    return Schema(features)


def label_feature(classes: Iterable[str], *, optional: bool) -> Label:
    """Return the Label of the values that occur.

    Whole numbers from 0 keep their numbers. Everything else gets numbers in the order of the sorted names (of their
    values, where they are whole numbers).

    >>> label_feature({"dog", "cat"}, optional=False)
    Label(['cat', 'dog'])
    >>> label_feature({"0", "3"}, optional=False)
    Label(4)
    >>> label_feature({"-1", "1"}, optional=False)
    Label(['-1', '1'])
    """
    values = list(classes)
    if values and all(_WHOLE_NUMBER.fullmatch(value) for value in values):
        numbers = sorted(int(value) for value in values)
        if numbers[0] >= 0 and numbers[-1] < MOST_CLASSES:
            return Label(numbers[-1] + 1, optional=optional)
        return Label([str(number) for number in numbers], optional=optional)
    if not values:
        raise SchemaError("The label has no value in any row.", advice="Choose another column as the label.")
    return Label(sorted(values), optional=optional)


def stripped(classes: Iterable[str]) -> frozenset[str]:
    """Return the names of classes without white space around them.

    >>> sorted(stripped({"cat", "cat ", "dog"}))
    ['cat', 'dog']
    """
    return frozenset(name.strip() for name in classes)


def is_image_struct(kind: Any) -> bool:
    """Say whether an Arrow type is the struct in which Hugging Face keeps an image.

    >>> import pyarrow
    >>> is_image_struct(pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())]))
    True
    """
    types = import_extra("pyarrow", "arrow", purpose="Reading tables").types
    if not types.is_struct(kind) or {field.name for field in kind} != {"bytes", "path"}:
        return False
    inner = kind.field("bytes").type
    return bool(types.is_binary(inner) or types.is_large_binary(inner))


def flattened(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns without structs: their fields stand by themselves, named with "/".

    >>> import pyarrow
    >>> list(flattened({"a": pyarrow.array([{"x": 1, "y": {"z": 2}}])}))
    ['a/x', 'a/y/z']
    """
    found: dict[str, Any] = {}
    for name, array in columns.items():
        for inner_name, inner in _leaves(name, array):
            if inner_name in found:
                raise RecordsmithError(
                    f"Two columns are named {inner_name!r} after nested columns are flattened.",
                    advice="Rename one of them.",
                )
            found[inner_name] = inner
    return found


def int64_array(values: Any) -> Any:
    """Return int64 values as an Arrow array. `pyarrow.array` would do, but imports pandas, which takes a while."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    numbers = np.ascontiguousarray(values, np.int64)
    return arrow.Int64Array.from_buffers(arrow.int64(), len(numbers), [None, arrow.py_buffer(numbers)])


def too_many_classes() -> RecordsmithError:
    """Return the error for a label that looks like no label."""
    return RecordsmithError(
        "The label has too many different values.",
        expected=f"at most {MOST_CLASSES} classes",
        advice="Choose the column that contains the class, not a name or an id of each row.",
    )


def _leaves(name: str, array: Any) -> Iterable[tuple[str, Any]]:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if isinstance(array, arrow.ChunkedArray):
        array = array.combine_chunks()
        array = array if isinstance(array, arrow.Array) else array.chunk(0)
    array = without_extension(array)
    kind, types = array.type, arrow.types
    if types.is_struct(kind) and not is_image_struct(kind):
        for field, inner in zip(kind, array.flatten(), strict=True):
            yield from _leaves(f"{name}/{field.name}", inner)
    elif (types.is_list(kind) or types.is_large_list(kind)) and types.is_struct(kind.value_type):
        lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.zeros(len(array) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        mask = array.is_null() if array.null_count else None
        for inner_name, inner in _leaves(name, array.flatten()):
            large = arrow.large_list(inner.type)
            yield inner_name, arrow.LargeListArray.from_arrays(int64_array(offsets), inner, type=large, mask=mask)
    else:
        yield name, array


def _feature(facts: ColumnFacts, options: TableOptions, hint: str | None) -> Feature:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    types = arrow.types
    if hint == "audio":
        return Audio(optional=facts.missing)
    if hint == "image" or is_image_struct(facts.type):
        return options.image_feature(optional=facts.missing)
    kind = facts.type.value_type if types.is_dictionary(facts.type) else facts.type
    if hint == "label":
        if types.is_floating(kind):
            return _numbers(kind, replace(facts, lengths=()), options)
        classes = stripped(facts.classes) if options.strip else facts.classes
        # An empty text is no class: such a row has no label.
        return label_feature(classes - {""}, optional=facts.missing or "" in classes)
    if hint in UNITS or (types.is_duration(kind) and hint is None):
        return _times(kind, hint or kind.unit, optional=facts.missing)
    if hint in ("float32", "float64", "int64", "text", "bytes") and not facts.lengths:
        return feature_for_word(hint, optional=facts.missing)
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind):
        if hint in ("text", "bytes"):
            raise SchemaError(f"Lists of numbers cannot be {hint}.", found=str(facts.type))
        if hint is not None:
            return number_feature(np.dtype(hint), _shape(facts), optional=facts.missing)
        return _numbers(kind, facts, options)
    shape = _shape(facts)
    if len(shape) > 1:
        raise SchemaError("Lists of lists of strings cannot be stored in a TFRecord.", found=str(facts.type))
    if _is_text(kind, types) or _is_bytes(kind, types):
        return (Text if _is_text(kind, types) else Bytes)(shape, optional=facts.missing)
    raise SchemaError(
        "This type of column cannot be stored in a TFRecord.",
        found=f"Arrow type {facts.type}",
        advice="Leave it out, or convert it to numbers, strings or lists first."
        + did_you_mean(str(kind), ("string", "int64", "double")),
    )


def _times(kind: Any, unit: str, *, optional: bool) -> Feature:
    types = import_extra("pyarrow", "arrow", purpose="Reading tables").types
    if not (types.is_temporal(kind) or types.is_string(kind) or types.is_null(kind)):
        raise SchemaError(
            "This column does not hold times.", found=str(kind), expected="dates, times, durations or ISO text"
        )
    return time_feature(kind, unit, optional=optional)


def _is_bytes(kind: Any, types: Any) -> bool:
    fixed = types.is_fixed_size_binary(kind)
    return bool(fixed or types.is_binary(kind) or types.is_large_binary(kind) or str(kind) == "binary_view")


def _is_text(kind: Any, types: Any) -> bool:
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or str(kind) == "string_view"
        or types.is_temporal(kind)
        or types.is_null(kind)
    )


def _shape(facts: ColumnFacts) -> tuple[int | None, ...]:
    return tuple(least if least == most and least > 0 else None for least, most in facts.lengths)


def _numbers(kind: Any, facts: ColumnFacts, options: TableOptions) -> Feature:
    shape = _shape(facts)
    if is_wide(kind):
        dtype = np.dtype(
            "float32" if options.floats == "auto" and not facts.large else options.floats.replace("auto", "float64")
        )
    else:
        dtype = np.dtype(kind.to_pandas_dtype())
    return number_feature(dtype, shape, optional=facts.missing)


def number_feature(dtype: np.dtype[Any], shape: tuple[int | None, ...], *, optional: bool = False) -> Feature:
    """Return the feature of numbers of a dtype: in lists, which every reader knows, except for arrays of bytes.

    >>> number_feature(np.dtype("int32"), ()), number_feature(np.dtype("uint8"), (28, 28))
    (Scalar('int32', storage='list'), Tensor('uint8', (28, 28)))
    """
    compact = dtype.name in ("float64", "uint64", "complex64", "complex128") or (
        shape and dtype.itemsize == 1 and dtype.kind != "b"
    )
    storage: Any = None if compact or dtype.name in ("float32", "int64") else "list"
    if shape:
        return Tensor(dtype, shape, storage=storage, optional=optional)
    return Scalar(dtype, storage=storage, optional=optional)


def is_wide(kind: Any) -> bool:
    """Say whether the numbers of an Arrow type become float32 or float64, as their size demands.

    >>> import pyarrow
    >>> is_wide(pyarrow.decimal128(20, 2)), is_wide(pyarrow.float64()), is_wide(pyarrow.float32())
    (True, True, False)
    """
    types = import_extra("pyarrow", "arrow", purpose="Reading tables").types
    return bool(types.is_decimal(kind) or types.is_float64(kind))


def _largest(array: Any) -> float:
    """Return the largest finite magnitude."""
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading tables")
    extremes = compute.min_max(array)
    largest = max(abs(extremes[side].as_py() or 0) for side in ("min", "max"))
    if largest == np.inf:
        return _largest(compute.filter(array, compute.is_finite(array)))
    return float(largest)


def _words(values: Any) -> list[str]:
    """Return the values of a label as text, as a CSV would have them; missing ones left out."""
    found = [value for value in values.to_pylist() if value is not None]
    words = []
    for value in found:
        if isinstance(value, bytes):
            try:
                words.append(value.decode())
            except UnicodeDecodeError:
                continue  # its rows are refused when they are loaded
        else:
            words.append(str(value).lower() if isinstance(value, bool) else str(value))
    return words
