"""Features from the features.json of TensorFlow Datasets, as they are stored in its records.

    ClassLabel, Image         Label, Image. The encoding is left open: TFDS keeps the bytes of a file as they were,
                              whatever encoding it declares
    Tensor, Scalar            Tensor, Scalar; a list of int64 or float32 unless its encoding is "bytes" or "zlib"
    Text, Translation         Text; of languages that vary, the lists language and translation
    BBoxFeature, Audio        Tensor; Audio that is kept as a file: Audio
    Sequence, Dataset         one more dimension on each feature inside; of BBoxFeature Boxes, of named classes Labels;
                              Sequence where that cannot be
    Video                     Sequence of Image
    bfloat16                  float32, which has all its values

Anything else is a SchemaError.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from recordsmith.errors import SchemaError
from recordsmith.schema import Audio, Boxes, Bytes, Feature, Image, Label, Labels, Scalar, Sequence, Tensor, Text
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

    def _of_objects(self, node: Document, path: tuple[str, ...]) -> Feature | None:
        """Return the boxes or the named classes of several objects; None for anything else."""
        described: dict[str, Any] = {"description": node["description"]} if node.get("description") else {}
        if "boundingBox" in node and node["boundingBox"].get("dtype", "float32") == "float32":
            form = node["boundingBox"].get("bboxFormat") or "REL_YXYX"
            return Boxes(split=False, **described) if form == "REL_YXYX" else None
        names = self._class_names(path) if "classLabel" in node else []
        count = _whole(node["classLabel"].get("numClasses", 0)) if names else 0
        return Labels(names, **described) if names and count == len(names) == len(set(names)) else None

    def _walk(self, node: Document, path: tuple[str, ...], lengths: Shape) -> None:
        if "featuresDict" in node:
            for key, child in node["featuresDict"].get("features", {}).items():
                self._walk(child, (*path, key), lengths)
        elif "sequence" in node:
            length = _whole(node["sequence"].get("length", 0))
            self._walk(node["sequence"]["feature"], path, (*lengths, None if length < 0 else length))
        elif "translation" in node and node["translation"].get("variableLanguagesPerExample"):
            for part in ("language", "translation"):
                self._walk({"sequence": {"feature": {"text": {}}, "length": -1}}, (*path, part), lengths)
        elif "translation" in node:
            for language in node["translation"].get("languages", []):
                self._walk({"text": {}}, (*path, language), lengths)
        elif lengths == (None,) and (objects := self._of_objects(node, path)) is not None:
            self._found["/".join(path)] = objects
        else:
            try:
                self._leaf(node, path, lengths)
            except SchemaError as error:
                raise error.at(feature="/".join(path)) from None

    def _leaf(self, node: Document, path: tuple[str, ...], lengths: Shape) -> None:
        name = "/".join(path)
        described: dict[str, Any] = {"description": node["description"]} if node.get("description") else {}
        if "video" in node:
            shape = _shape(node["video"])
            lengths = (*lengths, *(shape[:1] or (None,)))
            node = {"image": {**node["video"], "shape": {"dimensions": [-1 if s is None else s for s in shape[1:]]}}}
        if not lengths:
            self._found[name] = self._single(node, path, described)
            return
        listed = _listed_as(node) if len(lengths) == 1 else None
        if listed is not None:
            dtype, shape = listed
            self._found[name] = _listed(dtype, (*lengths, *shape), described)
            return
        feature = self._single(node, path, {})
        for place, length in enumerate(reversed(lengths)):
            said = described if place == len(lengths) - 1 else {}
            feature = Sequence(feature, length=length, **said)
        self._found[name] = feature

    def _single(self, node: Document, path: tuple[str, ...], described: dict[str, Any]) -> Feature:
        """Return the feature of one value."""
        if "classLabel" in node:
            return self._label(node["classLabel"], path, described)
        if "image" in node:
            dtype = node["image"].get("dtype") or "uint8"
            if dtype not in ("uint8", "uint16", "float32"):
                raise SchemaError("Images of this dtype are not supported.", found=dtype)
            height, width, channels = _image_shape(node["image"])
            channels = 1 if dtype == "float32" else channels
            return Image(height, width, channels=channels, pixel_type=dtype, **described)
        if "audio" in node and node["audio"].get("lazyDecode"):
            rate = _whole(node["audio"].get("sampleRate", 0))
            return Audio(rate=rate if rate > 0 else None, **described)
        if "tensor" in node or "audio" in node:
            return _tensor(node.get("tensor", node.get("audio", {})), described)
        dtype, shape = _listed_as(node) or ("", ())
        return _listed(dtype, shape, described)

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


def _tensor(tensor: Document, described: dict[str, Any]) -> Feature:
    """Return the feature of a tensor by the way in which it is encoded."""
    dtype, shape, encoding = _tensor_facts(tensor)
    settings: dict[str, Any] = {"optional": True, **described} if tensor.get("optional") else dict(described)
    if encoding == "none":
        return _listed(dtype, shape, settings)
    if encoding not in ("bytes", "zlib") or dtype not in (*_INTEGERS, *_FLOATS):
        raise SchemaError("This encoding of tensors is not supported.", found=f"{encoding!r} of {dtype}")
    if dtype == "bfloat16":
        if encoding == "zlib":
            return Bytes(**settings)  # what is stored: compressed, and of a dtype that numpy does not have
        return _numbers("float32", shape, {**settings, "storage": "bfloat16"})
    # Said only where it would usually be stored in another way.
    usual = encoding == "bytes" and (dtype not in ("float32", "int64") or shape.count(None) > 1)
    return _numbers(dtype, shape, settings if usual else {**settings, "storage": encoding})


def _listed_as(node: Document) -> tuple[str, Shape] | None:
    """Return the dtype and shape of what is stored in a list of an Example; None if it is encoded in some way."""
    if "text" in node:
        return "text", ()
    if "classLabel" in node:
        return "int64", ()
    if "image" in node:
        return None
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
    return None if encoding != "none" or content.get("lazyDecode") else (dtype, shape)


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
        wide = dtype in ("float32", "bfloat16")
        return _numbers("float32" if wide else dtype, shape, settings if wide else {**settings, "storage": "list"})
    raise SchemaError(f"The dtype {dtype!r} is not supported.", expected=", ".join((*_INTEGERS, *_FLOATS, "string")))


def _numbers(dtype: str, shape: Shape, settings: dict[str, Any]) -> Feature:
    found = checked_dtype(dtype)
    return Tensor(found, shape, **settings) if shape else Scalar(found, **settings)
