"""Parses the text of a condition to a checked tree, with the part of Python's grammar that conditions need.

The text is parsed by `ast` and never run. Names that are no identifiers (`image/height`, `class`) are replaced by
placeholders first; every place in an error is one of the text as it was given.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.schema import Feature, Label, Steps

__all__ = [
    "FUNCTIONS",
    "Call",
    "Compare",
    "Constant",
    "Junction",
    "Missing",
    "Name",
    "Node",
    "Not",
    "Sum",
    "parse_where",
]

FUNCTIONS = ("len", "min", "max", "mean", "sum", "any", "all", "abs")

_LONGEST = 10_000
_DEEPEST = 100
_RESERVED = frozenset({"and", "or", "not", "in", "is", "missing", "True", "False", "None"})
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_SUMS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_BARE = re.compile(r"[\w/.\-]+")
_STRING = re.compile(r"""[bBrRuU]{0,2}(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_INSTEAD = {ast.BitAnd: ("&", "and"), ast.BitOr: ("|", "or"), ast.BitXor: ("^", "!=")}


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a condition, and the column of the text where it begins, counted from 1."""

    column: int


@dataclass(frozen=True, slots=True)
class Name(Node):
    """The value of a feature."""

    name: str
    feature: Feature | None


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A number, a string, bytes, True or False, or a tuple of these."""

    value: Any


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """Two values compared."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Missing(Node):
    """Whether a record lacks a feature."""

    of: Node
    negated: bool


@dataclass(frozen=True, slots=True)
class Junction(Node):
    """Conditions joined by `and` or by `or`."""

    conjunction: bool
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    """The opposite of a condition."""

    of: Node


@dataclass(frozen=True, slots=True)
class Sum(Node):
    """Arithmetic."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function of one value."""

    function: str
    of: Node


def parse_where(text: str, names: Iterable[str] | Mapping[str, Feature]) -> Node:
    """Parse a condition over features of these names.

    >>> parse_where("label == 'cat'", ["label"]).operator
    '=='
    >>> parse_where("labl == 'cat'", ["label"])
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: There is no feature 'labl', at column 1. Did you mean 'label'?
      found:    labl == 'cat'
      expected: 'label'
    """
    if not isinstance(text, str) or not text.strip():
        raise PipelineError(
            "The condition is empty.", expected="a condition such as label == 'cat' and len(tokens) > 10"
        )
    if len(text) > _LONGEST:
        raise PipelineError("The condition is too long.", found=f"{len(text)} characters")
    return _Parser(text, names).parse()


class _Parser:
    """Parses one condition."""

    def __init__(self, text: str, names: Iterable[str] | Mapping[str, Feature]) -> None:
        self._text = text
        self._features: Mapping[str, Any] = names if isinstance(names, Mapping) else dict.fromkeys(names)
        self._placeholders: dict[str, str] = {}
        self._edges: list[tuple[int, int]] = [(0, 0)]  # (in what is parsed, in the text): from there on they run alike

    def parse(self) -> Node:
        self._parsed = self._replaced()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about backslashes in strings, which are Python's matter
                tree = ast.parse(self._parsed, mode="eval").body
        except SyntaxError as error:
            raise self._syntax(error) from None
        except (ValueError, RecursionError, MemoryError):  # zero bytes; brackets too deep
            raise PipelineError("The condition cannot be parsed.", found=self._text) from None
        return self._node(tree, 0)

    # --- names that Python's grammar does not know ---

    def _replaced(self) -> str:
        text = self._text.replace("\n", " ").replace("\t", " ")
        pieces: list[str] = []
        length = at = 0
        while at < len(text):
            found, name = self._token(text, at)
            if name is not None:
                placeholder = f"_{len(self._placeholders)}_"
                while placeholder in self._features:
                    placeholder += "_"
                self._placeholders[placeholder] = name
                self._edges.append((length, at))
                length += len(placeholder)
                self._edges.append((length, at + len(found)))
                pieces.append(placeholder)
            else:
                length += len(found)
                pieces.append(found)
            at += len(found)
        stripped = "".join(pieces)
        lead = len(stripped) - len(stripped.lstrip())
        self._edges = [(new - lead, old) for new, old in self._edges]
        return stripped.strip()

    def _token(self, text: str, at: int) -> tuple[str, str | None]:
        """Return what stands at a place, and the name that it is, if that has to be replaced."""
        if text[at] == "`":
            end = text.find("`", at + 1)
            if end < 0:
                raise PipelineError(f"The backtick at column {at + 1} is not closed.", found=self._text)
            name = text[at + 1 : end]
            if name not in self._features:
                raise self._unknown(name, at)
            return text[at : end + 1], name
        if string := _STRING.match(text, at):
            return string[0], None
        word = _BARE.match(text, at)
        if word is None:
            return text[at], None
        name = word[0]
        if name.isidentifier() and not (keyword.iskeyword(name) and name not in _RESERVED):
            return name, None
        if name not in self._features:
            plain = re.match(r"\w+|.", name)
            return (plain[0] if plain else name), None
        pieces = [piece for piece in re.split(r"[/.\-]", name) if piece]
        if len(pieces) > 1 and "." not in name and all(piece in self._features or piece.isdigit() for piece in pieces):
            raise PipelineError(
                f"{name!r} at column {at + 1} is ambiguous: it is the name of a feature, or arithmetic with other "
                "features.",
                found=self._text,
                advice=f"For the feature, write `{name}` in backticks. For arithmetic, put spaces around the operator.",
            )
        return name, name

    # --- the tree ---

    def _node(self, tree: ast.AST, depth: int) -> Node:
        if depth > _DEEPEST:
            raise PipelineError("The condition is nested too deeply.", found=self._text)
        at = self._column(tree)
        if isinstance(tree, ast.Name):
            return self._name(tree.id, at)
        if isinstance(tree, (ast.Constant, ast.List, ast.Tuple, ast.Set)):
            return Constant(at, self._constant(tree))
        if isinstance(tree, ast.Compare):
            return self._comparison(tree, at, depth)
        if isinstance(tree, ast.BoolOp):
            parts = tuple(self._node(value, depth + 1) for value in tree.values)
            return Junction(at, isinstance(tree.op, ast.And), parts)
        if isinstance(tree, ast.UnaryOp):
            return self._unary(tree, at, depth)
        if isinstance(tree, ast.BinOp):
            if type(tree.op) in _INSTEAD:
                given, meant = _INSTEAD[type(tree.op)]
                raise self.refused(f"{given!r} is not supported in a condition", at, f"Write {meant!r}.")
            if type(tree.op) not in _SUMS:
                raise self.refused(f"{self._source(tree)!r} has an operator that is not supported in a condition", at)
            return Sum(at, _SUMS[type(tree.op)], self._node(tree.left, depth + 1), self._node(tree.right, depth + 1))
        if isinstance(tree, ast.Call):
            return self._call(tree, at, depth)
        raise self.refused(f"{self._source(tree)!r} is not supported in a condition", at)

    def _name(self, identifier: str, at: int) -> Node:
        name = self._placeholders.get(identifier, identifier)
        if name not in self._features:
            raise self._unknown(name, at - 1)
        return Name(at, name, self._features[name])

    def _constant(self, tree: ast.AST) -> Any:
        if isinstance(tree, ast.Constant) and isinstance(tree.value, (bool, int, float, str, bytes)):
            return tree.value
        at = self._column(tree)
        if isinstance(tree, ast.Constant) and tree.value is None:
            raise self.refused("A value cannot be compared with None", at, "Write 'is missing'.")
        if isinstance(tree, (ast.List, ast.Tuple, ast.Set)):
            return tuple(self._constant(element) for element in tree.elts)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            value = self._constant(tree.operand)
            if isinstance(value, (int, float)):
                return -value
        raise self.refused(
            f"{self._source(tree)!r} is not a constant", at, "Lists may contain only numbers and strings."
        )

    def _comparison(self, tree: ast.Compare, at: int, depth: int) -> Node:
        parts: list[Node] = []
        left = tree.left
        for operator, right in zip(tree.ops, tree.comparators, strict=True):
            if isinstance(operator, (ast.Is, ast.IsNot)):
                is_missing = isinstance(right, ast.Name) and right.id == "missing"
                if not is_missing and not (isinstance(right, ast.Constant) and right.value is None):
                    raise self.refused("'is' can only be followed by 'missing'", at, "Write 'is missing', or use '=='.")
                parts.append(Missing(at, self._node(left, depth + 1), isinstance(operator, ast.IsNot)))
            else:
                sign = _COMPARISONS[type(operator)]
                parts.append(_in_numbers(sign, self._node(left, depth + 1), self._node(right, depth + 1), at, self))
            left = right
        return parts[0] if len(parts) == 1 else Junction(at, conjunction=True, parts=tuple(parts))

    def _unary(self, tree: ast.UnaryOp, at: int, depth: int) -> Node:
        inner = self._node(tree.operand, depth + 1)
        if isinstance(tree.op, ast.Not):
            return Not(at, inner)
        if isinstance(tree.op, ast.USub):
            if isinstance(inner, Constant) and isinstance(inner.value, (int, float)):
                return Constant(at, -inner.value)
            return Sum(at, "-", Constant(at, 0), inner)
        raise self.refused(f"{self._source(tree)!r} has an operator that is not supported in a condition", at)

    def _call(self, tree: ast.Call, at: int, depth: int) -> Node:
        function = tree.func.id if isinstance(tree.func, ast.Name) else self._source(tree.func)
        if function not in FUNCTIONS:
            advice = f"Use one of {', '.join(f'{known}()' for known in FUNCTIONS)}."
            raise self.refused(f"There is no function {function}()", at, advice, did_you_mean(function, FUNCTIONS))
        if len(tree.args) != 1 or tree.keywords:
            raise self.refused(f"{function}() takes one value", at)
        return Call(at, function, self._node(tree.args[0], depth + 1))

    # --- places and words ---

    def _column(self, tree: ast.AST) -> int:
        offset = getattr(tree, "col_offset", 0)
        return self._place(len(self._parsed.encode()[:offset].decode(errors="ignore"))) + 1

    def _place(self, parsed: int) -> int:
        """Return the place in the given text of a place in what was parsed."""
        new, old = max(edge for edge in self._edges if edge[0] <= max(parsed, self._edges[0][0]))
        return min(old + parsed - new, len(self._text))

    def _source(self, tree: ast.AST) -> str:
        source = ast.unparse(tree)
        for placeholder, name in self._placeholders.items():
            source = source.replace(placeholder, name)
        return source

    def refused(self, problem: str, column: int, advice: str | None = None, near: str = "") -> PipelineError:
        """Return the error about what stands at a column."""
        return PipelineError(f"{problem}, at column {column}.{near}", found=self._text, advice=advice)

    def _unknown(self, name: str, at: int) -> PipelineError:
        words = [word[0] for word in _BARE.finditer(self._text) if word.start() <= at < word.end()]
        near = next((near for word in [*words, name] if (near := did_you_mean(word, self._features))), "")
        return PipelineError(
            f"There is no feature {name!r}, at column {at + 1}.{near}",
            found=self._text,
            expected=list_names(self._features),
            advice="Put strings in quotes." if not near and name in words else None,
        )

    def _syntax(self, error: SyntaxError) -> PipelineError:
        at = self._place(max(0, (error.offset or 1) - 1)) + 1
        single = re.search(r"(?<![=!<>])=(?!=)", _STRING.sub(lambda found: "x" * len(found[0]), self._text))
        if single is not None:
            return self.refused("A single '=' is not a comparison", single.start() + 1, "Write '=='.")
        if "&&" in self._text or "||" in self._text:
            return self.refused("The condition cannot be parsed", at, "Write 'and' and 'or'.")
        return self.refused(f"The condition cannot be parsed: {error.msg}", at)


def _in_numbers(sign: str, left: Node, right: Node, at: int, parser: _Parser) -> Compare:
    """Write the names of classes, where they are compared with a label, as its numbers."""
    for label, other in ((left, right), (right, left)):
        feature = label.feature if isinstance(label, Name) else None
        feature = feature.feature if isinstance(feature, Steps) else feature
        if not isinstance(feature, Label) or not isinstance(other, Constant):
            continue
        many = isinstance(other.value, tuple)
        values = other.value if many else (other.value,)
        if not any(isinstance(value, str) for value in values):
            continue
        if sign not in ("==", "!=", "in", "not in"):
            raise parser.refused("Class names have no order", at, "Compare them with ==, != or 'in'.")
        numbers = tuple(_class_number(value, feature, other.column, parser) for value in values)
        constant = Constant(other.column, numbers if many else numbers[0])
        return Compare(at, sign, label, constant) if label is left else Compare(at, sign, constant, label)
    return Compare(at, sign, left, right)


def _class_number(value: Any, feature: Label, at: int, parser: _Parser) -> Any:
    if not isinstance(value, str):
        return value
    if value not in feature.names:
        near = did_you_mean(value, feature.names)
        raise parser.refused(f"There is no class {value!r}", at, f"Use one of {list_names(feature.names)}.", near)
    return feature.names.index(value)
