"""A schema as TensorFlow Datasets keeps it: features.json, the files of class names, and dataset_info.json.

Scalar, Tensor            Tensor; encoding "bytes" for those stored as bytes
Text, Bytes               Text, Tensor of strings; several strings: Sequence(Text), Tensor of strings
Label, Image, Mask        ClassLabel, Image, Image
Audio                     Audio that TFDS decodes when it is read, with the rate and the format
Labels, Boxes             Sequence(ClassLabel), Sequence(BBox); Boxes and Points in several lists: a dict of Tensors
Packed                    Tensor of one string: TFDS gives the bytes as they are
Sparse                    a dict of indices and values
names with "/"            nested dicts, which TFDS stores under names with "/"
Sequence                  Sequence; below "steps/", with the "steps/is_first" of RLDS, all of it is a Dataset of steps
Steps                     cannot be expressed: TFDS reads tf.train.Example, and no SequenceExample
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from recordsmith.errors import SchemaError
from recordsmith.schema import Audio, Boxes, Feature, Image, Label, Labels, Packed, Sparse, Steps, Tensor, Text
from recordsmith.schema import Sequence as SequenceFeature
from recordsmith.schema.features.detection.geometry import SplitTensor
from recordsmith.schema.features.numeric import NumericFeature
from recordsmith.schema.features.strings import StringFeature
from recordsmith.storage.atomic_file import write_text_atomically
from recordsmith.storage.publication import Publication
from recordsmith.wording.visible_text import json_text

__all__ = ["dataset_info", "named_labels", "tfds_features", "tfds_label_files", "write_tfds_metadata"]

FEATURES_NAME = "features.json"
DATASET_INFO_NAME = "dataset_info.json"
FILE_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"

_PACKAGE = "tensorflow_datasets.core.features"
STEPS = "steps/"  # what the names of RLDS begin with

_ANIMATED = ("gif", "webp")  # TensorFlow decodes them with a first dimension of frames


def tfds_features(schema: Mapping[str, Feature]) -> dict[str, Any]:
    """Return what belongs into features.json.

    >>> from recordsmith.schema import Scalar
    >>> document = tfds_features({"box/height": Scalar("float32")})
    >>> document["featuresDict"]["features"]["box"]["featuresDict"]["features"]["height"]["tensor"]
    {'shape': {}, 'dtype': 'float32', 'encoding': 'none'}
    """
    root: dict[str, Any] = {}
    for name, feature in schema.items():
        *parents, last = _path(name, schema)
        features = root
        for parent in parents:
            features = features.setdefault(parent, _dict_node({}))["featuresDict"]["features"]
        try:
            node = _node(feature)
        except SchemaError as error:
            raise error.at(feature=name) from None
        if feature.description:
            node["description"] = feature.description
        features[last] = node
    if is_rlds(schema):
        root["steps"] = _dataset_of_steps(root["steps"])
    return _dict_node(root)


def is_rlds(schema: Mapping[str, Feature]) -> bool:
    """Say whether records are episodes as RLDS has them: below "steps/" are lists, one entry for each step.

    >>> first = Tensor("bool", (None,), storage="list")
    >>> is_rlds({"steps/is_first": first, "steps/action": Tensor("float32", (None, 7))})
    True
    """
    inside = [feature for name, feature in schema.items() if name.startswith(STEPS)]
    return f"{STEPS}is_first" in schema and all(map(_is_list, inside)) and STEPS[:-1] not in schema


def _is_list(feature: Feature) -> bool:
    """Say whether a feature is a list of any length, in which every entry has the same form."""
    if feature.optional:
        return False
    if isinstance(feature, SequenceFeature):
        return feature.length is None
    if isinstance(feature, StringFeature):
        return feature.shape == (None,)
    is_numbers = isinstance(feature, Tensor) and feature.stored_as == "list"
    return is_numbers and feature.shape[:1] == (None,) and feature.shape.count(None) == 1


def _dataset_of_steps(node: dict[str, Any]) -> dict[str, Any]:
    """Return the description of all steps from that of lists, one for each feature of a step."""
    return _content("dataset_feature.Dataset", sequence={"feature": _without_lists(node), "length": "-1"})


def _without_lists(node: dict[str, Any]) -> dict[str, Any]:
    if "featuresDict" in node:
        inside = node["featuresDict"]["features"]
        return _dict_node({name: _without_lists(one) for name, one in inside.items()})
    if "sequence" in node:
        return {**node["sequence"]["feature"], **_described(node)}
    tensor = node["tensor"]
    shape = tensor["shape"]["dimensions"][1:]
    kept = {**tensor, "shape": {"dimensions": shape} if shape else {}}
    return {**node, "tensor": kept}


def _described(node: dict[str, Any]) -> dict[str, Any]:
    return {"description": node["description"]} if "description" in node else {}


def tfds_label_files(schema: Mapping[str, Feature]) -> dict[str, str]:
    """Return the names and contents of the files with class names, one for each Label that has names.

    >>> tfds_label_files({"animal/kind": Label(["cat", "dog"])})["animal-kind.labels.txt"].split()
    ['cat', 'dog']
    """
    files = {}
    for file, (name, feature) in named_labels(schema).items():
        for label in feature.names:
            if label != label.strip():
                raise SchemaError(
                    "TensorFlow Datasets strips white space around class names.",
                    feature=name,
                    found=repr(label),
                    advice="Remove the white space from the class name.",
                )
        files[file] = "".join(f"{label}\n" for label in feature.names)
    return files


def named_labels(schema: Mapping[str, Feature]) -> dict[str, tuple[str, Label | Labels]]:
    """Return the labels whose classes have names, with the names of their features, by the files that TFDS reads."""
    return {
        label_file_name(_path(name, schema)): (name, feature)
        for name, feature in schema.items()
        if isinstance(feature, (Label, Labels)) and feature.names != tuple(map(str, range(feature.size)))
    }


def label_file_name(path: Sequence[str]) -> str:
    """Return the name that TFDS gives to the file of a label's names; `path` is its place in the nested dicts."""
    *parents, last = path
    # A parent's own slashes have become dots before the join, as the label's have.
    return "-".join([*(parent.replace("/", ".") for parent in parents), last.replace("/", ".")]) + ".labels.txt"


def dataset_info(  # noqa: PLR0913 - each is an entry of the file, and named
    name: str,
    splits: Mapping[str, Sequence[int]],
    *,
    version: str = "1.0.0",
    description: str = "",
    citation: str = "",
    license: str = "",  # noqa: A002 - as TFDS calls it
    homepage: str = "",
    split_bytes: Mapping[str, int] | None = None,
    supervised: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Return what belongs into dataset_info.json.

    Args:
        name: the dataset's name; the files are called `{name}-{split}.tfrecord-00000-of-00004`.
        splits: how many records each file of a split has.
        version: three numbers with dots.
        description: what the data is.
        citation: how to cite it.
        license: under which conditions it may be used.
        homepage: the URL of a page about it.
        split_bytes: how many bytes the files of a split have.
        supervised: the names of the input and of the label, for tfds.load(..., as_supervised=True).

    >>> info = dataset_info("pets", {"train": [10, 8]})
    >>> info["splits"][0]["shardLengths"]
    ['10', '8']
    """
    sizes = split_bytes or {}
    info: dict[str, Any] = {
        "name": name,
        "version": version,
        "description": description,
        "fileFormat": "tfrecord",
        "splits": [
            {
                "name": split,
                "shardLengths": [str(length) for length in lengths],  # 64-bit numbers are strings in protobuf's JSON
                "numBytes": str(sizes.get(split, 0)),
                "filepathTemplate": FILE_TEMPLATE,
            }
            for split, lengths in splits.items()
        ],
    }
    if citation:
        info["citation"] = citation
    if license:
        info["redistributionInfo"] = {"license": license}
    if homepage:
        info["location"] = {"urls": [homepage]}
    if supervised is not None:
        info["supervisedKeys"] = {"tuple": {"items": [{"featureKey": key} for key in supervised]}}
    return info


def write_tfds_metadata(
    folder: str | os.PathLike[str],
    schema: Mapping[str, Feature],
    name: str,
    splits: Mapping[str, Sequence[int]],
    **settings: Any,
) -> tuple[str, ...]:
    """Write what tfds.builder_from_directory needs next to the shards, and return the names of the files.

    Nothing is written if TFDS cannot express the schema: that is a SchemaError. `settings` are those of
    `dataset_info`.

    >>> import tempfile
    >>> from recordsmith.schema import Text
    >>> write_tfds_metadata(tempfile.mkdtemp(), {"a": Text()}, "words", {"train": [3]})
    ('features.json', 'dataset_info.json')
    """
    files = {
        FEATURES_NAME: _json_text(tfds_features(schema)),
        **tfds_label_files(schema),
        DATASET_INFO_NAME: _json_text(dataset_info(name, splits, **settings)),
    }
    with Publication(os.fspath(folder)) as publication:  # readers see all old files, or all new ones
        for file, text in files.items():
            write_text_atomically(publication.new_file(file), text)
        publication.commit(list(files))
    return tuple(files)


def _json_text(document: Any) -> str:
    return json_text(document, indent=4) + "\n"


def _path(name: str, schema: Mapping[str, Feature]) -> list[str]:
    """Cut a name into its place in nested dicts; where a part of it is a feature itself, it stays whole from there."""
    parts = name.split("/")
    for end in range(1, len(parts)):
        if "/".join(parts[:end]) in schema:
            return [*parts[: end - 1], "/".join(parts[end - 1 :])]
    return parts


def _dict_node(features: dict[str, Any]) -> dict[str, Any]:
    return {"pythonClassName": f"{_PACKAGE}.features_dict.FeaturesDict", "featuresDict": {"features": features}}


def _node(feature: Feature) -> dict[str, Any]:
    if isinstance(feature, Steps):
        raise SchemaError(
            "TensorFlow Datasets cannot express Steps: it reads tf.train.Example, and steps are in a SequenceExample.",
            found=feature,
            advice="Declare a Tensor with a variable first dimension, or do not write TFDS files.",
        )
    if isinstance(feature, SequenceFeature):
        if feature.optional:
            raise _not_optional(feature)
        length = -1 if feature.length is None else feature.length
        inner = {"feature": _node(feature.feature), "length": str(length)}
        return _content("sequence_feature.Sequence", sequence=inner)
    if isinstance(feature, StringFeature):
        return _strings(feature)
    if isinstance(feature, NumericFeature):
        return _objects(feature) or _numbers(feature)
    if feature.optional and isinstance(feature, (Label, Image, Audio)):
        raise _not_optional(feature)
    if isinstance(feature, Label):
        return _class_label(feature.size)
    if isinstance(feature, Image):
        return _image(feature)
    if isinstance(feature, Audio):
        return _audio(feature)
    if isinstance(feature, Packed):
        return _tensor("string", (), optional=feature.optional)
    if isinstance(feature, Sparse):
        if feature.default is not None:
            raise _not_optional(feature)
        # Two lists, which read as empty where they are missing.
        return _dict_node({"indices": _tensor("int64", (None,)), "values": _tensor(feature.dtype.name, (None,))})
    raise SchemaError(f"TensorFlow Datasets has no equivalent of {type(feature).__name__}.", found=feature)


def _objects(feature: NumericFeature) -> dict[str, Any] | None:
    """Return the description of boxes, points and classes of objects; None for any other numbers."""
    if isinstance(feature, SplitTensor) and feature.split:
        if feature.default is not None:
            raise _not_optional(feature)
        return _dict_node({name: _tensor("float32", feature.shape[:-1]) for name in feature.coordinates})
    if isinstance(feature, Boxes):
        box = {"shape": _shape((4,)), "dtype": "float32", "bboxFormat": "REL_YXYX"}
        return _sequence(_content("bounding_boxes.BBoxFeature", boundingBox=box))
    return _sequence(_class_label(feature.size)) if isinstance(feature, Labels) else None


def _strings(feature: StringFeature) -> dict[str, Any]:
    if isinstance(feature, Text) and not feature.optional:
        text = _content("text_feature.Text", text={})
        if not feature.shape:
            return text
        return _sequence(text, -1 if feature.shape[0] is None else feature.shape[0])
    return _tensor("string", feature.shape, optional=feature.optional and None not in feature.shape)


def _sequence(node: dict[str, Any], length: int = -1) -> dict[str, Any]:
    return _content("sequence_feature.Sequence", sequence={"feature": node, "length": str(length)})


def _class_label(size: int) -> dict[str, Any]:
    return _content("class_label_feature.ClassLabel", classLabel={"numClasses": str(size)})


def _numbers(feature: NumericFeature) -> dict[str, Any]:
    shape = feature.row_shape
    if feature.stored_as == "list":
        if shape.count(None) > 1:
            raise SchemaError(
                "TensorFlow Datasets can read several variable dimensions only from bytes.",
                found=feature,
                advice="Declare storage='bytes'.",
            )
        # A missing list reads as an empty one by itself.
        return _tensor(feature.dtype.name, shape, optional=feature.optional and None not in shape)
    if feature.dtype.name == "uint32":
        raise SchemaError(
            "TensorFlow Datasets cannot decode uint32 from bytes.",
            found=feature,
            advice="Declare storage='list', or int64.",
        )
    if feature.optional:
        raise _not_optional(feature)
    if feature.packing == "bfloat16":
        return _tensor("bfloat16", shape, encoding="bytes")
    return _tensor(feature.dtype.name, shape, encoding=feature.packing or "bytes")


def _tensor(
    dtype: str, shape: Sequence[int | None], *, encoding: str = "none", optional: bool = False
) -> dict[str, Any]:
    tensor: dict[str, Any] = {"shape": _shape(shape), "dtype": dtype, "encoding": encoding}
    if optional:
        tensor["optional"] = True
    return _content("tensor_feature.Tensor", tensor=tensor)


def _image(feature: Image) -> dict[str, Any]:
    shape = feature.shape
    image: dict[str, Any] = {"dtype": feature.pixel_type}
    if feature.encoding in _ANIMATED:
        image["shape"] = _shape((None, *shape))
    else:
        image["shape"] = _shape(shape)
        if feature.encoding in ("jpeg", "png") and feature.channels is not None and feature.pixel_type != "float32":
            image["encodingFormat"] = feature.encoding
    return _content("image_feature.Image", image=image)


def _audio(feature: Audio) -> dict[str, Any]:
    # TFDS takes these dtypes of FLAC alone, and any of the others; channels are mixed as the shape says.
    audio: dict[str, Any] = {
        "shape": _shape((None,) if feature.channels in (None, 1) else (None, feature.channels)),
        "dtype": "int16" if feature.encoding == "flac" else "int64",
        "encoding": "NONE",
        "lazyDecode": True,
    }
    if feature.encoding is not None:
        audio["fileFormat"] = feature.encoding
    if feature.rate is not None:
        audio["sampleRate"] = str(feature.rate)
    return _content("audio_feature.Audio", audio=audio)


def _content(class_name: str, **content: Any) -> dict[str, Any]:
    return {"pythonClassName": f"{_PACKAGE}.{class_name}", **content}


def _shape(shape: Sequence[int | None]) -> dict[str, Any]:
    return {"dimensions": [str(-1 if size is None else size) for size in shape]} if shape else {}


def _not_optional(feature: Feature) -> SchemaError:
    return SchemaError(
        "TensorFlow Datasets cannot read records that lack a feature, unless the feature is a list.",
        found=feature,
        advice="Give every record a value, or for numbers declare storage='list'.",
    )
