"""Infers a schema from the records: which features there are, their types and their shapes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from recordsmith import _core
from recordsmith.dataset.image_features import with_images
from recordsmith.dataset.layout import find_layout
from recordsmith.errors import SchemaError
from recordsmith.records.compression import reading_compression
from recordsmith.schema import Bytes, Feature, Scalar, Schema, Steps, Tensor, Text
from recordsmith.schema.features.numeric import DTypeName
from recordsmith.storage.ranged.opening import announce_starts
from recordsmith.wording.numbers import count_text

__all__ = [
    "Census",
    "CensusFeature",
    "infer_from_files",
    "infer_schema",
    "sample_census",
    "schema_from_census",
    "take_census",
]

_ALL = 2**64 - 1
_SAMPLED_FILES = 32
_SAMPLED_BYTES = 8 << 20  # in all: looked at in well below a tenth of a second
_LAST_RECORD = 1 << 20  # of a file's sample, the last record is read to its end


@dataclass(frozen=True, slots=True)
class CensusFeature:
    """What a look at the records found out about one feature.

    Attributes:
        key: its name.
        in_steps: it is a list of steps in a SequenceExample.
        records: how many records have it.
        kinds: how often each kind of list was found: "bytes", "float", "int64", or "nothing".
        counts: the smallest and the largest number of values in a record, or in a step.
        lengths: the smallest and the largest number of bytes of a byte string.
        is_text: every byte string is readable text.
    """

    key: str
    in_steps: bool
    records: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    counts: tuple[int, int] = (0, 0)
    lengths: tuple[int, int] = (0, 0)
    is_text: bool = True


@dataclass(frozen=True, slots=True)
class Census:
    """What a look at the records found.

    Attributes:
        records: how many were looked at.
        complete: they were all.
        payloads: how many payloads there were of each kind: "example", "sequence_example", "example_list" (ELWC),
            "event", "text", "empty" or "unknown".
        features: the features, in the order of their first appearance.
    """

    records: int
    complete: bool
    payloads: dict[str, int]
    features: tuple[CensusFeature, ...]

    @property
    def payload(self) -> str:
        """What the records are. One SequenceExample makes all Examples next to it SequenceExamples without steps."""
        kinds = {kind for kind in self.payloads if kind != "empty"}
        if not kinds:
            return "example" if self.payloads else "empty"
        if kinds <= {"example", "sequence_example"}:
            return "sequence_example" if "sequence_example" in kinds else "example"
        if kinds == {"event", "unknown"}:  # of a log of TensorBoard only the first record says what it is
            return "event"
        return kinds.pop() if len(kinds) == 1 else "unknown"


_FEATURE_FIELDS = [entry.name for entry in fields(CensusFeature)]


def infer_schema(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    split: str | None = None,
    compression: str | None = "auto",
    records: int | None = None,
) -> Schema:
    """Infer a schema from TFRecord files that have none.

    All records are read, or with `records` the first ones of each file. A feature that always has one value becomes a
    Scalar, Text or Bytes. A feature that always has k values becomes a Tensor of shape (k,), and any other a Tensor of
    shape (None,). A feature that some records lack becomes optional. If every value has the header of a JPEG, PNG, WebP
    or GIF, the feature becomes an Image. Labels and matrices cannot be recognised: edit the result if you know more.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_example({"tokens": [1, 2, 3], "name": "first"})
    ...     writer.write_example({"tokens": [4], "name": "second"})
    >>> rs.infer_schema(path)
    Schema({
        'name':   Text(),
        'tokens': Tensor('int64', (None,)),
    })
    """
    files = find_layout(path).select(split).files
    return infer_from_files(files, compression, records=records)[0]


def infer_from_files(
    files: Sequence[str], compression: str | None = "auto", *, records: int | None = None
) -> tuple[Schema, Census]:
    """Infer a schema from files, and say what it was inferred from."""
    census = take_census(files, compression, records_per_file=_ALL if records is None else records)
    schema = schema_from_census(census, files)
    return with_images(schema, files, compression, records_per_file=records), census


def take_census(
    files: Sequence[str],
    compression: str | None = "auto",
    *,
    records_per_file: int = _ALL,
    bytes_per_file: int = _ALL,
    verify: bool = True,
    stop_at_damage: bool = False,
) -> Census:
    """Look at the records of some files.

    Damage is an error; with `stop_at_damage` the census is of the records before it, if there are any.
    """
    compressions = [reading_compression(compression)] * len(files)
    found = _core.census(list(files), compressions, records_per_file, bytes_per_file, verify, stop_at_damage)
    features = tuple(CensusFeature(**{name: getattr(one, name) for name in _FEATURE_FIELDS}) for one in found.features)
    return Census(found.records, found.is_complete, found.payloads, features)


def sample_census(files: Sequence[str], compression: str | None = "auto", *, verify: bool = True) -> Census:
    """Look at as many records as can be read at once without being noticed: all, unless the dataset is large."""
    step = max(1, len(files) // _SAMPLED_FILES)
    sampled = list(files[::step])
    bytes_per_file = max(1 << 16, _SAMPLED_BYTES // max(1, len(sampled)))
    announce_starts(sampled, bytes_per_file + _LAST_RECORD)
    # Damage is met again when the records are read, after those before it have been delivered.
    census = take_census(sampled, compression, bytes_per_file=bytes_per_file, verify=verify, stop_at_damage=True)
    if len(sampled) == len(files):
        return census
    return Census(census.records, False, census.payloads, census.features)


_MEANINGS = {
    "example_list": "ExampleListWithContext (ELWC) messages",
    "event": "TensorBoard events",
    "text": "plain text",
    "unknown": "not in a format that recordsmith knows",
    "empty": "empty",
}


def not_examples(payload: str, path: str | None) -> SchemaError:
    """Return the error about records that are not Examples.

    >>> print(not_examples("text", "a.tfrecord").problem)
    The records are not tf.train.Example messages: they are plain text.
    """
    return SchemaError(
        f"The records are not tf.train.Example messages: they are {_MEANINGS.get(payload, payload)}.",
        path=path,
        advice="Open them with raw=True and parse them in .map(), or with descriptor= and message= if they are "
        "protobuf messages. Dataset.raw and RecordReader give their bytes too.",
    )


def schema_from_census(census: Census, files: Sequence[str]) -> Schema:
    """Turn what was found into a schema.

    >>> feature = CensusFeature("x", in_steps=False, records=2, kinds={"float": 2}, counts=(3, 3))
    >>> schema_from_census(Census(2, True, {"example": 2}, (feature,)), ["a.tfrecord"])
    Schema({
        'x': Tensor('float32', (3,)),
    })
    """
    path = files[0] if len(files) == 1 else None
    if census.payload not in ("example", "sequence_example"):
        if not census.records:
            return Schema({})
        raise not_examples(census.payload, path)
    features: dict[str, Feature] = {}
    for facts in census.features:
        name = facts.key
        kinds = [kind for kind in facts.kinds if kind != "nothing"]
        if len(kinds) > 1:
            counts = ", ".join(f"{kind} in {count_text(facts.kinds[kind], 'record')}" for kind in kinds)
            raise SchemaError(
                f"Feature {name!r} has different types in different records.",
                path=path,
                feature=name,
                found=counts,
                advice="Pass a schema without this feature, or write the records again with a single type.",
            )
        if not kinds:
            continue  # always without a kind: there is nothing to read
        optional = facts.records < census.records
        if facts.in_steps:
            # The same name may be used in the context: the steps then go without.
            if name not in features:
                features[name] = Steps(_feature(kinds[0], facts, optional=False), optional=optional)
        else:
            features[name] = _feature(kinds[0], facts, optional=optional)
    return Schema(features)


def _feature(kind: str, facts: CensusFeature, *, optional: bool) -> Feature:
    least, most = facts.counts
    shape: tuple[int | None, ...] = (None,) if least != most or most == 0 else () if most == 1 else (most,)
    if kind == "bytes":
        is_text = facts.is_text and facts.lengths[1] > 0
        return Text(shape, optional=optional) if is_text else Bytes(shape, optional=optional)
    dtype: DTypeName = "float32" if kind == "float" else "int64"
    return Tensor(dtype, shape, optional=optional) if shape else Scalar(dtype, optional=optional)
