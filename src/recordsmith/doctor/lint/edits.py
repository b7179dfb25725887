"""Changes to source code: exact spans, nothing else touched."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Stage
from recordsmith.doctor.lint.source_files import SourceFile

__all__ = ["Edit", "after_arguments", "apply_edits", "call_span", "move_stage", "replace_argument", "segment_of"]


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the text from `begin` to `end`, in characters.

    >>> apply_edits("a + b", [Edit(4, 5, "c")])
    'a + c'
    """

    begin: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits applied; those that overlap an earlier one are left out.

    >>> apply_edits("abc", [Edit(2, 3, "z"), Edit(0, 1, "x"), Edit(0, 2, "y")])
    'xbz'
    """
    pieces: list[str] = []
    reached = 0
    for edit in sorted(set(edits)):
        if edit.begin >= reached:
            pieces += [text[reached : edit.begin], edit.text]
            reached = edit.end
    return "".join([*pieces, text[reached:]])


def call_span(source: SourceFile, call: ast.Call) -> tuple[int, int]:
    """Return the place of a method call without what it is called on: from its name to its closing bracket."""
    begin, end = source.span(call)
    if isinstance(call.func, ast.Attribute):
        begin = source.span(call.func)[1] - len(call.func.attr)
    return begin, end


def segment_of(source: SourceFile, call: ast.Call) -> tuple[int, int]:
    """Return the place of `.name(...)`, from the dot on."""
    begin, end = call_span(source, call)
    return source.text.rindex(".", 0, begin), end


def after_arguments(source: SourceFile, call: ast.Call, text: str) -> list[Edit]:
    """Return the edit that adds an argument after the last one of a call."""
    given = [*call.args, *(one.value for one in call.keywords)]
    end = max((source.span(node)[1] for node in given), default=source.span(call)[1] - 1)
    return [Edit(end, end, f", {text}" if given else text)]


def replace_argument(source: SourceFile, call: ast.Call, name: str, text: str) -> list[Edit] | None:
    """Return the edit that gives another value for an argument that is given by name."""
    given = next((one.value for one in call.keywords if one.arg == name), None)
    if given is None:
        return None
    begin, end = source.span(given)
    return [Edit(begin, end, text)]


def move_stage(source: SourceFile, stages: Sequence[Stage]) -> list[Edit] | None:
    """Return the edits that put the last of some successive stages before the others; None if that is not safe.

    Safe is: one chain, or statements directly after each other that each add to the same variable.
    """
    calls = [stage.expression for stage in stages]
    if not all(isinstance(call.func, ast.Attribute) and getattr(call, "source", None) is source for call in calls):
        return None
    if not _stand_together(calls):
        return None
    slots = [segment_of(source, call) for call in calls]
    if any(first[1] > second[0] for first, second in itertools.pairwise(slots)):
        return None
    texts = [source.text[begin:end] for begin, end in slots]
    moved = [texts[-1], *texts[:-1]]
    return [Edit(begin, end, text) for (begin, end), text in zip(slots, moved, strict=True)]


def _stand_together(calls: Sequence[ast.Call]) -> bool:
    statements = [_statement(call) for call in calls]
    distinct = list(dict.fromkeys(statements))
    if len(distinct) == 1:
        return True
    names = {_same_name(statement) for statement in distinct if statement is not None}
    if None in names or len(names) != 1:
        return False
    parent = getattr(distinct[0], "parent", None)
    for block in ("body", "orelse", "finalbody"):
        members = getattr(parent, block, None)
        if isinstance(members, list) and distinct[0] in members:
            at = members.index(distinct[0])
            return members[at : at + len(distinct)] == distinct
    return False


def _statement(node: ast.AST) -> ast.stmt | None:
    one: ast.AST | None = node
    while one is not None and not isinstance(one, ast.stmt):
        one = getattr(one, "parent", None)
    return one


def _same_name(statement: ast.stmt) -> str | None:
    """The variable of `x = x.method(...)...`; None for any other statement."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    root: ast.expr = statement.value
    while isinstance(root, ast.Call | ast.Attribute):
        root = root.func if isinstance(root, ast.Call) else root.value
    target = ast.unparse(statement.targets[0])
    return target if isinstance(root, ast.Name) and root.id == target else None
