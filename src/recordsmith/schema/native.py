"""Converts a schema for the native core: a compiled plan, and rules for reading single rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recordsmith import _core
from recordsmith.schema.features.numeric import NumericFeature
from recordsmith.schema.features.strings import StringFeature

if TYPE_CHECKING:
    from recordsmith.schema.features.feature import Feature
    from recordsmith.schema.plan import PlanColumn
    from recordsmith.schema.schema import Schema

__all__ = ["compile_plan", "row_rules"]

RowRule: TypeAlias = tuple[bool, bool, str, tuple[int | None, ...]]
"""Takes text, takes raw memory, of which format, of which shape."""

_VARIES = -1
_NARROWED = ("float64", "list")  # each number has to be looked at


def compile_plan(schema: Schema) -> _core.Plan:
    """Compile the plan that decodes and encodes records of this schema."""
    plan: _core.Plan | None = schema._native  # noqa: SLF001 - the schema keeps it for this module alone
    if plan is None:
        # Schemas do not change, and compiling takes longer than decoding one record.
        plan = _core.Plan([_native_column(column) for column in schema.plan()])
        object.__setattr__(schema, "_native", plan)
    return plan


def _native_column(column: PlanColumn) -> tuple[str, str, int, int, str, Any, bool]:
    count = _VARIES if column.count is None else column.count
    row_bytes = _VARIES if column.row_bytes is None else column.row_bytes
    return column.key, column.kind, count, row_bytes, column.presence, _native_default(column), column.steps


def _native_default(column: PlanColumn) -> Any:
    if column.presence != "default":
        return None
    if column.kind != "bytes":
        return np.asarray(column.default).tolist()
    return column.default if isinstance(column.default, list) else [column.default]


def row_rules(schema: Schema) -> list[RowRule] | None:
    """Say for each feature which Python values the core may take for it without asking.

    None: some feature has to look at every value itself, or has more than one stored feature, or steps.

    >>> from recordsmith.schema import Label, Schema, Tensor, Text
    >>> row_rules(Schema({"pixels": Tensor("uint8", (28, 28)), "caption": Text()}))
    [(False, True, 'B', (28, 28)), (True, False, '', ())]
    >>> row_rules(Schema({"label": Label(["cat", "dog"])})) is None
    True
    """
    rules = [_row_rule(feature) for feature in schema.values()]
    known = [rule for rule in rules if rule is not None]
    return known if len(known) == len(rules) else None


def _row_rule(feature: Feature) -> RowRule | None:
    if isinstance(feature, NumericFeature) and (feature.packing or (feature.dtype.name, feature.storage) == _NARROWED):
        return None
    if isinstance(feature, NumericFeature) and not feature.constrained and feature.row_shape.count(None) < 2:
        stored_raw = feature.stored_as == "bytes"
        return False, stored_raw, feature.dtype.char if stored_raw else "", feature.row_shape
    if isinstance(feature, StringFeature) and not feature.constrained:
        return feature.text, False, "", feature.shape
    return None
