"""What a program expects to read: the features that it gives to tf.io.parse_example and its sisters."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.values import Call, Choice, Group, Item, Literal, Table, Value, options_of
from recordsmith.doctor.lint.libraries.arrays import dtype_named

__all__ = ["ParseSpec", "ParsedFeature", "parse_specs", "parsed_feature_of", "parsed_tables"]

_PARSERS = {
    "tensorflow.io.parse_single_example": (0, 1),
    "tensorflow.io.parse_example": (0, 1),
    "tensorflow.data.experimental.parse_example_dataset": (None, 0),
    "tensorflow.data.experimental.make_batched_features_dataset": (None, 2),
}
_SEQUENCE_PARSERS = {"tensorflow.io.parse_single_sequence_example", "tensorflow.io.parse_sequence_example"}
_FORMS = {
    "tensorflow.io.FixedLenFeature": "fixed",
    "tensorflow.io.VarLenFeature": "variable",
    "tensorflow.io.RaggedFeature": "ragged",
    "tensorflow.io.SparseFeature": "sparse",
    "tensorflow.io.FixedLenSequenceFeature": "sequence",
}


@dataclass(frozen=True, slots=True)
class ParsedFeature:
    """One feature as it is asked for.

    Attributes:
        name: the key.
        form: "fixed", "variable", "ragged", "sparse" or "sequence".
        dtype: as "float32"; None if the source does not say.
        shape: its shape, None if the source does not say; of a fixed one only.
        has_default: an absent feature becomes a default value instead of an error.
        call: what declares it.
        key: the key in the source, where it is one.

    >>> ParsedFeature("x", "fixed", "float32", (2, 3), False, Call("", None), None).size
    6
    """

    name: str
    form: str
    dtype: str | None
    shape: tuple[int, ...] | None
    has_default: bool
    call: Call
    key: ast.expr | None

    @property
    def size(self) -> int | None:
        """How many values each record must have."""
        if self.shape is None:
            return None
        size = 1
        for dimension in self.shape:
            size *= dimension
        return size

    @property
    def kind(self) -> str | None:
        """How it must be stored: "bytes", "float" or "int64"."""
        return {"string": "bytes", "float32": "float", "int64": "int64"}.get(self.dtype or "")


@dataclass(frozen=True, slots=True)
class ParseSpec:
    """All features of one call of a parser."""

    call: Call
    serialized: Value | None
    features: dict[str, ParsedFeature]
    complete: bool
    in_steps: bool


def parse_specs(calls: Iterable[Call]) -> Iterator[ParseSpec]:
    """Yield what each call of a parser asks for."""
    for call in calls:
        if call.name in _PARSERS:
            position, features_at = _PARSERS[call.name]
            serialized = None if position is None else call.argument(position, "serialized", "example_protos")
            yield from _specs(call, serialized, call.argument(features_at, "features"), in_steps=False)
        elif call.name in _SEQUENCE_PARSERS:
            serialized = call.argument(0, "serialized")
            yield from _specs(call, serialized, call.argument(1, "context_features"), in_steps=False)
            yield from _specs(call, serialized, call.argument(2, "sequence_features"), in_steps=True)


def parsed_tables(call: Call) -> Value | None:
    """Return the dict that a parser gives, or the dicts of a sequence parser; None for any other call."""
    if call.name in ("tensorflow.io.parse_single_example", "tensorflow.io.parse_example"):
        return _parsed(call, call.argument(1, "features"))
    if call.name in _SEQUENCE_PARSERS:
        sides = [_parsed(call, call.argument(*given)) for given in ((1, "context_features"), (2, "sequence_features"))]
        known = [one or Table({}, complete=False) for one in sides]
        lengths = [] if call.name.endswith("single_sequence_example") else [Table({}, complete=False)]
        return Group((*known, *lengths), node=call.node)
    return None


def _parsed(call: Call, features: Value | None) -> Table | None:
    if not isinstance(features, Table):
        return None
    entries: dict[object, Value] = {key: Item(call, Literal(key)) for key in features.entries}
    return Table(entries, features.complete, made_by=call, node=call.node)


def _specs(call: Call, serialized: Value | None, features: Value | None, *, in_steps: bool) -> Iterator[ParseSpec]:
    for table in options_of(features):
        if isinstance(table, Table):
            found = {
                name: feature
                for name, value in table.entries.items()
                if isinstance(name, str) and (feature := _feature(name, value, table.node)) is not None
            }
            complete = table.complete and len(found) == len(table.entries)
            yield ParseSpec(call, serialized, found, complete, in_steps)


def _feature(name: str, value: Value, table: ast.expr | None) -> ParsedFeature | None:
    if not isinstance(value, Call) or value.name not in _FORMS:
        return None
    form = _FORMS[value.name]
    shape: tuple[int, ...] | None = None
    default: Value | None = None
    if form in ("fixed", "sequence"):
        shape = _shape(value.argument(0, "shape"))
        dtype = dtype_named(value.argument(1, "dtype"))
        # Of a sequence, `allow_missing` does what a default does: a feature that is absent becomes empty.
        default = value.argument(2, "default_value" if form == "fixed" else "allow_missing")
    elif form in ("variable", "ragged"):
        dtype = dtype_named(value.argument(0, "dtype"))
    else:
        return None
    nothing = isinstance(default, Literal) and (default.value is None or (form == "sequence" and not default.value))
    given = default is not None and not nothing
    return ParsedFeature(name, form, dtype, shape, given, value, _key(table, name))


def _shape(value: Value | None) -> tuple[int, ...] | None:
    if isinstance(value, Literal) and isinstance(value.value, int):
        return (value.value,)
    if isinstance(value, Group):
        sizes = [member.value for member in value.members if isinstance(member, Literal)]
        if len(sizes) == len(value.members) and all(isinstance(size, int) for size in sizes):
            return tuple(sizes)
    return None


def _key(table: ast.expr | None, name: str) -> ast.expr | None:
    if not isinstance(table, ast.Dict):
        return None
    return next((key for key in table.keys if isinstance(key, ast.Constant) and key.value == name), None)


def parsed_feature_of(value: Value | None, *, of_batches: bool = False) -> ParsedFeature | None:
    """Return the feature that a value is, as it came out of the parser; None if it is none or was changed since.

    With `of_batches` also one of a whole batch of records.
    """
    if isinstance(value, Choice) or not isinstance(value, Item) or not isinstance(value.index, Literal):
        return None
    base = value.base
    parsers = {"tensorflow.io.parse_single_example"} | ({"tensorflow.io.parse_example"} if of_batches else set())
    if not isinstance(base, Call) or base.name not in parsers:
        return None
    for spec in parse_specs([base]):
        return spec.features.get(value.index.value)
    return None
