"""Conditions over rows, such as `label == 'cat' and len(tokens) > 10`: a small language, never run as Python.

    names        label   image/height   `a name`         those that are no words stand in backticks where they must
    values       3   0.5   'cat'   b'raw'   True   ['cat', 'dog']
    comparisons  == != < <= > >=   in   not in   is missing   is not missing
    joined by    and   or   not
    arithmetic   + - * / // %
    functions    len()   abs()   and over lists: min() max() mean() sum() any() all()

Over a list, comparisons and arithmetic go value by value: `any(tokens == 7)`. What is missing is neither equal nor
different: a comparison with it has no answer, `not` changes nothing about that, and a row counts only if the whole has
the answer yes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn
from recordsmith.errors import PipelineError
from recordsmith.query.where_parsing import (
    Call,
    Compare,
    Constant,
    Junction,
    Missing,
    Name,
    Node,
    Not,
    Sum,
    parse_where,
)
from recordsmith.query.where_values import added, applied, compared, plain
from recordsmith.schema import Feature

__all__ = ["Where", "compile_where"]

Bools = npt.NDArray[np.bool_]

_ORDERS = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compile_where(text: str, names: Iterable[str] | Mapping[str, Feature]) -> Where:
    """Compile a condition over features.

    Args:
        text: the condition.
        names: the names that there are, or better a schema: a label is then compared by the names of its classes.

    >>> where = compile_where("label == 'cat' and len(tokens) > 1", ["label", "tokens"])
    >>> where.matches({"label": "cat", "tokens": [1, 2, 3]}), where.matches({"label": "cat", "tokens": [1]})
    (True, False)
    >>> where.names
    ('label', 'tokens')
    """
    return Where(text, parse_where(text, names))


class Where:
    """A compiled condition; `compile_where` makes one.

    Attributes:
        text: as it was given.
        names: the features that it looks at, in the order of the text.
        present: those that no row lacks for which it holds.
    """

    def __init__(self, text: str, node: Node) -> None:
        self.text = text
        self._node = node
        self._features = {name.name: name.feature for name in _names(node)}
        self.names = tuple(self._features)
        self.present = tuple(sorted(_proven_present(node, holds=True)))

    def __repr__(self) -> str:
        return f"Where({self.text!r})"

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Say whether the condition holds for a row; a name that the row does not have is missing.

        >>> compile_where("any(tokens == 7) or name is missing", ["tokens", "name"]).matches({"tokens": [5, 7]})
        True
        """
        return self._answer(row) is True

    def mask(self, columns: Mapping[str, Any], rows: int) -> Bools:
        """Say for each row of a batch whether the condition holds.

        >>> compile_where("0 < x < 3", ["x"]).mask({"x": np.array([0, 1, 2, 3])}, 4).tolist()
        [False, True, True, False]
        """
        quick = _mask(self._node, columns, rows)
        if quick is not None:
            return quick[0] & quick[1]
        readers = [(name, columns[name], feature) for name, feature in self._features.items() if name in columns]
        found = np.zeros(rows, np.bool_)
        for row in range(rows):
            values = {
                name: column[row] if feature is None else feature.row(column, row) for name, column, feature in readers
            }
            try:
                found[row] = self._answer(values) is True
            except PipelineError as error:
                raise error.at(row=row) from None
        return found

    def _answer(self, row: Mapping[str, Any]) -> Any:
        try:
            answer = _value(self._node, row)
        except PipelineError as error:
            error.found = f"{error.found}, in {self.text}" if error.found else self.text
            raise
        if answer is None or isinstance(answer, (bool, np.bool_)):
            return None if answer is None else bool(answer)
        if isinstance(answer, np.ndarray) and answer.dtype == np.bool_:
            problem, advice = (
                "The condition has a result for each value of a list.",
                "Use any() or all() to combine them.",
            )
        else:
            problem, advice = "The condition is not true or false.", "Compare the value with another value."
        raise PipelineError(problem, found=self.text, advice=advice)


def _names(node: Node) -> Iterable[Name]:
    if isinstance(node, Name):
        yield node
    elif isinstance(node, (Missing, Not, Call)):
        yield from _names(node.of)
    elif isinstance(node, (Compare, Sum)):
        yield from _names(node.left)
        yield from _names(node.right)
    elif isinstance(node, Junction):
        for part in node.parts:
            yield from _names(part)


def _proven_present(node: Node, *, holds: bool) -> set[str]:
    """Return the features that a row must have for a condition to hold, or not to hold.

    >>> names = ["a", "b"]
    >>> compile_where("a is not missing and not b is missing", names).present, compile_where("a > 1", names).present
    (('a', 'b'), ('a',))
    >>> compile_where("a > 1 or b > 1", names).present
    ()
    """
    if isinstance(node, Not):
        return _proven_present(node.of, holds=not holds)
    if isinstance(node, Missing):
        return {node.of.name} if isinstance(node.of, Name) and node.negated == holds else set()
    if isinstance(node, Compare):  # which has no answer where a side is missing
        return {side.name for side in (node.left, node.right) if isinstance(side, Name)}
    if isinstance(node, Junction):
        parts = [_proven_present(part, holds=holds) for part in node.parts]
        return set.union(*parts) if node.conjunction == holds else set.intersection(*parts)
    return set()


# --- one row ---


def _value(node: Node, row: Mapping[str, Any]) -> Any:
    """Return what a part of the condition is for a row: None where a value is missing."""
    if isinstance(node, Name):
        return plain(row.get(node.name))
    if isinstance(node, Constant):
        return node.value
    if isinstance(node, Compare):
        return compared(node.operator, _value(node.left, row), _value(node.right, row), node.column)
    if isinstance(node, Missing):
        return (_value(node.of, row) is None) != node.negated
    if isinstance(node, Sum):
        return added(node.operator, _value(node.left, row), _value(node.right, row), node.column)
    if isinstance(node, Call):
        return applied(node.function, _value(node.of, row), node.column)
    if isinstance(node, Not):
        answer = _truth(_value(node.of, row), node.column)
        return None if answer is None else not answer
    assert isinstance(node, Junction)  # noqa: S101 - there is no other
    unknown = False
    for part in node.parts:
        answer = _truth(_value(part, row), part.column)
        if answer is None:
            unknown = True
        elif answer != node.conjunction:
            return answer  # one no decides `and`, and one yes decides `or`
    return None if unknown else node.conjunction


def _truth(value: Any, column: int) -> bool | None:
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    raise PipelineError(
        f"The expression at column {column} is not true or false.",
        found=type(value).__name__ if not isinstance(value, np.ndarray) else f"a list of {value.size} values",
        advice="Compare the value with another value. For lists, use any() or all().",
    )


# --- whole columns, for what is asked most ---


def _mask(node: Node, columns: Mapping[str, Any], rows: int) -> tuple[Bools, Bools] | None:
    """Return for each row the answer and whether it is known, or None where rows must be looked at singly."""
    if isinstance(node, Junction):
        return _joined(node, columns, rows)
    if isinstance(node, Not):
        inner = _mask(node.of, columns, rows)
        return None if inner is None else (~inner[0], inner[1])
    if isinstance(node, Missing) and isinstance(node.of, Name):
        there = _present(columns.get(node.of.name), rows)
        return None if there is None else (there == node.negated, np.ones(rows, np.bool_))
    if isinstance(node, Compare):
        if isinstance(node.right, Constant):
            return _compared(node.operator, node.left, node.right.value, columns, rows)
        if isinstance(node.left, Constant) and node.operator in _TURNED:
            return _compared(_TURNED[node.operator], node.right, node.left.value, columns, rows)
        if isinstance(node.left, Constant) and isinstance(node.right, Name):
            return _containing(node.operator, columns.get(node.right.name), node.left.value, rows)
    return None


def _joined(node: Junction, columns: Mapping[str, Any], rows: int) -> tuple[Bools, Bools] | None:
    parts = []
    for part in node.parts:
        mask = _mask(part, columns, rows)
        if mask is None:
            return None
        parts.append(mask)
    decided = np.zeros(rows, np.bool_)
    known = np.ones(rows, np.bool_)
    for answer, there in parts:
        decided |= there & (answer != node.conjunction)
        known &= there
    return decided != node.conjunction, known | decided


def _compared(
    operator: str, left: Node, value: Any, columns: Mapping[str, Any], rows: int
) -> tuple[Bools, Bools] | None:
    if isinstance(left, Name) and isinstance(columns.get(left.name), ByteColumn):
        return _compared_strings(operator, columns[left.name], value, rows)
    numbers = _numbers(left, columns, rows)
    if numbers is None:
        return None
    data, there = numbers
    if operator in ("in", "not in"):
        if not isinstance(value, tuple):
            return None
        found = np.zeros(rows, np.bool_)
        for one in value:
            fitting = _fitting(one, data)
            if fitting is None:
                return None
            found |= data == fitting
        return found == (operator == "in"), there
    fitting = _fitting(value, data)
    if fitting is None:
        return None
    return _ORDERS[operator](data, fitting), there


def _compared_strings(operator: str, column: ByteColumn, value: Any, rows: int) -> tuple[Bools, Bools] | None:
    many = operator in ("in", "not in") and isinstance(value, tuple)
    wanted = value if many else (value,)
    if not (many or operator in ("==", "!=")) or not all(isinstance(one, (str, bytes)) for one in wanted):
        return None
    found = np.zeros(rows, np.bool_)
    for one in wanted:
        sought = np.frombuffer(one.encode(errors="surrogateescape") if isinstance(one, str) else one, np.uint8)
        places = np.flatnonzero(column.lengths == len(sought))
        bytes_of = column.offsets[places][:, None] + np.arange(len(sought))
        found[places] |= (column.data[bytes_of] == sought).all(axis=1)
    there = np.ones(rows, np.bool_) if column.present is None else column.present
    return found == (operator in ("in", "==")), there


def _containing(operator: str, column: Any, word: Any, rows: int) -> tuple[Bools, Bools] | None:
    """Find a string in a column of strings."""
    if not isinstance(column, ByteColumn) or not isinstance(word, (str, bytes)):
        return None
    there = np.ones(rows, np.bool_) if column.present is None else column.present
    return column.rows_with(word) == (operator == "in"), there


def _numbers(node: Node, columns: Mapping[str, Any], rows: int) -> tuple[npt.NDArray[Any], Bools] | None:
    """Return a column of single numbers, or the lengths of its rows, with what of it is there."""
    length = isinstance(node, Call) and node.function == "len"
    name = node.of if isinstance(node, Call) and length else node
    if not isinstance(name, Name) or name.name not in columns:
        return None
    column = columns[name.name]
    there = _present(column, rows)
    if there is None:
        return None
    if length:
        # Only where a row's length is not counted in characters, and not over more than one dimension.
        if isinstance(column, ByteColumn) and not column.text:
            return column.lengths, there
        return None
    if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "bif":
        return np.ma.getdata(column), there
    return None


def _fitting(value: Any, data: npt.NDArray[Any]) -> Any:
    """Return a constant in the form in which numpy compares it as Python would; None if there is none."""
    if not isinstance(value, (bool, int, float)) or data.dtype.kind == "b":
        return bool(value) if isinstance(value, (bool, int)) and data.dtype.kind == "b" and value in (0, 1) else None
    if data.dtype.kind == "i":
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return value
    if isinstance(value, float):
        return value
    with np.errstate(over="ignore"):
        return int(value) if abs(value) < 2**53 and data.dtype.type(value) == value else None


def _present(column: Any, rows: int) -> Bools | None:
    if column is None:
        return np.zeros(rows, np.bool_)
    if isinstance(column, np.ndarray):
        if column.dtype == object:
            return None
        mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
        if mask is None:
            return np.ones(rows, np.bool_)
        absent = mask.reshape(rows, -1).all(axis=1) if mask.ndim > 1 and mask.size else mask.reshape(rows)
        return np.asarray(~absent)
    if not hasattr(column, "present"):
        return None
    return np.ones(rows, np.bool_) if column.present is None else np.asarray(column.present, np.bool_)
