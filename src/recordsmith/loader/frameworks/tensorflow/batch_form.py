"""The form of a chain's batches, as TensorFlow must know it before the first of them comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.columns import Ragged, ShapedColumn
from recordsmith.errors import PipelineError
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import feed
from recordsmith.loader.frameworks.tensorflow.columns import Form, ShapedRows, form_of
from recordsmith.loader.plan import Batching, Plan
from recordsmith.loader.skipping import Skipped
from recordsmith.loader.verbs.batches.padded_batch import PaddedBatching
from recordsmith.schema import Feature, Schema, Tensor
from recordsmith.schema.features.strings import StringFeature
from recordsmith.schema.native import compile_plan

__all__ = ["batch_form", "fixed_rows"]

_BATCH_FIRST = "Write .batch(n) first. For single rows, use .to_tf().unbatch()."


def batch_form(plan: Plan) -> Form:
    """Return the form of a chain's batches: from its features, or from its first batch where these are not known."""
    if plan.features is None or not plan.picks_columns:
        return _form_of_first(plan)
    batching = plan.batched(_BATCH_FIRST)
    empty = _empty(plan.features, padded=isinstance(batching, PaddedBatching))
    return form_of(_changed(plan, batching.collate(empty)))


def fixed_rows(plan: Plan) -> int | None:
    """Return how many rows every batch has; None if that differs."""
    batching = plan.batched(_BATCH_FIRST)
    return batching.size if batching.drop_last and len(batching.sizes) == 1 and plan.picks_columns else None


def _empty(features: Mapping[str, Feature], *, padded: bool) -> dict[str, Any]:
    """Return columns without rows, with the dtypes and shapes of the features; a size of 0 in an array varies."""
    schema = Schema(dict(features))
    columns = schema.assemble(_core.decode_payloads(compile_plan(schema), []))
    return {name: _exact(column, features[name], padded=padded) for name, column in columns.items()}


def _exact(column: Any, feature: Feature, *, padded: bool) -> Any:
    """Say in the column what only the feature knows."""
    if isinstance(feature, StringFeature) and feature.shape and None not in feature.shape and not feature.optional:
        return np.empty((0, *feature.shape), object)
    if isinstance(column, ShapedColumn) and isinstance(feature, Tensor):
        shape = feature.shape
        return (
            np.empty((0, *(size or 0 for size in shape)), column.dtype) if padded else ShapedRows(column.dtype, shape)
        )
    return column


def _changed(plan: Plan, batch: dict[str, Any]) -> Any:
    return plan.changed_batch(batch, np.zeros(len(next(iter(batch.values()), ())), np.int64))


def _form_of_first(plan: Plan) -> Form:
    batching = plan.batched(_BATCH_FIRST)
    rows = _first_rows(plan)
    if rows is None:
        raise PipelineError(
            "There is no batch to take dtypes and shapes from.",
            advice="Check that the dataset has rows, and that .filter() leaves some.",
        )
    first = _changed(plan, batching.collate(rows))
    if not isinstance(batching, PaddedBatching):
        return form_of(first)
    # The same rows padded to more: sizes that differ then are those that padding decides.
    return form_of(first, _changed(plan, _longer(batching, rows).collate(rows)))


def _first_rows(plan: Plan) -> dict[str, Any] | None:
    """Return the columns of the first batch before padding and what comes after it."""
    batching = Batching(plan.batched(_BATCH_FIRST).size)
    skipped = None if plan.skipped is None else Skipped()  # what is looked at here is not what is fed
    batches = feed(replace(plan, workers=0, batching=batching, batch_changes=(), skipped=skipped), Cursor())
    try:
        return next((batch for batch, _ in batches), None)
    finally:
        batches.close()  # type: ignore[attr-defined] # a generator


def _longer(batching: PaddedBatching, rows: dict[str, Any]) -> PaddedBatching:
    given = batching.pad_to
    lengths = {} if given is None else dict.fromkeys(rows, given) if isinstance(given, int) else dict(given)
    for name, column in rows.items():
        if name not in lengths and isinstance(column, Ragged):
            lengths[name] = int(column.lengths.max(initial=0)) + 1
    return PaddedBatching(batching.size, pad_to=lengths, pad_value=batching.pad_value, truncate=batching.truncate)
