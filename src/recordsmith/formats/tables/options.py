"""The options about columns that all kinds of tables share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np

from recordsmith.errors import RecordsmithError, SchemaError, did_you_mean, list_names
from recordsmith.formats.images.options import preparation_of
from recordsmith.formats.tables.times import UNITS
from recordsmith.images import Preparation
from recordsmith.schema import Bytes, Feature, Image, Label, Scalar, Schema, Text

__all__ = ["ColumnOptions", "TableOptions", "column_options", "names_of", "table_options"]

_FLOATS = ("auto", "float32", "float64")
_WORDS = ("text", "bytes", "label", "image", *UNITS)


class ColumnOptions(TypedDict, total=False):
    """What may be said about the columns of any table.

    Attributes:
        label: the column with the class.
        text: columns to store as text. Numbers are converted to text.
        images: columns with images, or with the paths of images.
        columns: use only these columns; write nested ones with "/".
        types: the types of columns, by name: a feature, a dtype, "text", "label" or "image"; or, to store times as
            numbers, their unit: "s", "ms", "us" or "ns".
        schema: the features. Other columns are left out.
        floats: the dtype that float64 is stored as: "float32", "float64", or "auto": float32, unless a value is at
            least 2**24.
        size: resize images to this height and width.
        channels: convert images to this number of channels: 1, 3 or 4.
        image_encoding: convert images to this format: jpeg, png, webp or bmp.
        quality: the quality of converted JPEG and WebP images.
        strip: remove white space around class names, so that "cat" and "cat " are the same class.
    """

    label: str | None
    text: str | Iterable[str]
    images: str | Iterable[str] | None
    columns: str | Iterable[str] | None
    types: Mapping[str, Any] | None
    schema: Schema | None
    floats: str
    size: Sequence[int] | None
    channels: int | None
    image_encoding: str | None
    quality: int
    strip: bool


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What the caller said about the columns.

    Attributes:
        label: the column with the class or target.
        text: columns that are text whatever they look like.
        images: columns that hold the paths of images, relative to the table's file, or images.
        columns: the only columns to take; empty: all.
        types: features, or words for them, by column.
        schema: the features. Other columns are left out.
        floats: what floats of 64 bits are stored as: "float32", "float64", or "auto".
        preparation: what is done to the images.
        strip: white space around the names of classes is not part of them.
    """

    label: str | None = None
    text: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    types: Mapping[str, Feature | str] = field(default_factory=dict)
    schema: Schema | None = None
    floats: str = "auto"
    preparation: Preparation = field(default_factory=Preparation)
    strip: bool = False

    def declared(self, name: str) -> Feature | None:
        """Return the feature that was declared for a column, if one was."""
        if self.schema is not None:
            return self.schema.get(name)
        feature = self.types.get(name)
        return feature if isinstance(feature, Feature) else None

    def hint(self, name: str) -> str | None:
        """Return the word that was said about a column: "text", "bytes", "label", "image", a unit, or a dtype."""
        said = self.types.get(name)
        if isinstance(said, str):
            return said
        if name in self.text:
            return "text"
        if name in self.images:
            return "image"
        return "label" if name == self.label else None

    def times(self) -> dict[str, str]:
        """Return the units of the columns that are to be numbers of times.

        >>> TableOptions(types={"when": "us", "n": "int64"}).times()
        {'when': 'us'}
        """
        return {name: kind for name, kind in self.types.items() if isinstance(kind, str) and kind in UNITS}

    def is_label(self, name: str) -> bool:
        """Say whether the classes of a column are inferred from its values."""
        return self.declared(name) is None and self.hint(name) == "label"

    def wanted(self, existing: Sequence[str], path: str) -> list[str]:
        """Return the columns to take, or raise for one that was named and is not there.

        >>> TableOptions(columns=("b",), label="c").wanted(["a", "b", "c"], "data.csv")
        ['b', 'c']
        """
        required = () if self.schema is None else [name for name in self.schema if not self.schema[name].optional]
        label = () if self.label is None else (self.label,)
        for name in (*required, *label, *self.text, *self.images, *self.columns, *self.types):
            if name not in existing:
                raise RecordsmithError(
                    f"There is no column {name!r}.{did_you_mean(name, existing)}",
                    path=path,
                    found=f"the columns {list_names(existing, 16)}",
                )
        if self.schema is not None:
            return [name for name in self.schema if name in existing]
        named = {*self.columns, *self.text, *self.images, *label}
        return [name for name in existing if not self.columns or name in named]

    def label_name(self) -> str | None:
        """Return the column of the label: the one named, or the only Label that was declared."""
        if self.label is not None:
            return self.label
        declared = self.types if self.schema is None else self.schema
        labels = [name for name, feature in declared.items() if isinstance(feature, Label) or feature == "label"]
        return labels[0] if len(labels) == 1 else None

    def image_feature(self, *, optional: bool) -> Image:
        """Return the feature of a column of images, as far as known from their preparation."""
        asked = self.preparation
        height, width = asked.size or (None, None)
        channels = 3 if asked.channels is None else asked.channels
        return Image(height, width, channels=channels, encoding=asked.encoding, optional=optional)

    def describe(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, JSON-ready.

        >>> TableOptions(label="y", types={"x": Scalar("int8")}).describe()
        {'label': 'y', 'types': {'x': {'type': 'scalar', 'dtype': 'int8'}}}
        """
        said: dict[str, Any] = {
            "label": self.label,
            "text": list(self.text),
            "images": list(self.images),
            "columns": list(self.columns),
            "types": {name: kind if isinstance(kind, str) else kind.to_json() for name, kind in self.types.items()},
            "schema": None if self.schema is None else self.schema.to_json(),
            "floats": None if self.floats == "auto" else self.floats,
            "strip": self.strip or None,
        }
        for name in ("size", "channels", "encoding", "quality", "orient"):
            value = getattr(self.preparation, name)
            if value != getattr(Preparation(), name):
                said[name] = list(value) if isinstance(value, tuple) else value
        return {name: value for name, value in said.items() if value not in (None, [], {})}


def table_options(  # noqa: PLR0913 - each is an option of its own, named by the caller
    *,
    label: str | None,
    text: str | Iterable[str] = (),
    images: str | Iterable[str] | None = None,
    columns: str | Iterable[str] | None = None,
    types: Mapping[str, Any] | None,
    schema: Schema | None,
    floats: str,
    preparation: Preparation | None = None,
    strip: bool = False,
) -> TableOptions:
    """Check what the caller said, and put it into one form."""
    if floats not in _FLOATS:
        raise RecordsmithError(
            f"floats cannot be {floats!r}.{did_you_mean(str(floats), _FLOATS)}", expected=list_names(_FLOATS)
        )
    if schema is not None and types:
        raise SchemaError("Pass either a schema or types, not both.")
    return TableOptions(
        label,
        names_of(text),
        names_of(images),
        names_of(columns),
        {name: _checked_type(name, kind) for name, kind in (types or {}).items()},
        schema,
        floats,
        preparation or Preparation(),
        strip,
    )


def column_options(given: ColumnOptions) -> TableOptions:
    """Check what the caller said about columns, and put it into one form.

    >>> column_options({"label": "y"}).label
    'y'
    >>> column_options({"lable": "y"})
    Traceback (most recent call last):
    TypeError: There is no option 'lable'. Did you mean 'label'?
    """
    known = ColumnOptions.__annotations__
    for name in given:
        if name not in known:
            raise TypeError(f"There is no option {name!r}.{did_you_mean(name, known)}")
    return table_options(
        label=given.get("label"),
        text=given.get("text", ()),
        images=given.get("images"),
        columns=given.get("columns"),
        types=given.get("types"),
        schema=given.get("schema"),
        floats=given.get("floats", "auto"),
        preparation=preparation_of(
            size=given.get("size"),
            channels=given.get("channels"),
            encoding=given.get("image_encoding"),
            quality=given.get("quality", 95),
        ),
        strip=given.get("strip", False),
    )


def names_of(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return one name, several, or none as a tuple.

    >>> names_of("a"), names_of(["a", "b"]), names_of(None)
    (('a',), ('a', 'b'), ())
    """
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def _checked_type(name: str, kind: Any) -> Feature | str:
    if isinstance(kind, Feature):
        return kind
    if isinstance(kind, str) and kind in _WORDS:
        return kind
    try:
        dtype = np.dtype(kind)
        if dtype.name in ("float32", "float64", "int64"):
            return str(dtype.name)
        return Scalar(dtype, storage=None if dtype.kind == "c" or dtype.name == "uint64" else "list")
    except (TypeError, SchemaError):
        raise SchemaError(
            f"Unknown column type {kind!r}.{did_you_mean(str(kind), (*_WORDS, 'int64', 'float32', 'bool'))}",
            feature=name,
            expected=f"a feature such as rs.Text(), a dtype such as 'float32', or {', '.join(_WORDS)}",
        ) from None


def feature_for_word(word: str, *, optional: bool) -> Feature:
    """Return the feature that a word other than "label" and "image" stands for."""
    if word == "text":
        return Text(optional=optional)
    return Bytes(optional=optional) if word == "bytes" else Scalar(np.dtype(word), optional=optional)
