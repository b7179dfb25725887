"""Whether what is read is what was written: the paths of readers and writers, as far as the source says them."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Literal,
    Many,
    Operation,
    Parameter,
    Value,
    options_of,
    walk,
)

__all__ = ["are_known", "paths_meet", "read_paths"]

_READERS = {"tensorflow.data.TFRecordDataset", "tensorflow.data.Dataset.list_files", "tensorflow.io.tf_record_iterator"}
_LISTS = re.compile(r"(glob\.i?glob|tensorflow\.io\.gfile\.glob|builtins\.(sorted|list)|\.glob|tensorflow\.constant)")
_FIELD = re.compile(r"%[-0-9.]*[sdif]|\{[^{}]*\}")
_LEAST_LETTERS = 3


def read_paths(serialized: Value | None) -> Iterator[Value]:
    """Yield what the files are called that a serialized record was read from."""
    for one in walk(serialized):
        if isinstance(one, Call) and one.name in _READERS:
            given = one.argument(0, "filenames", "file_pattern", "path")
            if given is not None and not isinstance(given, Element):
                yield given


def paths_meet(read: Iterable[Value], written: Iterable[Value]) -> bool:
    """Tell whether a file that is read is certainly one that is written: by the same variable, or by a name that fits.

    >>> name = Operation("text", (Literal("data/train-"), Parameter("number"), Literal(".tfrecord")))
    >>> paths_meet([Literal("data/train-*.tfrecord")], [name])
    True
    >>> paths_meet([Literal("a.tfrecord")], [Literal("b.tfrecord")])
    False
    """
    reads = [one for value in read for one in _pieces(value)]
    writes = [one for value in written for one in _pieces(value)]
    return any(_meets(one, other) for one in reads for other in writes)


def are_known(paths: Iterable[Value]) -> bool:
    """Tell whether the source says what all of these files are called."""
    pieces = [one for value in paths for one in _pieces(value)]
    patterns = [_pattern(one) for one in pieces]
    return bool(pieces) and all(one is not None and "*" not in os.path.dirname(one) for one in patterns)


def _pieces(value: Value) -> Iterator[Value]:
    for one in options_of(value):
        if isinstance(one, Group):
            for member in one.members:
                yield from _pieces(member)
        elif isinstance(one, Many):
            yield from _pieces(one.member)
        elif isinstance(one, Call) and _LISTS.fullmatch(one.name):
            given = one.argument(0, "pathname", "pattern")
            yield from _pieces(given) if given is not None else ()
        else:
            yield one


def _meets(read: Value, written: Value) -> bool:
    if read is written:
        return not isinstance(read, Literal) or isinstance(read.value, str)
    one, other = _pattern(read), _pattern(written)
    if one is None or other is None:
        return False
    parts, others = _unknown_parts(read), _unknown_parts(written)
    if one == other and parts == others and len(parts) >= one.count("*"):
        return True
    folders = os.path.dirname(one), os.path.dirname(other)
    if folders[0] != folders[1] or ("*" in folders[0] and not set(parts) & set(others)):
        return False
    names = os.path.basename(one), os.path.basename(other)
    plain = [re.sub(r"\*+|\?|\[.*?\]", "0", name) for name in names]
    fits = fnmatch.fnmatch(plain[1], names[0]) or fnmatch.fnmatch(plain[0], names[1])
    letters = [re.sub(r"[^A-Za-z]", "", name.partition(".")[0].replace("*", "")) for name in names]
    return fits and min(map(len, letters)) >= _LEAST_LETTERS


def _unknown_parts(value: Value) -> list[int]:
    """The variables that a path is made of, in their order."""
    return [id(part) for part in walk(value) if isinstance(part, Parameter | Call) and part is not value]


def _pattern(value: Value) -> str | None:
    """A name with `*` for what is not known; None where nothing is."""
    match value:
        case Literal(value=str() as text):
            return _FIELD.sub("*", text)
        case Literal(value=constant):
            return str(constant)
        case Operation(operator="text" | "+" | "/", operands=operands):
            joint = "/" if value.operator == "/" else ""
            return joint.join(_pattern(one) or "*" for one in operands)
        case Operation(operator="%", operands=(Literal(value=str() as text), *_)):
            return _FIELD.sub("*", text)
        case Call(name=".format", receiver=Literal(value=str() as text)):
            return _FIELD.sub("*", text)
        case Call(name="os.path.join" | "pathlib.Path", args=args) if args:
            return os.path.join(*(_pattern(one) or "*" for one in args))
        case Call(name="builtins.str" | "os.fspath" | ".as_posix", args=args, receiver=receiver):
            inner = args[0] if args else receiver
            return None if inner is None else _pattern(inner)
        case Parameter(default=Literal(value=str() as text)):
            return text
    return None
