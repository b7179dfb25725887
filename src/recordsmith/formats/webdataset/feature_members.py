"""Values as members of an exported WebDataset, and back: which member of a sample holds which feature.

0000000000.jpg         a feature `image`, by the format that the image has
0000000000.cls         a feature `label`: the number of the class
0000000000.NAME.png    other images; NAME.cls other labels
0000000000.NAME.wav    sounds, by the format that each has
0000000000.NAME.txt    text
0000000000.NAME.bin    bytes
0000000000.NAME.npy    tensors, in numpy's format
0000000000.NAME.json   anything else, as in JSON lines
0000000000.empty.json  a sample that has no value at all
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from recordsmith.audio import FORMATS, audio_format
from recordsmith.formats.arrays.npy_format import array_of_bytes
from recordsmith.formats.exported.values import compact_json, plain_value, restored_value
from recordsmith.formats.json_lines.json_text import parse_json
from recordsmith.images import read_header
from recordsmith.schema import Audio, Bytes, Feature, Image, Label, Schema, Tensor, Text
from recordsmith.schema.features.encoded import EncodedFeature

__all__ = ["EMPTY", "features_by_extension", "member_of", "members_of", "value_of"]

EMPTY = "empty.json"
_IMAGES = {"jpeg": "jpg", "png": "png", "webp": "webp", "bmp": "bmp", "gif": "gif"}
_LONGEST_STEM = 60  # the name of a member of a tar file has at most 100 characters
_SOUNDS = {name: name for name in FORMATS}
_ANY = "*"  # in place of a format, where it varies


def members_of(schema: Schema) -> dict[str, str]:
    """Return the extension that the members of each feature have; * stands for an image's own format.

    >>> members_of(Schema({"image": Image(encoding="png"), "label": Label(2), "a/b": Text(), "view": Image()}))
    {'image': 'png', 'label': 'cls', 'a/b': 'a_b.txt', 'view': 'view.*'}
    """
    members: dict[str, str] = {}
    stems: set[str] = {"empty"}
    taken: dict[str, int] = {}  # the last number that was added to a stem
    for name, feature in schema.items():
        kind = _kind(feature)
        plain = re.sub(r"[^a-z0-9_]+", "_", name.lower())[:_LONGEST_STEM] or "_"
        stem = plain
        while stem in stems:
            taken[plain] = taken.get(plain, 1) + 1
            stem = f"{plain}{taken[plain]}"
        stems.add(stem)
        bare = (name == "image" and isinstance(feature, Image)) or (name == "label" and isinstance(feature, Label))
        members[name] = kind if bare else f"{stem}.{kind}"
    return members


def member_of(extension: str, feature: Feature, value: Any) -> tuple[str, bytes]:
    """Return the extension and the content of the member that holds a value.

    >>> member_of("tokens.json", Text((None,)), ["a", "b"])
    ('tokens.json', b'["a", "b"]')
    """
    kind = extension.rpartition(".")[2]
    if isinstance(feature, EncodedFeature):
        if kind == _ANY:
            extension = extension.removesuffix(_ANY) + _own_format(feature, value)
        return extension, value
    if kind == "cls":
        return extension, str(int(value)).encode()
    if kind == "txt":
        return extension, value.encode()
    if kind == "bin":
        return extension, value
    if kind == "npy":
        stream = io.BytesIO()
        np.save(stream, np.asarray(value), allow_pickle=False)
        return extension, stream.getvalue()
    return extension, compact_json(plain_value(feature, value)).encode()


def features_by_extension(members: Mapping[str, str]) -> dict[str, str]:
    """Return the feature that each extension stands for, from what `members_of` returned.

    >>> features_by_extension({"label": "cls", "view": "view.*"})["view.png"]
    'view'
    """
    found: dict[str, str] = {}
    for name, extension in members.items():
        if extension.endswith(_ANY):
            stem = extension.removesuffix(_ANY)
            found |= {stem + kind: name for kind in (*_IMAGES.values(), *_SOUNDS, "bin")}
        else:
            found[extension] = name
    return found


def value_of(extension: str, feature: Feature, data: bytes) -> Any:
    """Return the value that a member holds.

    >>> value_of("tokens.json", Text((None,)), b'["a", "b"]')
    ['a', 'b']
    """
    kind = extension.rpartition(".")[2]
    if isinstance(feature, (EncodedFeature, Bytes)) and kind != "json":
        return data
    if kind == "cls":
        return int(data)
    if kind == "txt":
        return data.decode()
    if kind == "npy":
        return array_of_bytes(data)
    return restored_value(feature, parse_json(data))


def _own_format(feature: EncodedFeature, value: bytes) -> str:
    if isinstance(feature, Audio):
        return audio_format(value) or "bin"
    header = read_header(value)
    return "bin" if header is None else _IMAGES.get(header.format, "bin")


def _kind(feature: Feature) -> str:
    if isinstance(feature, (Image, Audio)):
        return _ANY if feature.encoding is None else {**_IMAGES, **_SOUNDS}[feature.encoding]
    if isinstance(feature, Label):
        return "cls"
    if isinstance(feature, (Text, Bytes)) and not feature.shape:
        return "txt" if isinstance(feature, Text) else "bin"
    return "npy" if isinstance(feature, Tensor) else "json"
