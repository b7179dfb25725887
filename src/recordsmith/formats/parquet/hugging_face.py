"""The metadata that Hugging Face's datasets looks for in a Parquet file: which columns are images, sounds and classes.

The types of all columns have to be there, so they are derived from the Arrow types of the file.
"""

from __future__ import annotations

from typing import Any

from recordsmith.errors import import_extra
from recordsmith.formats.exported.values import compact_json
from recordsmith.schema import Audio, Feature, Image, Label, Schema, Sequence, Steps

__all__ = ["hugging_face_metadata"]

_DTYPES = {"halffloat": "float16", "float": "float32", "double": "float64"}  # Arrow's names, and those of datasets


def hugging_face_metadata(schema: Schema, fields: Any) -> bytes:
    """Return the metadata for a file with these Arrow fields."""
    types = import_extra("pyarrow", "arrow", purpose="Exporting to Parquet").types
    features = {field.name: _described(field.type, schema.get(field.name), types) for field in fields}
    return compact_json({"info": {"features": features}}).encode()


def _described(kind: Any, feature: Feature | None, types: Any) -> Any:
    """Return the description of a column of an Arrow type; the feature is known where datasets has a type for it."""
    if isinstance(feature, Label):
        return {"names": list(feature.names), "_type": "ClassLabel"}
    if isinstance(feature, Image):
        return {"_type": "Image"}
    if isinstance(feature, Audio):
        return {"sampling_rate": feature.rate, "_type": "Audio"}
    if types.is_struct(kind):
        return {
            kind.field(place).name: _described(kind.field(place).type, None, types) for place in range(kind.num_fields)
        }
    if types.is_list(kind) or types.is_fixed_size_list(kind):
        inner = _described(kind.value_type, feature.feature if isinstance(feature, (Steps, Sequence)) else None, types)
        if types.is_struct(kind.value_type):
            return [inner]  # a Sequence of these would be lists by name
        length = kind.list_size if types.is_fixed_size_list(kind) else -1
        return {"feature": inner, "length": length, "_type": "Sequence"}
    return {"dtype": _DTYPES.get(str(kind), str(kind)), "_type": "Value"}
