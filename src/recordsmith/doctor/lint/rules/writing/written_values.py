"""Rules on what is put into BytesList, FloatList and Int64List."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.python_types import member_type, python_type
from recordsmith.doctor.lint.interpreter.values import Call, Group, Literal, Many, Value
from recordsmith.doctor.lint.libraries.arrays import shape_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["WRITTEN_VALUE_RULES"]

_LISTS = {
    "tensorflow.train.BytesList": "bytes",
    "tensorflow.train.FloatList": "float",
    "tensorflow.train.Int64List": "int64",
}
# What protobuf does not take into a list of each kind.
_REFUSED = {"bytes": {"int", "float"}, "float": {"str", "bytes"}, "int64": {"float", "str", "bytes"}}


def _is_text(value: Value) -> bool:
    """It is a str for certain."""
    return python_type(value) == "str"


def _is_bytes(value: Value) -> bool:
    """It is bytes for certain."""
    return python_type(value) == "bytes"


def _lists(program: Program) -> Iterator[tuple[Call, str, Value]]:
    for call in program.calls:
        kind = _LISTS.get(call.name)
        value = call.argument(0, "value")
        if kind is not None and value is not None:
            yield call, kind, value


@rule("P040", "text-in-bytes-list", Severity.ERROR)
def text_in_bytes_list(program: Program) -> Iterator[Finding]:
    """A str is put into a BytesList, which takes bytes.

    Why it matters:
        Python's str is not bytes, and protobuf refuses it: "TypeError: 'cat' has type str, but expected one of: bytes".
        The message names neither the row nor the feature.

    Example:
        `tf.train.BytesList(value=["cat"])`

    Fix:
        Encode it: `tf.train.BytesList(value=["cat".encode("utf-8")])`.
    """
    for call, kind, value in _lists(program):
        if kind != "bytes":
            continue
        members = value.members if isinstance(value, Group) else (value.member,) if isinstance(value, Many) else ()
        members = (value,) if _is_text(value) else members
        text = next((member for member in members if _is_text(member)), None)
        text = value if text is None and member_type(value) == "str" else text
        if text is None:
            continue
        shown = f" ({text.value!r})" if isinstance(text, Literal) and len(text.value) < 40 else ""
        edits = _encoded(program, call)
        yield program.finding(
            text_in_bytes_list,
            call.expression,
            f"A str{shown} is put into a BytesList, which takes bytes only: writing stops with a TypeError.",
            edits=edits,
        )


def _encoded(program: Program, call: Call) -> list[Edit] | None:
    """Encode the one member of a list that is written down in place."""
    node = call.expression
    given = node.args[0] if node.args else next((one.value for one in node.keywords if one.arg == "value"), None)
    if not isinstance(given, ast.List) or len(given.elts) != 1:
        return None
    member = given.elts[0]
    if not isinstance(member, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.JoinedStr):
        return None
    _, end = getattr(node, "source", program.source).span(member)
    return [Edit(end, end, '.encode("utf-8")')]


@rule("P041", "value-not-in-a-list", Severity.ERROR)
def value_not_in_a_list(program: Program) -> Iterator[Finding]:
    """A single value is given where a list is required.

    Why it matters:
        BytesList, FloatList and Int64List hold lists. A bytes object on its own is read as a list of integers, and a
        number on its own is not a list: both raise a TypeError.

    Example:
        `tf.train.BytesList(value=image.tobytes())`

    Fix:
        Put it into a list: `tf.train.BytesList(value=[image.tobytes()])`.
    """
    for call, kind, value in _lists(program):
        number = python_type(value) in ("int", "float", "bool")
        bare = _is_bytes(value) if kind == "bytes" else number
        if not bare or _chooses(call.expression):
            continue
        node = call.expression
        given = node.args[0] if node.args else next((one.value for one in node.keywords if one.arg == "value"), None)
        edits = None
        if given is not None:
            begin, end = getattr(node, "source", program.source).span(given)
            edits = [Edit(begin, begin, "["), Edit(end, end, "]")]
        yield program.finding(
            value_not_in_a_list,
            node,
            f"{call.name.rpartition('.')[2]} takes a list, and is given a single value: writing stops with a "
            "TypeError.",
            edits=edits,
        )


def _chooses(node: ast.AST) -> bool:
    """It is in a function that chooses the kind of list itself, by conditions that may not be understood here."""
    outer: ast.AST | None = node
    while outer is not None and not isinstance(outer, ast.FunctionDef):
        outer = getattr(outer, "parent", None)
    if outer is None:
        return False
    kinds = {one.attr for one in ast.walk(outer) if isinstance(one, ast.Attribute) and one.attr.endswith("List")}
    return len(kinds) > 1 and any(isinstance(one, ast.If | ast.IfExp | ast.Match) for one in ast.walk(outer))


@rule("P042", "value-of-other-kind", Severity.ERROR)
def value_of_other_kind(program: Program) -> Iterator[Finding]:
    """Values are put into a list of another kind, or a matrix into a flat list.

    Why it matters:
        Int64List takes whole numbers, FloatList numbers, and both take one flat list. Anything else raises a TypeError
        that does not name the feature.

    Example:
        `tf.train.FloatList(value=matrix)`, or `tf.train.Int64List(value=[0.5])`.

    Fix:
        Flatten matrices (`matrix.ravel()`) and keep their shape elsewhere; put fractions into a FloatList, text into a
        BytesList.
    """
    for call, kind, value in _lists(program):
        shape = shape_of(value)
        if kind != "bytes" and shape is not None and len(shape) > 1:
            size = "×".join(str(dimension) for dimension in shape)
            yield program.finding(
                value_of_other_kind,
                call.expression,
                f"A matrix of {size} is put into a {call.name.rpartition('.')[2]}, which is flat: writing stops with a "
                "TypeError.",
            )
            continue
        members = value.members if isinstance(value, Group) and not _chooses(call.expression) else ()
        for member in members:
            given = python_type(member) or ("float" if _is_mean(member) else None)
            if given in _REFUSED[kind]:
                shown = repr(member.value) if isinstance(member, Literal) else f"A value of type {given}"
                yield program.finding(
                    value_of_other_kind,
                    call.expression,
                    f"{shown} does not belong into a list of kind {kind}: writing stops with a TypeError.",
                )
                break


def _is_mean(value: Value) -> bool:
    """One number that numpy computed, with a fraction: protobuf takes numpy's floats for no integers."""
    means = isinstance(value, Call) and value.name in ("numpy.mean", "numpy.median", "numpy.std", "numpy.var")
    return means and isinstance(value, Call) and value.exact and len(value.args) == 1 and not value.keywords


WRITTEN_VALUE_RULES = [text_in_bytes_list, value_not_in_a_list, value_of_other_kind]
