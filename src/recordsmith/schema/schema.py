"""Schema: declares what is in a record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recordsmith.errors import EncodeError, RecordsmithError, SchemaError, did_you_mean, list_names
from recordsmith.schema.features.audio import Audio
from recordsmith.schema.features.detection.geometry import Boxes, Points
from recordsmith.schema.features.detection.labels import Labels
from recordsmith.schema.features.detection.mask import Mask, Masks
from recordsmith.schema.features.feature import Feature
from recordsmith.schema.features.image import Image
from recordsmith.schema.features.label import Label
from recordsmith.schema.features.packed import Packed
from recordsmith.schema.features.sequence import Sequence as SequenceFeature
from recordsmith.schema.features.sparse import Sparse
from recordsmith.schema.features.steps import Steps
from recordsmith.schema.features.strings import Bytes, Text
from recordsmith.schema.features.tensor import Scalar, Tensor
from recordsmith.schema.input.foreign import named_columns
from recordsmith.schema.notebook import schema_html
from recordsmith.storage.atomic_file import rewrite_text
from recordsmith.storage.json_descriptions import read_json
from recordsmith.wording.visible_text import json_text

if TYPE_CHECKING:
    from recordsmith.schema.export.diff import SchemaDiff
    from recordsmith.schema.features.constraints import Violation
    from recordsmith.schema.plan import ColumnParts, Parts, PlanColumn

__all__ = ["Schema"]

_FORMAT = "recordsmith-schema"
_VERSION = 1
_TYPES: dict[str, type[Feature]] = {
    kind.type_name: kind
    for kind in (
        *(Scalar, Tensor, Label, Text, Bytes, Image, Audio, SequenceFeature, Packed, Sparse, Steps),
        *(Boxes, Points, Labels, Mask, Masks),
    )
}


class Schema(Mapping[str, Feature]):
    """The features of a record by name, in order. A schema cannot be changed after it is built.

    >>> schema = Schema({"tokens": Tensor("int64", (None,)), "label": Scalar("int64")})
    >>> schema
    Schema({
        'tokens': Tensor('int64', (None,)),
        'label':  Scalar('int64'),
    })
    >>> schema["label"].dtype
    dtype('int64')
    """

    __slots__ = ("_features", "_native", "_spans")

    _features: dict[str, Feature]
    _native: Any  # the compiled plan, kept by recordsmith.schema.native
    _spans: tuple[tuple[str, Feature, int, int], ...]  # name, feature, and which of all plan columns are its own

    def __init__(self, features: Mapping[str, Feature]) -> None:
        if not isinstance(features, Mapping):
            raise SchemaError("A schema needs a mapping of names to features.", found=type(features).__name__)
        spans = []
        owners: dict[tuple[str, bool], str] = {}
        start = 0
        for name, feature in features.items():
            _check_entry(name, feature)
            columns = feature.plan(name)
            for column in columns:
                owner = owners.setdefault((column.key, column.steps), name)
                if owner != name:
                    raise SchemaError(
                        f"Two features are stored under the same name {column.key!r}.",
                        found=list_names([owner, name]),
                        advice="Rename one of them.",
                    )
            spans.append((name, feature, start, start + len(columns)))
            start += len(columns)
        object.__setattr__(self, "_features", dict(features))
        object.__setattr__(self, "_spans", tuple(spans))
        object.__setattr__(self, "_native", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Schema cannot be changed; build a new one, as in Schema({**schema, name: feature})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Schema cannot be changed")

    def __getitem__(self, name: str) -> Feature:
        try:
            return self._features[name]
        except KeyError:
            raise KeyError(f"{name!r} is not in the schema.{did_you_mean(str(name), self._features)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __contains__(self, name: object) -> bool:
        return name in self._features

    def __eq__(self, other: object) -> bool:
        return self._features == other._features if isinstance(other, Schema) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._features.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema, (self._features,)

    def __repr__(self) -> str:
        if not self._features:
            return "Schema({})"
        width = max(len(repr(name)) for name in self._features) + 1
        lines = [f"    {repr(name) + ':':<{width}} {feature!r},\n" for name, feature in self._features.items()]
        return f"Schema({{\n{''.join(lines)}}})"

    def _repr_html_(self) -> str:
        return schema_html(self._features, {name: feature.description for name, feature in self._features.items()})

    def select(self, names: Iterable[str]) -> Schema:
        """Return a schema with only these features, in this order.

        >>> Schema({"a": Text(), "b": Text(), "c": Text()}).select(["c", "a"])
        Schema({
            'c': Text(),
            'a': Text(),
        })
        """
        wanted = [names] if isinstance(names, str) else list(names)
        for name in wanted:
            if name not in self._features:
                raise SchemaError(
                    f"There is no feature {name!r}.{did_you_mean(str(name), self)}", expected=list_names(self)
                )
        return Schema({name: self._features[name] for name in wanted})

    def plan(self) -> list[PlanColumn]:
        """Return the stored features that the native core reads and writes, in the schema's order."""
        return [column for name, feature in self._features.items() for column in feature.plan(name)]

    def assemble(self, parts: Sequence[Parts]) -> dict[str, Any]:
        """Return a batch by name from what the core decoded, one entry for each column of `plan()`."""
        batch = {}
        for name, feature, start, stop in self._spans:
            try:
                batch[name] = feature.assemble(parts[start:stop])
            except RecordsmithError as error:
                raise error.at(feature=name) from None
        return batch

    def columns_to_parts(self, columns: Any, *, cast: bool = False) -> tuple[int, list[ColumnParts]]:
        """Return the number of rows, and what the core needs to write them, one entry for each column of `plan()`.

        Args:
            columns: a mapping of names to columns, an Arrow table or a pandas DataFrame. Optional features may be
                left out; every other difference in names or lengths is an EncodeError.
            cast: convert numbers that do not fit to the nearest value that does, instead of raising an error.
        """
        given = named_columns(columns)
        if given is None:
            if not isinstance(columns, Mapping):
                raise EncodeError(
                    "Columns must be given by name.",
                    found=type(columns).__name__,
                    expected="a mapping of names to columns, an Arrow table or a pandas DataFrame",
                )
            given = dict(columns)
        self._check_names(given)
        rows = self._common_length(given)
        parts: list[ColumnParts] = []
        for name, feature in self._features.items():
            try:
                values = given[name] if name in given else [None] * rows
                parts.extend(feature.column_to_parts(values, rows, cast=cast))
            except RecordsmithError as error:
                raise error.at(feature=name) from None
        return rows, parts

    def violations(self, columns: Mapping[str, Any]) -> dict[str, list[Violation]]:
        """List by feature which rows of a batch, as `assemble` returns it, break a constraint.

        >>> schema = Schema({"age": Scalar("int64", min=0), "name": Text()})
        >>> schema.violations({"age": [31, -1], "name": ["Ann", "Bob"]})
        {'age': [Violation(row=1, constraint='min', found='-1 (int64)', expected='at least 0')]}
        """
        found = {name: feature.violations(columns[name]) for name, feature in self._features.items() if name in columns}
        return {name: violations for name, violations in found.items() if violations}

    def to_json(self) -> dict[str, Any]:
        """Return the schema as JSON-ready values.

        >>> Schema({"a": Text()}).to_json()
        {'format': 'recordsmith-schema', 'version': 1, 'features': {'a': {'type': 'text'}}}
        """
        features = {name: feature.to_json() for name, feature in self._features.items()}
        return {"format": _FORMAT, "version": _VERSION, "features": features}

    @classmethod
    def from_json(cls, document: Any) -> Schema:
        """Build a schema from what `to_json` returned. Unknown entries are an error.

        >>> Schema.from_json(Schema({"a": Text()}).to_json())
        Schema({
            'a': Text(),
        })
        """
        if not isinstance(document, Mapping) or document.get("format") != _FORMAT:
            raise SchemaError("This is not a recordsmith schema.", expected=f'a JSON object with "format": "{_FORMAT}"')
        if document.get("version") != _VERSION:
            raise SchemaError(
                "The version of this schema is not supported by this version of recordsmith.",
                found=f"version {document.get('version')!r}",
                expected=f"version {_VERSION}",
                advice="Read it with the version of recordsmith that wrote it, or a newer one.",
            )
        unknown = [name for name in document if name not in ("format", "version", "features")]
        features = document.get("features")
        if unknown or not isinstance(features, Mapping):
            raise SchemaError(
                "The JSON of the schema has unknown or missing entries.",
                found=list_names(map(str, document)),
                expected="'format', 'version', 'features'",
            )
        return cls({name: _feature_from_json(name, settings) for name, settings in features.items()})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema as JSON. The file gets its name only when it is complete.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Schema({"a": Text()}).save(f"{folder}/schema.json")
        ...     len(Schema.load(f"{folder}/schema.json"))
        1
        """
        rewrite_text(path, json_text(self.to_json()) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a schema that `save` wrote."""
        document = read_json(path, "schema")
        try:
            return cls.from_json(document)
        except RecordsmithError as error:
            raise error.at(path=path) from None

    # --- other libraries' forms; their modules are loaded when they are asked for ---

    def to_tf(self) -> Any:
        """Return what tf.io.parse_example takes: a dict of tf.io features by stored name. Needs the extra "tensorflow".

        With Steps in the schema it is a pair (context_features, sequence_features), for tf.io.parse_sequence_example.

        >>> Schema({"label": Scalar("int64")}).to_tf()
        {'label': FixedLenFeature(shape=(), dtype=tf.int64, default_value=None)}
        """
        from recordsmith.schema.export.tensorflow_features import tensorflow_features

        return tensorflow_features(self)

    def parse_tf(self, serialized: Any, *, decode_images: bool = False) -> dict[str, Any]:
        """Parse records in TensorFlow: tensors by name, with the schema's dtypes and shapes, also inside tf.data.

        Args:
            serialized: a tensor of record payloads: a batch of shape (n,), or one of shape ().
            decode_images: return pixels for Image features instead of the encoded bytes.

        >>> import recordsmith as rs
        >>> schema = Schema({"pixels": Tensor("uint8", (2, 2))})
        >>> row = schema.parse_tf(rs.encode_example({"pixels": b"abcd"}))
        >>> row["pixels"].dtype, row["pixels"].shape
        (tf.uint8, TensorShape([2, 2]))
        """
        from recordsmith.schema.export.tensorflow_parsing import parse_in_tensorflow

        return parse_in_tensorflow(self, serialized, decode_images=decode_images)

    def to_tf_code(self, *, decode_images: bool = False) -> str:
        """Return the code of a module that parses the records with TensorFlow only, for machines without recordsmith.

        >>> code = Schema({"label": Scalar("int64")}).to_tf_code()
        >>> "def parse(serialized):" in code and "recordsmith" not in code.split("import tensorflow")[1]
        True
        """
        from recordsmith.schema.export.tensorflow_code import tensorflow_code

        return tensorflow_code(self, decode_images=decode_images)

    def to_tfds(self) -> dict[str, Any]:
        """Return the schema as TensorFlow Datasets' features.json has it; `tfds_label_files` has the class names.

        >>> sorted(Schema({"a": Text()}).to_tfds()["featuresDict"]["features"])
        ['a']
        """
        from recordsmith.schema.export.tfds import tfds_features

        return tfds_features(self)

    def tfds_label_files(self) -> dict[str, str]:
        """Return the names and contents of the files with class names that belong to features.json."""
        from recordsmith.schema.export.tfds import tfds_label_files

        return tfds_label_files(self)

    @classmethod
    def from_tfds(cls, source: Any) -> Schema:
        """Read the schema of a TensorFlow Datasets folder, of a features.json, or of the document in it.

        >>> Schema.from_tfds(Schema({"a": Text()}).to_tfds())
        Schema({
            'a': Text(),
        })
        """
        from recordsmith.schema.export.tfds_reading import features_from_tfds

        return cls(features_from_tfds(source))

    def to_tfmd(self) -> str:
        """Return the schema as the text of a schema.pbtxt of TensorFlow Metadata.

        >>> print(Schema({"a": Scalar("int64")}).to_tfmd().split(chr(10))[1].strip())
        name: "a"
        """
        from recordsmith.schema.export.tfmd import tfmd_text

        return tfmd_text(self)

    @classmethod
    def from_tfmd(cls, source: Any) -> Schema:
        """Read a TensorFlow Metadata schema: the path of a schema.pbtxt, or its text.

        >>> Schema.from_tfmd(Schema({"a": Scalar("int64")}).to_tfmd())
        Schema({
            'a': Scalar('int64'),
        })
        """
        from recordsmith.schema.export.tfmd_reading import features_from_tfmd

        return cls(features_from_tfmd(source))

    def diff(self, other: Schema) -> SchemaDiff:
        """Compare with another schema: what it adds, lacks and changes, and whether it reads records of this one.

        >>> print(Schema({"a": Text()}).diff(Schema({"b": Text()})))
        - a: Text()
        + b: Text()
        Records of the first cannot be read with the second.
            b: it is required, but the records do not have it
        """
        from recordsmith.schema.export.diff import diff_of

        return diff_of(self, other)

    def _check_names(self, given: Mapping[str, Any]) -> None:
        for name in given:
            if name not in self._features:
                raise EncodeError(
                    f"There is a column {name!r}, but the schema has no such feature.{did_you_mean(str(name), self)}",
                    expected=f"the features {list_names(self)}",
                    advice="Add it to the schema, or leave the column out.",
                )
        for name, feature in self._features.items():
            if name not in given and not feature.optional:
                raise EncodeError(
                    f"The column for the feature {name!r} is missing.{did_you_mean(name, map(str, given))}",
                    feature=name,
                    found=f"the columns {list_names(map(str, given))}",
                    advice="Give the column, or declare the feature with optional=True or a default.",
                )

    def _common_length(self, columns: Mapping[str, Any]) -> int:
        lengths = {}
        for name, values in columns.items():
            try:
                lengths[name] = self._features[name].rows_in(values)
            except RecordsmithError as error:
                raise error.at(feature=name) from None
        longest = max(lengths, key=lengths.__getitem__, default=None)
        shortest = min(lengths, key=lengths.__getitem__, default=None)
        if longest is None or shortest is None:
            return 0
        if lengths[longest] != lengths[shortest]:
            raise EncodeError(
                "The columns differ in length.",
                found=f"{longest!r} has {lengths[longest]} rows, {shortest!r} has {lengths[shortest]}",
                advice="Every column needs one entry per row. Use None for a missing value of an optional feature.",
            )
        return lengths[longest]


def _check_entry(name: object, feature: object) -> None:
    if not isinstance(name, str):
        raise SchemaError("A feature's name must be a string.", found=f"{name!r} ({type(name).__name__})")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise SchemaError("A feature's name must be valid UTF-8.", found=ascii(name)) from None
    if not isinstance(feature, Feature):
        advice = "Write a feature such as Scalar('float32'), Tensor('int64', (None,)), Text() or Bytes()."
        if isinstance(feature, type) and issubclass(feature, Feature):
            advice = f"Call it: {feature.__name__}(...)."
        raise SchemaError(
            "An entry of a schema must be a feature.", feature=name, found=feature, expected="a feature", advice=advice
        )


def _feature_from_json(name: str, settings: Any) -> Feature:
    kind = settings.get("type") if isinstance(settings, Mapping) else None
    if not isinstance(kind, str) or kind not in _TYPES:
        raise SchemaError(
            f"Unknown feature type {kind!r}.{did_you_mean(str(kind), _TYPES)}",
            feature=name,
            expected=list_names(_TYPES),
            advice="If a newer recordsmith wrote this schema, read it with that version.",
        )
    try:
        return _TYPES[kind].from_json({key: value for key, value in settings.items() if key != "type"})
    except SchemaError as error:
        raise error.at(feature=name) from None
