"""What `recordsmith show --format json` prints. Keys stay; new ones may come.

Numbers and text are whole. A byte string is an object with its length, and in base64 as long as it is short; an image
also has its format and size. JSON has no NaN and no infinities: they are the strings "NaN", "Infinity", "-Infinity".
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from recordsmith.columns import SparseRow
from recordsmith.errors import RecordsmithError
from recordsmith.images.header import read_header
from recordsmith.query.overview import DatasetOverview, FeatureOverview, RowOverview
from recordsmith.schema import Feature
from recordsmith.terminal.values.class_names import class_name
from recordsmith.terminal.values.feature_types import type_text

__all__ = ["overview_json", "problem_json", "value_json"]

_LONGEST_BASE64 = 1024  # bytes of a value that are given whole


def overview_json(overview: DatasetOverview, *, raw: bool = False, whole: bool = False) -> dict[str, Any]:
    """Turn an overview into JSON-ready values.

    Args:
        overview: what `look_at` returned.
        raw: the rows have their whole payload in base64.
        whole: byte strings are given however long they are.
    """
    types = {(feature.name, feature.steps): feature.feature for feature in overview.features}
    document = {
        "name": overview.name,
        "records": overview.records,
        "bytes": overview.bytes,
        "payload": overview.payload,
        "splits": overview.splits,
        "files": [
            {
                "path": file.path,
                "records": file.records,
                "bytes": file.bytes,
                "compression": file.compression,
                "damaged": file.damaged,
            }
            for file in overview.files
        ],
        "schema": {
            "declared_by": overview.described_by,
            "looked_at": overview.looked_at,
            "looked_at_all": overview.looked_at_all,
            "payloads": overview.payloads,
        },
        "features": [_feature_json(feature) for feature in overview.features],
        "rows": [_row_json(row, types, raw=raw, whole=whole) for row in overview.rows],
        "problems": [problem_json(problem) for problem in overview.problems],
    }
    if overview.where is not None:
        document["where"] = {"condition": overview.where, "searched_all": overview.searched_all}
    return document


def problem_json(error: RecordsmithError) -> dict[str, Any]:
    """Turn an error into JSON-ready values."""
    return {
        "error": type(error).__name__,
        "problem": error.problem,
        "path": error.path,
        "record": error.record,
        "offset": error.offset,
        "feature": error.feature,
        "message": str(error),
    }


def value_json(value: Any, *, whole: bool = False) -> Any:
    """Turn a value into JSON-ready ones; with `whole`, byte strings however long they are.

    >>> value_json(np.array([1.5, np.nan])), value_json(b"ab"), value_json(None)
    ([1.5, 'NaN'], {'bytes': 2, 'base64': 'YWI='}, None)
    """
    match value:
        case None | str():
            return value
        case bytes():
            return _bytes_json(value, whole=whole)
        case list():
            return [value_json(entry, whole=whole) for entry in value]
        case SparseRow():
            return {"indices": value_json(value.indices), "values": value_json(value.values)}
        case dict():
            return {name: value_json(part, whole=whole) for name, part in value.items()}
        case np.ndarray() | np.generic():
            return _plain(value.tolist())
    return _plain(value)


def _bytes_json(value: bytes, *, whole: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"bytes": len(value)}
    image = read_header(value)
    if image is not None:
        found["image"] = {"format": image.format, "width": image.width, "height": image.height}
    if whole or len(value) <= _LONGEST_BASE64:
        found["base64"] = base64.b64encode(value).decode()
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _feature_json(overview: FeatureOverview) -> dict[str, Any]:
    feature = overview.feature
    inner = getattr(feature, "feature", feature)
    return {
        "name": overview.name,
        "type": type_text(overview),
        "shape": None if feature is None else list(getattr(inner, "shape", ())),
        "steps": overview.steps,
        "declared": overview.declared,
        "records": overview.records,
        "kinds": overview.kinds,
        "values": list(overview.counts),
        "value_bytes": list(overview.lengths) if "bytes" in overview.kinds else None,
    }


def _row_json(
    row: RowOverview, types: dict[tuple[str, bool], Feature | None], *, raw: bool, whole: bool
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "record": row.number,
        "file": row.path,
        "record_in_file": row.number_in_file,
        "bytes": len(row.payload),
        "payload": row.kind,
    }
    if raw:
        found["base64"] = base64.b64encode(row.payload).decode()
    elif row.features is not None:
        found["features"] = {name: value_json(value, whole=whole) for name, value in row.features.items()}
        if row.steps is not None:
            found["steps"] = {name: value_json(value, whole=whole) for name, value in row.steps.items()}
        named = {name: class_name(value, types.get((name, False))) for name, value in row.features.items()}
        classes = {name: label for name, label in named.items() if label is not None}
        if classes:
            found["classes"] = classes
    elif row.kind == "text":
        found["text"] = row.payload.decode(errors="backslashreplace")
    else:
        found |= _bytes_json(row.payload, whole=whole)
    return found
