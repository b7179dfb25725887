"""What a program writes: the features of the tf.train.Examples that it builds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Table, Value, options_of, walk
from recordsmith.doctor.lint.libraries.arrays import dtype_of

__all__ = ["WrittenExample", "WrittenFeature", "features_of", "filled_list", "written_examples"]

_LISTS = {
    "bytes_list": "tensorflow.train.BytesList",
    "float_list": "tensorflow.train.FloatList",
    "int64_list": "tensorflow.train.Int64List",
}
_EXAMPLE = "tensorflow.train.Example"
_SAME_BYTES = {"tensorflow.compat.as_bytes", "builtins.bytes"}
_ENCODER = re.compile(r"tensorflow\.io\.encode_(jpeg|png)")
_OPENS = {"builtins.open", "tensorflow.io.gfile.GFile", ".open"}
_IMAGE_FILE = re.compile(r"\.(jpe?g|png|bmp|gif|webp)\b", re.IGNORECASE)
_KINDS = {"bytes_list": "bytes", "float_list": "float", "int64_list": "int64"}


@dataclass(frozen=True, slots=True)
class WrittenFeature:
    """One feature as it is written.

    Attributes:
        name: the key.
        kind: "bytes", "float" or "int64".
        value: what its list is made of.
        node: where.
    """

    name: str
    kind: str
    value: Value | None
    node: ast.expr | None

    @property
    def single(self) -> Value | None:
        """The one member of its list, where it has one."""
        if isinstance(self.value, Group) and len(self.value.members) == 1:
            return self.value.members[0]
        return None

    @property
    def raw_array(self) -> Value | None:
        """The array whose bytes are written by tobytes."""
        one = _unwrapped(self.single)
        known = isinstance(one, Call) and one.name in (".tobytes", ".tostring")
        return one.receiver if isinstance(one, Call) and known and not _is_encoded(one.receiver) else None

    @property
    def raw_dtype(self) -> str | None:
        """Of an array that is written by tobytes: its dtype, where the source says it."""
        return dtype_of(self.raw_array)

    @property
    def is_serialized_tensor(self) -> bool:
        """It is written by tf.io.serialize_tensor."""
        return any(isinstance(one, Call) and one.name == "tensorflow.io.serialize_tensor" for one in walk(self.single))

    @property
    def tensor_dtype(self) -> str | None:
        """Of a tensor that is written by tf.io.serialize_tensor: its dtype, where the source says it."""
        calls = [one for one in walk(self.single) if isinstance(one, Call)]
        made = next((one for one in calls if one.name == "tensorflow.io.serialize_tensor"), None)
        return None if made is None else dtype_of(made.argument(0, "tensor"))

    @property
    def is_encoded_image(self) -> bool:
        """It is an image file as it is on disk, or what an encoder of images made."""
        one = _unwrapped(self.single)
        if isinstance(one, Call) and one.name in (".tobytes", ".tostring"):
            return _is_encoded(one.receiver)
        return _is_encoded(one) or (_is_file_content(one) and _IMAGE_FILE.search(_words(one)) is not None)


def _unwrapped(value: Value | None) -> Value | None:
    """Bytes without what only makes sure that they are bytes."""
    while isinstance(value, Call) and (value.name in _SAME_BYTES or value.name == ".numpy"):
        value = value.receiver if value.name == ".numpy" else value.argument(0)
    return value


def _is_encoded(value: Value | None) -> bool:
    """What an encoder of images made: of OpenCV, a pair of a flag and the bytes."""
    value = value.base if isinstance(value, Item) else value
    value = _unwrapped(value)
    return isinstance(value, Call) and (value.name == "cv2.imencode" or bool(_ENCODER.fullmatch(value.name)))


def _is_file_content(value: Value | None) -> bool:
    """The bytes of a file as they are: of `open(path, "rb").read()` and its sisters."""
    if not isinstance(value, Call):
        return False
    if value.name in ("tensorflow.io.read_file", ".read_bytes"):
        return True
    opened = value.receiver if value.name == ".read" and not value.args else None
    return isinstance(opened, Call) and opened.name in _OPENS


def _words(value: Value | None) -> str:
    """The texts that a value was made from: the pattern and the suffix of a file's path."""
    return " ".join(one.value for one in walk(value, 100) if isinstance(one, Literal) and isinstance(one.value, str))


@dataclass(frozen=True, slots=True)
class WrittenExample:
    """One place that builds an Example.

    Attributes:
        call: the call of `tf.train.Features`.
        features: by their names.
        complete: False if it may have more features.
        paths: what the files are called that it is written to, as far as the source says it.
    """

    call: Call
    features: dict[str, WrittenFeature]
    complete: bool
    paths: tuple[Value, ...] = ()


def written_examples(calls: Iterable[Call]) -> Iterator[WrittenExample]:
    """Yield what each tf.train.Features is made of."""
    calls = list(calls)
    files: dict[int, list[Value]] = {}
    for call in calls:
        path = _written_path(call)
        if path is not None:
            for one in walk(call.args[0]):
                if isinstance(one, Call) and one.name in ("tensorflow.train.Features", _EXAMPLE):
                    files.setdefault(id(one), []).append(path)
    for call in calls:
        if call.name == "tensorflow.train.Features":
            yield from _examples(call, tuple(files.get(id(call), ())))
    yield from _filled_by_hand(calls, files)


def _filled_by_hand(calls: list[Call], files: dict[int, list[Value]]) -> Iterator[WrittenExample]:
    """Examples that were made empty, and then filled: `example.features.feature["x"].int64_list.value.append(3)`."""
    found: dict[int, tuple[Call, dict[str, WrittenFeature], list[bool]]] = {}
    for call in calls:
        place = _place(call)
        if place is None:
            continue
        example, key = place
        _, features, known = found.setdefault(id(example), (example, {}, []))
        known.append(isinstance(key, Literal) and isinstance(key.value, str))
        name = str(key.value) if isinstance(key, Literal) else ""
        kind = next((short for short, full in _LISTS.items() if full == call.name), None)
        if kind is not None:
            features.setdefault(name, WrittenFeature(name, _KINDS[kind], call.args[0], call.node))
        elif (copied := _feature(name, call.args[0])) is not None:
            features.setdefault(name, copied)
    for example, features, known in found.values():
        yield WrittenExample(example, features, all(known), tuple(files.get(id(example), ())))


def _place(call: Call) -> tuple[Call, Value] | None:
    """The Example and the name of the feature that a call fills."""
    fills = call.name in _LISTS.values() or call.name in (".CopyFrom", ".MergeFrom")
    value: Value | None = call.receiver if fills and call.args else None
    while isinstance(value, Item):
        match value:
            case Item(base=Item(base=Item(base=Call(name=name) as example), index=Literal(value="feature")), index=key):
                return (example, key) if name == _EXAMPLE else None
        value = value.base
    return None


def _written_path(call: Call) -> Value | None:
    """The path of the writer whose `write` this is."""
    if call.name != ".write" or not call.args or not isinstance(call.receiver, Call):
        return None
    return call.receiver.argument(0, "path") if call.receiver.name == "tensorflow.io.TFRecordWriter" else None


def features_of(value: Value | None) -> list[WrittenExample]:
    """Return the Examples that a serialized text was made from."""
    if not any(isinstance(one, Call) and one.name == ".SerializeToString" for one in options_of(value)):
        return []
    return list(written_examples(one for one in walk(value) if isinstance(one, Call)))


def filled_list(receiver: Value, method: str) -> str | None:
    """Return which list of a proto a method fills, as "tensorflow.train.BytesList" for `x.bytes_list.value.append`."""
    match receiver:
        case Item(base=Item(index=Literal(value=str() as kind)), index=Literal(value="value"), attribute=True):
            return _LISTS.get(kind) if method in ("append", "extend") else None
    return None


def _examples(call: Call, paths: tuple[Value, ...]) -> Iterator[WrittenExample]:
    for table in options_of(call.argument(0, "feature")):
        if isinstance(table, Table):
            found: dict[str, WrittenFeature] = {}
            for name, value in table.entries.items():
                for option in options_of(value):
                    feature = _feature(str(name), option)
                    if feature is not None:
                        found.setdefault(str(name), feature)
            known = all(isinstance(name, str) for name in table.entries)
            yield WrittenExample(call, found, table.complete and known and len(found) == len(table.entries), paths)
        else:
            yield WrittenExample(call, {}, complete=False, paths=paths)


def _feature(name: str, value: Value) -> WrittenFeature | None:
    if not isinstance(value, Call) or value.name != "tensorflow.train.Feature":
        return None
    for keyword, kind in _KINDS.items():
        given = value.argument(None, keyword)
        if isinstance(given, Call) and given.name.startswith("tensorflow.train."):
            return WrittenFeature(name, kind, given.argument(0, "value"), given.node)
    return None
