"""Features from a schema.pbtxt of TensorFlow Metadata.

What `tfmd_text` wrote comes back exactly, through the tag that it left, as long as nobody changed what stands beside
the tag. Anything else is read for what it says: types, shapes, presence, and the domains that are constraints here.
Environments, distributions, drift and the like are about statistics, and have no place in a schema of records.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from recordsmith.errors import SchemaError
from recordsmith.schema import Bytes, Feature, Image, Label, Scalar, Schema, Sparse, Steps, Tensor, Text
from recordsmith.schema.export.prototext import Message, read_prototext, write_prototext
from recordsmith.schema.export.tfmd import SEQUENCE_NAME, TAG, tfmd_message
from recordsmith.schema.features.numeric import DTypeName
from recordsmith.storage.json_descriptions import parse_json, read_bounded

__all__ = ["features_from_tfmd"]

_NUMBERS: dict[str, DTypeName] = {"FLOAT": "float32", "INT": "int64"}


def features_from_tfmd(source: str | os.PathLike[str]) -> dict[str, Feature]:
    r"""Return the features of a schema.pbtxt: of its path, or of the text itself.

    >>> features_from_tfmd('feature { name: "age" type: INT presence { min_fraction: 1 } shape { } }')
    {'age': Scalar('int64')}
    """
    text = os.fspath(source)
    path = None
    if not isinstance(source, str) or (text and "{" not in text and "\n" not in text):
        path = text
        text = read_bounded(path, "schema").decode(errors="replace")
    try:
        return _Document(read_prototext(text)).features()
    except SchemaError as error:
        raise error.at(path=path) if path is not None else error from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # A message where a value should be, a number of thousands of digits, or the like.
        found = str(error)[:200]
        raise SchemaError("This is not a schema of TensorFlow Metadata.", path=path, found=found) from None


class _Document:
    """A schema.pbtxt as a message."""

    def __init__(self, document: Message) -> None:
        self._document = document
        self._domains = {_one(domain, "name", ""): domain for domain in document.get("string_domain", [])}
        self._stored = {_one(feature, "name", ""): feature for feature in document.get("feature", [])}
        self._same_name: dict[tuple[str, str], list[Message]] = {}
        for kind, messages in document.items():
            for one in messages:
                if isinstance(one, dict):
                    self._same_name.setdefault((kind, str(_one(one, "name", ""))), []).append(one)
        self._step_names: dict[str, list[Message]] = {}
        for step, steps in self._all_stored():
            if steps:
                self._step_names.setdefault(str(_one(step, "name", "")), []).append(step)
        self._sparse_by_index: dict[str, Message] = {}
        for sparse in document.get("sparse_feature", []):
            for entry in sparse.get("index_feature", []):
                self._sparse_by_index.setdefault(str(_one(entry, "name", "")), sparse)
        self._used: set[tuple[str, bool]] = set()  # stored features that an exact feature has taken, and if in steps

    def features(self) -> dict[str, Feature]:
        found: dict[str, Feature] = {}
        for stored, steps in self._all_stored():
            name = str(_one(stored, "name", ""))
            if (name, steps) in self._used:
                continue
            whole = self._exact(stored) or self._sparse(name)
            if whole is not None:
                found[whole[0]] = whole[1]
                continue
            try:
                feature = self._feature(stored, steps=steps)
            except SchemaError as error:
                raise error.at(feature=name) from None
            found[name] = Steps(feature, optional=not _is_required(stored)) if steps else feature
        return found

    def _all_stored(self) -> Iterator[tuple[Message, bool]]:
        for stored in self._document.get("feature", []):
            if _one(stored, "name", "") == SEQUENCE_NAME and "struct_domain" in stored:
                for step in stored["struct_domain"][0].get("feature", []):
                    yield step, True
            else:
                yield stored, False

    def _exact(self, stored: Message) -> tuple[str, Feature] | None:
        """Return the feature that a tag names, if everything that would be written for it is there unchanged."""
        tags = [tag for note in stored.get("annotation", []) for tag in note.get("tag", [])]
        for tag in tags:
            if not str(tag).startswith(TAG):
                continue
            try:
                settings = parse_json(str(tag)[len(TAG) :], "tag")
                name = settings.pop("name")
                document = {"format": "recordsmith-schema", "version": 1, "features": {name: settings}}
                feature = Schema.from_json(document)[name]
            except (ValueError, KeyError, AttributeError):
                return None  # of a newer recordsmith, or not ours: read what else is said
            written = read_prototext(write_prototext(tfmd_message({name: feature})))
            if self._holds(written):
                self._used.update((column.key, column.steps) for column in feature.plan(name))
                return name, feature
        return None

    def _sparse(self, index_name: str) -> tuple[str, Feature] | None:
        """Return the sparse feature that has this one for its index, if its two stored features say what it needs."""
        sparse, stored = self._sparse_by_index.get(index_name), self._stored
        if sparse is None:
            return None
        index_names = [_one(entry, "name", "") for entry in sparse.get("index_feature", [])]
        name = str(_one(sparse, "name", ""))
        values = _one(_one(sparse, "value_feature", {}), "name", "")
        if index_names != [index_name] or (index_name, values) != (f"{name}/indices", f"{name}/values"):
            return None
        size = _bounds(_one(stored[index_name], "int_domain", {})).get("max")
        dtype = _NUMBERS.get(str(_one(stored.get(values, {}), "type", "")))
        if size is None or dtype is None:
            return None
        self._used.update(((index_name, False), (values, False)))
        return name, Sparse(dtype, size + 1, optional=not _is_required(stored[index_name]))

    def _holds(self, written: Mapping[str, list[Any]]) -> bool:
        for kind, messages in written.items():
            for one in messages:
                name = str(_one(one, "name", ""))
                if kind == "feature" and "struct_domain" in one:
                    steps = one["struct_domain"][0]["feature"]
                    if any(step not in self._step_names.get(str(_one(step, "name", "")), ()) for step in steps):
                        return False
                elif one not in self._same_name.get((kind, name), ()):
                    return False
        return True

    def _feature(self, stored: Message, *, steps: bool) -> Feature:
        kind = str(_one(stored, "type", "TYPE_UNKNOWN"))
        shape, lengths = _shape_of(stored, steps=steps)
        settings: dict[str, Any] = {} if steps or _is_required(stored) else {"optional": True}
        comments = [str(text) for note in stored.get("annotation", []) for text in note.get("comment", [])]
        if comments:
            settings["description"] = " ".join(comments)
        if kind == "BYTES":
            return self._strings(stored, shape, {**settings, **lengths})
        if kind == "INT":
            return self._integers(stored, shape, settings, lengths)
        if kind == "FLOAT":
            domain = _one(stored, "float_domain", {})
            bounds = _bounds(domain)
            if _one(domain, "disallow_nan", False) and _one(domain, "disallow_inf", False):
                bounds["finite"] = True
            return _numbers("float32", shape, {**settings, **bounds}, lengths)
        raise SchemaError(f"The feature type {kind} is not supported.", expected="BYTES, INT or FLOAT")

    def _strings(self, stored: Message, shape: tuple[int | None, ...], settings: dict[str, Any]) -> Feature:
        if len(shape) > 1:
            raise SchemaError("Strings have at most one dimension.", found=f"shape {shape}")
        if "image_domain" in stored and not shape:
            return Image(**settings)
        domain = _one(stored, "string_domain", None) or self._domains.get(_one(stored, "domain", None))
        if domain and domain.get("value"):
            return Text(shape, one_of=[str(value) for value in domain["value"]], **settings)
        return Bytes(shape, **settings)

    def _integers(
        self, stored: Message, shape: tuple[int | None, ...], settings: dict[str, Any], lengths: dict[str, Any]
    ) -> Feature:
        if "bool_domain" in stored:
            return _numbers("bool", shape, {**settings, "storage": "list"}, lengths)
        domain = _one(stored, "int_domain", {})
        bounds = _bounds(domain)
        names = self._domains.get(_one(domain, "name", None), {}).get("value", [])
        if (
            not shape
            and _one(domain, "is_categorical", False)
            and bounds.get("min") == 0
            and bounds.get("max", -1) >= 0
        ):
            size = int(bounds["max"]) + 1
            return Label([str(name) for name in names] if len(names) == size else size, **settings)
        return _numbers("int64", shape, {**settings, **bounds}, lengths)


def _one(fields: Mapping[str, list[Any]], name: str, default: Any) -> Any:
    values = fields.get(name)
    return values[-1] if values else default  # of a field that should not repeat, the last counts


def _bounds(domain: Mapping[str, list[Any]]) -> dict[str, Any]:
    found = {key: _one(domain, key, math.inf) for key in ("min", "max")}
    return {key: bound for key, bound in found.items() if math.isfinite(bound)}  # an infinite bound is none


def _is_required(stored: Message) -> bool:
    presence = _one(stored, "presence", {})
    return "shape" in stored or float(_one(presence, "min_fraction", 0.0)) >= 1.0


def _shape_of(stored: Message, *, steps: bool) -> tuple[tuple[int | None, ...], dict[str, Any]]:
    """Return a shape, and bounds of its length where that varies."""
    if "shape" in stored:
        sizes = [int(_one(dim, "size", 0)) for dim in stored["shape"][0].get("dim", [])]
        return tuple(size if size > 0 else None for size in sizes), {}
    counts = _one(stored, "value_count", {})
    nested = _one(stored, "value_counts", {}).get("value_count", [])
    if len(nested) > (2 if steps else 1):
        raise SchemaError("Nested lists are not supported.", found=f"{len(nested)} levels of value_counts")
    if nested:
        counts = nested[-1]
    least, most = int(_one(counts, "min", 0)), int(_one(counts, "max", 0))
    if least == most and least > 0:
        return (() if least == 1 else (least,)), {}
    bounds = {"min_length": least} if least > 0 else {}
    return (None,), {**bounds, "max_length": most} if most > 0 else bounds


def _numbers(
    dtype: DTypeName, shape: tuple[int | None, ...], settings: dict[str, Any], lengths: dict[str, Any]
) -> Feature:
    return Tensor(dtype, shape, **settings, **lengths) if shape else Scalar(dtype, **settings)
