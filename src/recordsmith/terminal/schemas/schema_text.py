"""A schema as text in the forms that programs read."""

from __future__ import annotations

import re

from recordsmith.schema import Schema
from recordsmith.wording.visible_text import json_text

__all__ = ["FORMS", "schema_text"]

FORMS = {
    "json": "what Schema.load reads",
    "python": "the code that declares it",
    "tf": "TensorFlow code that parses the records",
    "tfds": "features.json of TensorFlow Datasets",
    "tfmd": "schema.pbtxt of TensorFlow Metadata",
}


def schema_text(schema: Schema, form: str) -> str:
    """Return a schema in one of FORMS, as the text of a file.

    >>> from recordsmith.schema import Scalar
    >>> print(schema_text(Schema({"label": Scalar("int64")}), "python"), end="")
    from recordsmith import Scalar, Schema
    <BLANKLINE>
    schema = Schema({
        'label': Scalar('int64'),
    })
    """
    match form:
        case "json":
            return json_text(schema.to_json()) + "\n"
        case "tfds":
            return json_text(schema.to_tfds(), indent=4) + "\n"
        case "tfmd":
            return schema.to_tfmd()
        case "tf":
            return schema.to_tf_code()
        case _:
            return _python(schema)


def _python(schema: Schema) -> str:
    shown = repr(schema)
    # A name that is only in a string is imported too, which does no harm.
    kinds = {type(feature).__name__ for feature in schema.values()} | set(re.findall(r"Steps\((\w+)\(", shown))
    return f"from recordsmith import {', '.join(sorted({'Schema', *kinds}))}\n\nschema = {shown}\n"
