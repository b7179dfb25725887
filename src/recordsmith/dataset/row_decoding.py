"""Decodes one payload to a row: with the declared schema if there is one, otherwise as stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from recordsmith import _core
from recordsmith.dataset.payload_reading import StoredPayload
from recordsmith.errors import RecordsmithError
from recordsmith.records.example import decode_example, decode_sequence_example
from recordsmith.schema import Feature, Scalar, Schema, Steps, Text
from recordsmith.schema.native import compile_plan

__all__ = ["RowOverview", "decode_row"]


@dataclass(frozen=True, slots=True)
class RowOverview:
    """One record, as far as it can be understood.

    Attributes:
        number: its number in the dataset.
        path: its file.
        number_in_file: its number there.
        payload: its bytes.
        kind: what they are: "example", "sequence_example", "text", ...
        features: its values by name; None where it is no Example.
        steps: the feature lists of a SequenceExample: a list of values by name.
    """

    number: int
    path: str
    number_in_file: int
    payload: bytes
    kind: str
    features: dict[str, Any] | None
    steps: dict[str, Any] | None = None

    def value(self, name: str, *, steps: bool) -> Any:
        """Return a feature's value; None if the record does not have it."""
        return ((self.steps if steps else self.features) or {}).get(name)


class KnownFeature(Protocol):
    """What decoding needs to know of a feature."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def steps(self) -> bool:
        """Whether it lives in the feature lists."""

    @property
    def feature(self) -> Feature | None:
        """Its type, if that is known."""


def decode_row(
    stored: StoredPayload,
    features: Iterable[KnownFeature],
    declared: Schema | None,
    problems: list[RecordsmithError],
) -> RowOverview:
    """Decode a payload. One that does not fit the declared schema adds to `problems`, and is shown as it is stored."""
    place = (stored.number, stored.path, stored.number_in_file, stored.payload)
    kind = _core.payload_kind(stored.payload)
    if kind not in ("example", "sequence_example", "empty"):
        return RowOverview(*place, kind, None)
    try:
        context, lists = _stored_values(stored.payload, kind)
    except RecordsmithError as error:
        problems.append(error.at(path=stored.path, record=stored.number_in_file))
        return RowOverview(*place, "unknown", None)
    values: dict[str, Any] = {}
    steps: dict[str, Any] = {}
    for one in features:
        if one.steps and one.name in lists:
            steps[one.name] = _plain_steps(lists[one.name], one.feature)
        elif not one.steps and one.name in context:
            values[one.name] = _plain(context[one.name], one.feature)
    if declared is not None:
        try:
            row = _by_schema(stored.payload, declared)
        except RecordsmithError as error:
            problems.append(error.at(path=stored.path, record=stored.number_in_file))
            row = {}
        for name, value in row.items():
            (steps if isinstance(declared[name], Steps) else values)[name] = value
    return RowOverview(*place, kind, values, steps if kind == "sequence_example" or steps else None)


def _stored_values(payload: bytes, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    if kind == "sequence_example":
        context, lists = decode_sequence_example(payload)
        return dict(context), dict(lists)
    return dict(decode_example(payload)), {}


def _by_schema(payload: bytes, schema: Schema) -> dict[str, Any]:
    batch = schema.assemble(_core.decode_payloads(compile_plan(schema), [payload]))
    return {name: feature.row(batch[name], 0) for name, feature in schema.items()}


def _plain_steps(steps: list[Any], feature: Feature | None) -> list[Any]:
    inner = feature.feature if isinstance(feature, Steps) else None
    return [None if step is None else _plain(step, inner) for step in steps]


def _plain(value: Any, feature: Feature | None) -> Any:
    """Give a stored list the form that the inferred type has: one number instead of a list of one, str for text."""
    if isinstance(value, np.ndarray):
        return value[0] if isinstance(feature, Scalar) and len(value) == 1 else value
    strings = _decoded(value) if isinstance(feature, Text) else value
    return strings[0] if getattr(feature, "shape", None) == () and len(strings) == 1 else strings


def _decoded(values: list[bytes]) -> list[Any]:
    try:
        return [value.decode() for value in values]
    except UnicodeDecodeError:
        return values  # a later record, which the inferred type does not hold for
