r"""Reads and writes protobuf's text format, as far as a schema.pbtxt needs it.

A message is a dict of lists: every field has a list of values, in order, because any field may repeat. A value is a
str, int, float or bool, a Name (an enum's value), or a message.

    feature {                       {"feature": [{"name": ["age"], "type": [Name("INT")]}]}
      name: "age"
      type: INT
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from recordsmith.errors import SchemaError

__all__ = ["Message", "Name", "message", "read_prototext", "write_prototext"]

Message: TypeAlias = dict[str, list[Any]]


class Name(str):
    """The name of an enum's value, which stands without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def message(**fields: Any) -> Message:
    """Make a message of fields that occur once, or for a list as often as it is long; None and [] leave them out.

    >>> message(name="age", tag=["a", "b"], comment=None)
    {'name': ['age'], 'tag': ['a', 'b']}
    """
    listed = {name: value if isinstance(value, list) else [value] for name, value in fields.items()}
    return {name: values for name, values in listed.items() if values not in ([], [None])}


def write_prototext(fields: Mapping[str, list[Any]], indent: str = "") -> str:
    """Write a message.

    >>> print(write_prototext({"feature": [{"name": ["age"], "type": [Name("INT")]}]}), end="")
    feature {
      name: "age"
      type: INT
    }
    """
    lines = []
    for name, values in fields.items():
        for value in values:
            if isinstance(value, Mapping):
                lines.append(f"{indent}{name} {{\n{write_prototext(value, indent + '  ')}{indent}}}\n")
            else:
                lines.append(f"{indent}{name}: {_written(value)}\n")
    return "".join(lines)


def read_prototext(text: str) -> Message:
    r"""Read a message; fields that nobody knows are read like all others.

    >>> read_prototext("feature { name: 'a\\t' 'b'  type: INT }  # and so on")
    {'feature': [{'name': ['a\tb'], 'type': [INT]}]}
    """
    reader = _Reader(text)
    fields = reader.message("")
    if not fields and text.strip() and not re.fullmatch(r"(\s|#.*)*", text):
        raise reader.wrong("a field that is not part of a schema")
    return fields


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, str):
        return '"' + "".join(map(_escaped, value)) + '"'
    return repr(value)


def _escaped(letter: str) -> str:
    """Return a letter as it may stand in a string: what does not show is written as the bytes of its UTF-8."""
    if letter in _ESCAPES or letter.isprintable():
        return _ESCAPES.get(letter, letter)
    return "".join(f"\\{byte:03o}" for byte in letter.encode(errors="replace"))


_ESCAPES = {chr(code): f"\\{code:03o}" for code in (*range(32), 127)} | {
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    '"': '\\"',
    "\\": "\\\\",
}
_DEEPEST = 100  # as in protobuf's own parsers
_MEANINGS = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_TOKEN = re.compile(
    r"""
    (?P<space> (?: \s | \#[^\n]* )+ )
  | (?P<string> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<number> -?\s*(?: 0[xX][0-9a-fA-F]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]? | (?:inf|infinity|nan)f?\b ) )
  | (?P<name> \[[\w./-]+\] | [A-Za-z_]\w* )
  | (?P<mark> [:{}<>\[\],;] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ESCAPED = re.compile(
    rb"\\(?: (?P<octal>[0-7]{1,3}) | x(?P<hex>[0-9a-fA-F]{1,2}) | u(?P<short>[0-9a-fA-F]{4})"
    rb" | U(?P<long>[0-9a-fA-F]{8}) | (?P<letter>.) )",
    re.VERBOSE | re.DOTALL,
)


class _Reader:
    """A walk along the tokens of a text."""

    def __init__(self, text: str) -> None:
        self._tokens = list(self._split(text))
        self._next = 0
        self._depth = 0

    @staticmethod
    def _split(text: str) -> Iterator[tuple[str, str, int]]:
        place, line = 0, 1
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise _error(line, f"{text[place]!r}")
            if found.lastgroup != "space":
                yield str(found.lastgroup), found[0], line
            line += found[0].count("\n")
            place = found.end()

    def message(self, end: str) -> Message:
        """Read fields up to the mark that ends the message, or to the end of the text."""
        fields: Message = {}
        while True:
            kind, token, _ = self._peek()
            if token == end and kind in ("mark", "end"):
                self._next += 1
                return fields
            if kind != "name":
                raise self.wrong(token or "the end of the text")
            self._next += 1
            values = fields.setdefault(token, [])
            if self._take(":"):
                values.extend(self._list() if self._take("[") else [self._value()])
            else:
                values.append(self._nested())
            _ = self._take(",") or self._take(";")

    def wrong(self, found: str) -> SchemaError:
        return _error(self._peek()[2], found)

    def _peek(self) -> tuple[str, str, int]:
        if self._next < len(self._tokens):
            return self._tokens[self._next]
        return "end", "", self._tokens[-1][2] if self._tokens else 1

    def _take(self, mark: str) -> bool:
        if self._peek()[:2] == ("mark", mark):
            self._next += 1
            return True
        return False

    def _list(self) -> list[Any]:
        values: list[Any] = []
        while not self._take("]"):
            values.append(self._value())
            _ = self._take(",")
        return values

    def _nested(self) -> Message:
        for begin, end in (("{", "}"), ("<", ">")):
            if self._take(begin):
                if self._depth == _DEEPEST:
                    raise self.wrong(f"more than {_DEEPEST} levels of nested messages")
                self._depth += 1
                inner = self.message(end)
                self._depth -= 1
                return inner
        raise self.wrong(self._peek()[1] or "the end of the text")

    def _value(self) -> Any:
        kind, token, _ = self._peek()
        if kind == "mark":
            return self._nested()
        self._next += 1
        if kind == "string":
            parts = [token]
            while self._peek()[0] == "string":  # neighbours are one string, as in C
                parts.append(self._peek()[1])
                self._next += 1
            return b"".join(_unescaped(part[1:-1]) for part in parts).decode(errors="replace")
        if kind == "number":
            return _number("".join(token.split()).lower())
        if kind == "name":
            return {"true": True, "false": False, "t": True, "f": False}.get(token.lower(), Name(token))
        raise self.wrong("the end of the text")


def _error(line: int, found: str) -> SchemaError:
    return SchemaError(
        f"This is not protobuf text format: line {line} cannot be parsed.",
        found=found,
        expected='fields such as name: "age" or feature { ... }',
    )


def _number(token: str) -> int | float:
    if re.fullmatch(r"-?0x[0-9a-f]+", token):
        return int(token, 16)
    if re.fullmatch(r"-?0[0-7]+", token):
        return int(token, 8)
    if re.fullmatch(r"-?\d+", token):
        return int(token)
    return float(token.removesuffix("f") if token.lstrip("-") != "inf" else token)


def _unescaped(text: str) -> bytes:
    def meant(found: re.Match[bytes]) -> bytes:
        if found["octal"] is not None:
            return bytes([int(found["octal"], 8) & 255])
        if found["hex"] is not None:
            return bytes([int(found["hex"], 16)])
        if found["letter"] is None:
            return chr(int(found["short"] or found["long"], 16)).encode(errors="replace")
        letter = found["letter"].decode(errors="replace")
        return bytes([_MEANINGS[letter]]) if letter in _MEANINGS else found["letter"]

    return _ESCAPED.sub(meant, text.encode())
