"""Converts the Arrow columns of a chunk to the columns of a schema: labels to numbers, image paths to bytes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.audio import AudioError, check_audio
from recordsmith.errors import RecordsmithError, advise, did_you_mean, import_extra, list_names
from recordsmith.formats.source import Loaded, Places, Reject
from recordsmith.formats.tables.columns import int64_array, is_image_struct
from recordsmith.formats.tables.exact_numbers import exact_decimals
from recordsmith.formats.tables.times import iso_text, time_numbers
from recordsmith.images import ImageError, Preparation
from recordsmith.schema import Audio, Bytes, Feature, Image, Label, Scalar, Schema, Tensor, Text
from recordsmith.storage.atomic_file import is_url
from recordsmith.storage.objects import child_url
from recordsmith.storage.ranged.opening import is_ranged, open_object
from recordsmith.storage.ranged.requests import RemoteReadError

__all__ = ["KeptRows", "LoadingRules", "load_columns", "shortened", "string_array", "taken"]

_SHOWN = 200  # characters of a value that a reject keeps
_HINTS = 20  # values for which the nearest class is searched for, which takes a while if there are many


@dataclass(frozen=True, slots=True)
class LoadingRules:
    """What is done with the columns of a chunk, the same for all chunks of a source.

    Attributes:
        schema: what the rows are to become.
        preparation: what is done to images.
        missing: strings that stand for no value, where the feature is not Text.
        strip: white space around the names of classes is not part of them.
        times: the unit of columns of times that are to be numbers.
    """

    schema: Schema
    preparation: Preparation = field(default_factory=Preparation)
    missing: tuple[str, ...] = ()
    strip: bool = False
    times: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.preparation != Preparation() and not any(isinstance(f, Image) for f in self.schema.values()):
            raise RecordsmithError(
                "Images cannot be resized or converted, because no column contains images.",
                found=f"the columns {list_names(list(self.schema), 16)}",
                advice=advise(
                    "Name the columns that contain images or their paths with {images}, or leave out {size}, "
                    "{channels}, {encoding} and {quality}.",
                    images=("images='path'", "--images COLUMN"),
                    size=("size", "--resize"),
                    channels=...,
                    encoding=("image_encoding", "--encoding"),
                    quality=...,
                ),
            )


@dataclass(frozen=True, slots=True)
class KeptRows:
    """The places of the rows that are left after some were taken out."""

    places: Places
    kept: npt.NDArray[np.int64]

    def of(self, row: int) -> str:
        """Say where a row came from."""
        return self.places.of(int(self.kept[row]))


Bad = dict[int, tuple[str, str, Any]]
"""The rejected rows: the feature, the reason, and the value."""


def load_columns(
    columns: Mapping[str, Any],
    rows: int,
    rules: LoadingRules,
    *,
    folder: str,
    places: Places,
    bad: Bad | None = None,
    rejects: Sequence[Reject] = (),
) -> Loaded:
    """Return Arrow columns as a chunk's rows, without those that are bad already or turn out to be.

    >>> import pyarrow
    >>> class Numbered:
    ...     def of(self, row): return f"row {row}"
    >>> rules = LoadingRules(Schema({"label": Label(["cat", "dog"])}))
    >>> found = load_columns({"label": pyarrow.array(["dog", "cow"])}, 2, rules, folder=".", places=Numbered())
    >>> found.columns["label"].to_pylist(), found.rejects[0].source, found.rejects[0].reason
    ([1], 'row 1', "'cow' is not one of the 2 classes. They are 'cat', 'dog'.")
    """
    bad = {} if bad is None else bad
    ready: dict[str, Any] = {}
    for name, feature in rules.schema.items():
        if name in columns:

            def refuse(row: int, reason: str, value: Any, name: str = name) -> None:
                bad.setdefault(row, (name, reason, value))

            try:
                ready[name] = _column(columns[name], feature, rules, rules.times.get(name), folder, refuse)
            except RecordsmithError as error:
                raise error.at(feature=name) from None
    found = list(rejects)
    for row, (feature_name, reason, value) in sorted(bad.items()):
        found.append(Reject(places.of(row), None, feature_name, reason, shortened(value)))
    if not bad:
        return Loaded(ready, rows, places, found)
    kept = np.setdiff1d(np.arange(rows), np.fromiter(bad, np.int64, len(bad)))
    return Loaded(
        {name: taken(column, kept) for name, column in ready.items()}, len(kept), KeptRows(places, kept), found
    )


def shortened(value: Any) -> str | None:
    """Show a value in the length that a reject keeps.

    >>> shortened("abc"), shortened(None), len(shortened("x" * 500))
    ('abc', None, 200)
    """
    if value is None:
        return None
    text = value if isinstance(value, str) else repr(value[: _SHOWN + 1] if isinstance(value, bytes) else value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def string_array(words: Sequence[str]) -> Any:
    """Return words as an Arrow array. `pyarrow.array` would do, but imports pandas, which takes longer than a load."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    encoded = [word.encode() for word in words]
    offsets = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    return arrow.StringArray.from_buffers(len(encoded), arrow.py_buffer(offsets), arrow.py_buffer(b"".join(encoded)))


def taken(column: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return some rows of a column."""
    if isinstance(column, list):
        return [column[row] for row in rows.tolist()]
    if hasattr(column, "take") and not isinstance(column, np.ndarray):
        return column.take(int64_array(rows))
    return column[rows]


Refuse = Callable[[int, str, Any], None]


def _column(array: Any, feature: Feature, rules: LoadingRules, unit: str | None, folder: str, refuse: Refuse) -> Any:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    if isinstance(array, list):  # numbers that Arrow has no type for
        return array
    if isinstance(array, arrow.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    types = arrow.types
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    text = types.is_string(array.type) or types.is_large_string(array.type)
    if isinstance(feature, Image):
        return _encoded(array, feature, rules.preparation.prepare, folder, refuse)
    if isinstance(feature, Audio):
        return _encoded(array, feature, _whole_sound, folder, refuse)
    if text and rules.strip and isinstance(feature, Label):
        array = _stripped_words(array)
    missing = rules.missing or (("",) if isinstance(feature, Label) else ())  # an empty text is no class
    if text and missing and (feature.optional or not isinstance(feature, Text)):
        array = _without_missing(array, missing)
    if isinstance(feature, Label):
        return _class_numbers(array, feature, refuse)
    if types.is_list(array.type) and types.is_null(array.type.value_type):
        array = array.cast(arrow.list_(arrow.string() if isinstance(feature, (Text, Bytes)) else arrow.int64()))
    if unit is not None and (text or types.is_temporal(array.type)):
        return time_numbers(array, unit, refuse)
    if isinstance(feature, Scalar) and types.is_temporal(array.type):
        return time_numbers(array, getattr(array.type, "unit", "s"), refuse)
    if types.is_temporal(array.type) or (isinstance(feature, Text) and not text and not feature.shape):
        return _as_text(array)
    if isinstance(feature, (Scalar, Tensor)) and types.is_decimal(_inner_type(array.type, types)):
        return exact_decimals(array, feature.dtype)
    return array


def _inner_type(kind: Any, types: Any) -> Any:
    """Return the type of the values in a column, or in its lists."""
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
    return kind


def _stripped_words(array: Any) -> Any:
    """Cut off white space as Python does, once for each different word."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    encoded = array.dictionary_encode()
    words = string_array([word.strip() for word in encoded.dictionary.to_pylist()])
    return arrow.DictionaryArray.from_arrays(encoded.indices, words).dictionary_decode()


def _without_missing(array: Any, missing: tuple[str, ...]) -> Any:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading tables")
    gone = compute.is_in(array, value_set=string_array(missing).cast(array.type))
    return compute.if_else(gone, arrow.nulls(1, array.type)[0], array)


def _as_text(array: Any) -> Any:
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    types = arrow.types
    if types.is_binary(array.type) or types.is_list(array.type) or types.is_null(array.type):
        return array  # the schema takes it, or says what is wrong with it
    return iso_text(array)


def _class_numbers(array: Any, feature: Label, refuse: Refuse) -> Any:
    """Return the numbers of classes that are given by name or number; those that are no class are refused."""
    arrow = import_extra("pyarrow", "arrow", purpose="Reading tables")
    compute = import_extra("pyarrow.compute", "arrow", purpose="Reading tables")
    if arrow.types.is_null(array.type):
        return array.cast(arrow.int64())
    if arrow.types.is_integer(array.type) and not numbers_are_names(feature):
        inside = compute.and_(compute.greater_equal(array, 0), compute.less(array, feature.size))
        numbers = compute.if_else(inside, array, arrow.nulls(1, array.type)[0]).cast(arrow.int64())
    else:
        words = array.cast(arrow.string())
        numbers = compute.index_in(words, value_set=string_array(feature.names)).cast(arrow.int64())
        if numbers.null_count > array.null_count and not numbers_are_names(feature):
            by_number = string_array([str(number) for number in range(feature.size)])
            numbers = compute.coalesce(numbers, compute.index_in(words, value_set=by_number).cast(arrow.int64()))
    if numbers.null_count == array.null_count:
        return numbers
    unknown = compute.and_(compute.is_null(numbers), compute.is_valid(array)).to_numpy(zero_copy_only=False)
    reasons: dict[Any, str] = {}
    for row in np.flatnonzero(unknown).tolist():
        value = array[row].as_py()
        if value not in reasons:
            near = did_you_mean(str(value), feature.names) if len(reasons) < _HINTS else ""
            known = near or (f" They are {list_names(feature.names)}." if feature.size <= 8 else "")
            reasons[value] = f"{shortened(repr(value))} is not one of the {feature.size} classes.{known}"
        refuse(row, reasons[value], str(value))
    return numbers


def numbers_are_names(feature: Label) -> bool:
    """Say whether a class is named by a number that is not its own, such as -1 and 1: numbers are then names.

    >>> numbers_are_names(Label(["-1", "1"])), numbers_are_names(Label(["no", "yes"])), numbers_are_names(Label(2))
    (True, False, False)
    """
    own = tuple(map(str, range(feature.size)))
    return feature.names != own and all(re.fullmatch("-?[0-9]+", name) for name in feature.names)


def _encoded(
    array: Any, feature: Image | Audio, prepare: Callable[[bytes], bytes], folder: str, refuse: Refuse
) -> list[bytes | None]:
    """Return images or sounds, read from the files that are named or taken as they are, prepared for storing."""
    found: list[bytes | None] = []
    for row, given in enumerate(array.to_pylist()):
        value = given
        if is_image_struct(array.type) and value is not None:
            value = value["path"] if value["bytes"] is None else value["bytes"]
        stored = None
        if value is None or value == "":
            if not feature.optional:
                refuse(row, f"The {feature.medium} is missing.", None)
        else:
            try:
                data = value if isinstance(value, bytes) else _file_bytes(folder, value)
                stored = prepare(data)
            except RemoteReadError:
                raise  # it says nothing about the row
            except (ImageError, AudioError) as error:
                refuse(row, str(error), value)
            except OSError as error:
                refuse(row, f"The {feature.medium} file cannot be read: {error.strerror}.", value)
        found.append(stored)
    return found


def _whole_sound(data: bytes) -> bytes:
    check_audio(data)
    return data


def _file_bytes(folder: str, name: str) -> bytes:
    """Read a file that a table names; a table that is a file itself names none outside of its folder."""
    if not is_ranged(folder):
        path = os.path.join(folder, name)
        if folder and not os.path.abspath(path).startswith(os.path.join(os.path.abspath(folder), "")):
            raise FileNotFoundError(2, "It is not in the folder of the table", name)
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would be waited for, and a device has no end
            raise FileNotFoundError(2, "It is not a regular file", name)
        with open(path, "rb") as file:
            return file.read()
    if name.startswith("/") or ".." in name.split("/") or is_url(name):  # a remote table names no files of this machine
        raise FileNotFoundError(2, "It is not in the folder of the table", name)
    remote = open_object(child_url(folder, name))
    return remote.read(0, remote.size)
