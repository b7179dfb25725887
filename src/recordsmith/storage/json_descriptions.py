"""Reads untrusted JSON that describes data, within limits, with entries by name and type.

    manifests, features.json, dataset_info.json, schemas, vocabularies, baselines, notes of an unfinished run

Whatever is wrong with one is an error that names the file and the entry, as in `splits.train.shards[0].file`.
docs/limits.md states the limits.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from recordsmith.errors import SchemaError
from recordsmith.storage.publication import in_force
from recordsmith.storage.ranged.opening import is_ranged, read_remote

__all__ = ["JsonLimits", "JsonObject", "parse_json", "read_bounded", "read_json", "read_json_object"]

_INT64 = 2**63
_UINT64 = 2**64


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """How large a description may be.

    Attributes:
        bytes: of the whole text.
        values: numbers, texts, lists and objects, counted by the commas and brackets between them.
        depth: lists and objects in each other.
        text: characters of one text or name.
        surrogates: halves of characters are allowed, by which a vocabulary keeps bytes that are not UTF-8.
    """

    bytes: int = 128 << 20
    values: int = 8_000_000
    depth: int = 64
    text: int = 1 << 20
    surrogates: bool = False


_DESCRIPTION = JsonLimits()


def read_json(path: str | os.PathLike[str], what: str, limits: JsonLimits = _DESCRIPTION) -> Any:
    """Read a file of JSON; `what` says in an error what it should be.

    >>> read_json("nowhere/recordsmith.json", "manifest")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'nowhere/recordsmith.json'
    """
    return parse_json(read_bounded(path, what, limits.bytes), what, os.fspath(path), limits)


def read_json_object(path: str | os.PathLike[str], what: str, limits: JsonLimits = _DESCRIPTION) -> JsonObject:
    """Read a file that holds one JSON object.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = file.write_text('{"records": 3}')
    >>> read_json_object(file, "manifest").count("records")
    3
    """
    return JsonObject.of(read_json(path, what, limits), what, os.fspath(path))


def read_bounded(path: str | os.PathLike[str], what: str, limit: int = _DESCRIPTION.bytes) -> bytes:
    """Read a whole file that is not larger than a limit, as it is in force (see recordsmith.storage.publication).

    >>> read_bounded(os.devnull, "manifest")
    b''
    """
    name = os.fspath(path)
    if is_ranged(name):
        raw = read_remote(name, limit + 1)
    else:
        with open(in_force(name), "rb") as file:
            raw = file.read(limit + 1)
    if len(raw) > limit:
        raise SchemaError(f"The {what} is too large.", path=path, expected=f"at most {limit:,} bytes")
    return raw


def parse_json(raw: bytes | str, what: str, path: str | None = None, limits: JsonLimits = _DESCRIPTION) -> Any:
    r"""Parse JSON text. Repeated keys, NaN and infinities, and anything beyond the limits are refused.

    >>> parse_json('{"a": [1, 2]}', "manifest")
    {'a': [1, 2]}
    >>> parse_json('{"a": 1, "a": 2}', "manifest")
    Traceback (most recent call last):
    recordsmith.errors.SchemaError: The manifest has the key 'a' twice in one object.
    """
    wrong = _Wrong(what, path)
    size = len(raw)
    comma, bracket, brace = (",", "[", "{") if isinstance(raw, str) else (b",", b"[", b"{")
    if size > limits.bytes:
        wrong.stop("is too large", expected=f"at most {limits.bytes:,} bytes")
    values = raw.count(comma) + raw.count(bracket) + raw.count(brace)  # type: ignore[arg-type]  # both str or both bytes
    if values > limits.values:
        wrong.stop("has too many values", found=f"about {values:,}", expected=f"at most {limits.values:,}")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            seen: set[str] = set()
            twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            wrong.stop(f"has the key {twice[:100]!r} twice in one object")
        return entries

    def no_number(constant: str) -> NoReturn:
        wrong.stop(f"has {constant}, which is not a JSON number")

    try:
        text = raw if isinstance(raw, str) else raw.decode(json.detect_encoding(raw))
        document = json.loads(text, object_pairs_hook=unique, parse_constant=no_number)
    except SchemaError:
        raise
    except RecursionError:
        wrong.stop("is nested too deeply", expected=f"at most {limits.depth} levels of nested lists and objects")
    except ValueError as error:  # not JSON, not UTF-8, or a number of thousands of digits
        raise SchemaError(f"The {what} is not JSON: {str(error)[:200]}", path=path) from None
    _check(document, limits, wrong)
    return document


class _Wrong:
    """What is read, for errors about it."""

    def __init__(self, what: str, path: str | None) -> None:
        self._what, self._path = what, path

    def stop(self, problem: str, **facts: str) -> NoReturn:
        raise SchemaError(f"The {self._what} {problem}.", path=self._path, **facts) from None  # type: ignore[arg-type]


def _check(document: Any, limits: JsonLimits, wrong: _Wrong) -> None:
    """Refuse what json.loads takes and nobody should: depth, long texts, numbers outside of 64 bits, surrogates."""
    level: list[Any] = [document]
    for _ in range(limits.depth + 1):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                for name in value:
                    _check_text(name, limits, wrong)
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            elif isinstance(value, str):
                _check_text(value, limits, wrong)
            elif isinstance(value, float):
                if not math.isfinite(value):
                    wrong.stop("has a number that does not fit in a float64")
            elif isinstance(value, int) and not -_INT64 <= value < _UINT64:
                wrong.stop("has an integer that does not fit in 64 bits", found=f"{value:.3e}"[:40])
        if not below:
            return
        level = below
    wrong.stop("is nested too deeply", expected=f"at most {limits.depth} levels of nested lists and objects")


def _check_text(text: str, limits: JsonLimits, wrong: _Wrong) -> None:
    if len(text) > limits.text:
        wrong.stop("has a string that is too long", expected=f"at most {limits.text:,} characters")
    if not limits.surrogates and not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            wrong.stop("has a string with a lone surrogate (half a character)", found=ascii(text[:60]))


class JsonObject:
    """One object of a description, whose entries are asked for by name and type.

    What a method returns has the type that it says; an entry of another type is a SchemaError. An entry that is missing
    or null is the given default, or None, or empty.

    >>> split = JsonObject({"records": 3, "shards": [{"file": "a.tfrecord"}]}, "manifest", "recordsmith.json")
    >>> split.count("records"), [shard.text("file") for shard in split.objects("shards")]
    (3, ['a.tfrecord'])
    >>> split.text("records")
    Traceback (most recent call last):
    recordsmith.errors.SchemaError: The manifest has an invalid entry.
      where:    recordsmith.json
      found:    "records" is the number 3
      expected: a string
    """

    __slots__ = ("_place", "entries", "path", "what")

    def __init__(self, entries: dict[str, Any], what: str, path: str | None = None, place: str = "") -> None:
        self.entries = entries
        self.what = what
        self.path = path
        self._place = place

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonObject) and self.entries == other.entries

    __hash__ = None  # type: ignore[assignment] # entries are lists and dicts

    @classmethod
    def of(cls, document: Any, what: str, path: str | None = None) -> JsonObject:
        """Take a document, which has to be an object.

        >>> JsonObject.of({}, "manifest").entries
        {}
        """
        if not isinstance(document, dict):
            raise SchemaError(f"The {what} is not a JSON object.", path=path, found=_kind_of(document))
        return cls(document, what, path)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; without a default it has to be there."""
        found: str | None = self._entry(name, str, "a string", default)
        return found if found is not None else self._missing(name)

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None."""
        found: str | None = self._entry(name, str, "a string", None)
        return found

    def count(self, name: str) -> int | None:
        """Return a number of things, which protobuf's JSON writes as a text; or None."""
        found = self.entries.get(name)
        return None if found is None else self._count(found, name)

    def counts(self, name: str) -> tuple[int, ...]:
        """Return a list of numbers of things."""
        return tuple(self._count(one, f"{name}[{place}]") for place, one in enumerate(self._list(name)))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        found = self._list(name)
        for place, one in enumerate(found):
            if not isinstance(one, str):
                self._wrong(f"{name}[{place}]", one, "a string")
        return tuple(found)

    def plain_values(self, name: str) -> list[Any]:
        """Return a list of texts, numbers, truths and nulls."""
        found = self._list(name)
        for place, one in enumerate(found):
            if isinstance(one, (list, dict)):
                self._wrong(f"{name}[{place}]", one, "a string or a number")
        return found

    def require(self, *names: str) -> None:
        """Refuse an object without these entries."""
        for name in names:
            if self.entries.get(name) is None:
                self._missing(name)

    def object(self, name: str) -> JsonObject:
        """Return an object, empty where there is none."""
        return self._object(name, self._entry(name, dict, "an object", {}))

    def objects(self, name: str) -> list[JsonObject]:
        """Return a list of objects."""
        return [self._object(f"{name}[{place}]", one) for place, one in enumerate(self._list(name))]

    def members(self) -> Iterator[tuple[str, JsonObject]]:
        """Give all entries, each of which has to be an object."""
        for name, one in self.entries.items():
            yield name, self._object(name, one)

    def numbers(self) -> dict[str, float]:
        """Return all entries, each of which has to be a number."""
        for name, one in self.entries.items():
            if isinstance(one, bool) or not isinstance(one, (int, float)):
                self._wrong(name, one, "a number")
        return dict(self.entries)

    def all_texts(self) -> dict[str, str]:
        """Return all entries, each of which has to be a text."""
        for name, one in self.entries.items():
            if not isinstance(one, str):
                self._wrong(name, one, "a string")
        return dict(self.entries)

    def tallies(self) -> dict[str, int]:
        """Return all entries, each of which has to be a number of things."""
        return {name: self._count(one, name) for name, one in self.entries.items()}

    def _object(self, name: str, found: Any) -> JsonObject:
        if not isinstance(found, dict):
            self._wrong(name, found, "an object")
        return JsonObject(found, self.what, self.path, f"{self._place}{name}.")

    def _list(self, name: str) -> list[Any]:
        found: list[Any] = self._entry(name, list, "a list", [])
        return found

    def _entry(self, name: str, kind: type, expected: str, default: Any) -> Any:
        found = self.entries.get(name)
        if found is None:
            return default
        if not isinstance(found, kind):
            self._wrong(name, found, expected)
        return found

    def _count(self, found: Any, name: str) -> int:
        if isinstance(found, str) and found.isascii() and found.isdecimal() and len(found) < 20:
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < _INT64:
            self._wrong(name, found, "an integer from 0 to 2^63 - 1")
        return found

    def _wrong(self, name: str, found: Any, expected: str) -> NoReturn:
        raise SchemaError(
            f"The {self.what} has an invalid entry.",
            path=self.path,
            found=f'"{self._place}{name}" is {_kind_of(found)}',
            expected=expected,
        )

    def _missing(self, name: str) -> NoReturn:
        raise SchemaError(f"The {self.what} is incomplete.", path=self.path, found=f'no "{self._place}{name}"')


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the string {value[:60]!r}"
    if isinstance(value, (int, float)):
        return f"the number {value}" if isinstance(value, float) or abs(value) < _UINT64 else "a huge number"
    kinds = {type(None): "null", list: "a list", dict: "an object"}
    return kinds.get(type(value), "something else")
