"""Features from the features.json of TensorFlow Datasets, as they are stored in its records.

    ClassLabel, Image         Label, Image. The encoding is left open: TFDS keeps the bytes of a file as they were,
                              whatever encoding it declares
    Tensor, Scalar            Tensor, Scalar; a list of int64 or float32 unless its encoding is "bytes"
    Text, Translation         Text
    BBoxFeature, Audio        Tensor
    Sequence, Dataset         one more dimension on each feature inside
    Video                     Bytes, one encoded image a frame
    Sequence in a Sequence    the stored lists: `name/ragged_flat_values`, `name/ragged_row_lengths_0` ...
    Tensor, encoding "zlib"   Bytes: what is stored, compressed. Audio kept as a file: Bytes

Anything else is a SchemaError.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from recordsmith.errors import SchemaError
from recordsmith.schema import Bytes, Feature, Image, Label, Scalar, Tensor, Text
from recordsmith.schema.export.tfds import FEATURES_NAME, label_file_name
from recordsmith.schema.features.label import MOST_NUMBERED
from recordsmith.schema.features.numeric import checked_dtype
from recordsmith.storage.json_descriptions import read_bounded, read_json_object
from recordsmith.storage.publication import in_force

__all__ = ["features_from_tfds"]

Shape = tuple[int | None, ...]
Document = Mapping[str, Any]

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64", "bfloat16")
_STRINGS = ("string", "object", "bytes", "str")


def features_from_tfds(source: str | os.PathLike[str] | Document) -> dict[str, Feature]:
    """Return the features that a TFDS folder, a features.json, or the document in it describes.

    Class names are read from files beside features.json; without them, classes are numbered.

    >>> from recordsmith.schema.export.tfds import tfds_features
    >>> features_from_tfds(tfds_features({"kind": Label(["cat", "dog"])}))
    {'kind': Label(2)}
    """
    if isinstance(source, Mapping):
        return _Reader(None).read(source)
    path = os.fspath(source)
    if os.path.isdir(path):
        path = os.path.join(path, FEATURES_NAME)
    document = read_json_object(path, "TFDS description")
    try:
        return _Reader(os.path.dirname(path)).read(document.entries)
    except SchemaError as error:
        raise error.at(path=path) from None


class _Reader:
    """A walk through the tree of features; `folder` holds the files of class names."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._found: dict[str, Feature] = {}

    def read(self, document: Document) -> dict[str, Feature]:
        if "featuresDict" not in document:
            raise SchemaError(
                "This is not a features.json of TensorFlow Datasets 4.3 or later.",
                found=", ".join(map(str, document)) or "nothing",
                expected='an object with "featuresDict"',
            )
        try:
            self._walk(document, (), ())
        except SchemaError:
            raise
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:  # not what TFDS writes
            raise SchemaError(f"The TFDS description is incomplete: {str(error)[:200]!r}.") from None
        return self._found

    def _walk(self, node: Document, path: tuple[str, ...], lengths: Shape) -> None:
        if "featuresDict" in node:
            for key, child in node["featuresDict"].get("features", {}).items():
                self._walk(child, (*path, key), lengths)
        elif "sequence" in node:
            length = _whole(node["sequence"].get("length", 0))
            self._walk(node["sequence"]["feature"], path, (*lengths, None if length < 0 else length))
        elif "translation" in node and not node["translation"].get("variableLanguagesPerExample"):
            for language in node["translation"].get("languages", []):
                self._walk({"text": {}}, (*path, language), lengths)
        else:
            try:
                self._leaf(node, path, lengths)
            except SchemaError as error:
                raise error.at(feature="/".join(path)) from None

    def _leaf(self, node: Document, path: tuple[str, ...], lengths: Shape) -> None:
        name = "/".join(path)
        described: dict[str, Any] = {"description": node["description"]} if node.get("description") else {}
        if not lengths and "classLabel" in node:
            self._found[name] = self._label(node["classLabel"], path, described)
        elif not lengths and "image" in node and node["image"].get("dtype", "uint8") == "uint8":
            height, width, channels = _image_shape(node["image"])
            self._found[name] = Image(height, width, channels=channels, **described)
        elif "tensor" in node and not lengths:
            self._tensor(name, node["tensor"], described)
        else:
            self._stored(name, *_stored_as(node), lengths, described)

    def _label(self, label: Document, path: tuple[str, ...], described: dict[str, Any]) -> Feature:
        count = _whole(label.get("numClasses", 0))
        names = self._class_names(path)
        if names and count in (0, len(names)) and len(set(names)) == len(names):
            return Label(names, **described)
        return Label(count, **described) if 0 < count <= MOST_NUMBERED else Scalar("int64", **described)

    def _class_names(self, path: tuple[str, ...]) -> list[str]:
        file = in_force(os.path.join(self._folder or "", label_file_name(path)))
        if self._folder is None or not os.path.isfile(file):
            return []
        lines = read_bounded(file, "list of class names").decode().split("\n")
        return [line.strip() for line in lines if line.strip()]

    def _tensor(self, name: str, tensor: Document, described: dict[str, Any]) -> None:
        dtype, shape, encoding = _tensor_facts(tensor)
        settings: dict[str, Any] = {"optional": True, **described} if tensor.get("optional") else dict(described)
        if encoding == "bytes" and dtype in (*_INTEGERS, *_FLOATS) and dtype != "bfloat16":
            # Said only where it would usually be stored in another way.
            storage = {"storage": "bytes"} if dtype in ("float32", "int64") and shape.count(None) < 2 else {}
            self._found[name] = _numbers(dtype, shape, {**settings, **storage})
        else:
            self._stored(name, *_stored_as({"tensor": tensor}), (), settings)

    def _stored(self, name: str, dtype: str, shape: Shape, lengths: Shape, settings: dict[str, Any]) -> None:
        """Note a feature that is stored as a list, inside sequences of these lengths."""
        if len(lengths) < 2:
            self._found[name] = _listed(dtype, (*lengths, *shape), settings)
            return
        self._found[f"{name}/ragged_flat_values"] = _listed(dtype, (None, *shape), settings)
        for level in range(len(lengths) - 1):
            self._found[f"{name}/ragged_row_lengths_{level}"] = Tensor("int64", (None,))


def _stored_as(node: Document) -> tuple[str, Shape]:
    """Return the dtype and shape of what TFDS stores for a feature: "text", "string" or a dtype of numbers."""
    if "text" in node:
        return "text", ()
    if "classLabel" in node:
        return "int64", ()
    if "image" in node:
        return "string", ()
    if "video" in node:
        frames = _shape(node["video"])[:1]
        return "string", frames or (None,)
    if "boundingBox" in node:
        return node["boundingBox"].get("dtype", "float32"), (4,)
    content = node.get("tensor", node.get("scalar", node.get("audio")))
    if content is None:
        kind = str(node.get("pythonClassName", "")).rpartition(".")[2] or "this feature"
        raise SchemaError(
            f"The TensorFlow Datasets feature {kind} is not supported.",
            found=", ".join(key for key in node if key not in ("pythonClassName", "description")) or "nothing",
            advice="Open the files instead of the folder: the schema is then inferred from the records.",
        )
    dtype, shape, encoding = _tensor_facts(content)
    if encoding != "none" or content.get("lazyDecode"):
        if shape.count(None) > 1:
            raise SchemaError(
                f"A tensor with several variable dimensions in the encoding {encoding!r} is not supported.",
                found=f"{dtype} of shape {shape}",
                expected="the encoding 'bytes', outside of any sequence",
            )
        return "string", ()
    return dtype, shape


def _tensor_facts(tensor: Document) -> tuple[str, Shape, str]:
    return str(tensor.get("dtype", "")), _shape(tensor), str(tensor.get("encoding") or "none").lower()


def _whole(value: Any) -> int:
    """Return a number, which protobuf's JSON writes as a text."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise SchemaError("This is not a 64-bit integer.", found=str(value)[:60])
    return value


def _shape(content: Document) -> Shape:
    sizes = [_whole(size) for size in content.get("shape", {}).get("dimensions", [])]
    return tuple(None if size < 0 else size for size in sizes)


def _image_shape(image: Document) -> Shape:
    shape = _shape(image)[-3:]  # a GIF's has the number of frames in front
    if len(shape) < 3:
        return (None, None, 3)
    return (*shape[:2], shape[2] if shape[2] in (1, 3, 4) else None)


def _listed(dtype: str, shape: Shape, settings: dict[str, Any]) -> Feature:
    if dtype == "text" or dtype in _STRINGS:
        if len(shape) > 1:
            raise SchemaError("Strings with more than one dimension are not supported.", found=f"shape {shape}")
        return Text(shape, **settings) if dtype == "text" else Bytes(shape, **settings)
    if dtype in _INTEGERS:
        # TFDS keeps every integer and bool in an int64 list, and every float in a float list.
        return _numbers(dtype, shape, settings if dtype == "int64" else {**settings, "storage": "list"})
    if dtype in _FLOATS:
        return _numbers("float32", shape, settings)
    raise SchemaError(f"The dtype {dtype!r} is not supported.", expected=", ".join((*_INTEGERS, *_FLOATS, "string")))


def _numbers(dtype: str, shape: Shape, settings: dict[str, Any]) -> Feature:
    found = checked_dtype(dtype)
    return Tensor(found, shape, **settings) if shape else Scalar(found, **settings)
