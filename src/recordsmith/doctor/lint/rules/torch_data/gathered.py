"""Rules on results that are gathered in a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.libraries.control_flow import enclosing
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["GATHERED_RULES"]


@rule("P186", "one-object-gathered", Severity.ERROR)
def one_object_gathered(program: Program) -> Iterator[Finding]:
    """A loop fills one array or dict again and again, and appends it to a list in every turn.

    Why it matters:
        The list gets the same object every time, not a copy. After the loop, all its entries are what the last turn
        stored.

    Example:
        `buffer[:] = model(x); features.append(buffer)` with `buffer = torch.empty(32, 128)` before the loop.

    Fix:
        Append a copy, `features.append(buffer.clone())` (`.copy()` for arrays and dicts); or make it in the loop.
    """
    for loop in program.source.nodes:
        if not isinstance(loop, ast.For | ast.While):
            continue
        inside = [node for statement in loop.body for node in ast.walk(statement)]
        bound = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        if isinstance(loop, ast.For):
            bound |= {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        for node in inside:
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=kept), attr="append"), args=[ast.Name(id=name)]):
                    pass
                case _:
                    continue
            nearest = next(one for one, _ in enclosing(node) if isinstance(one, ast.For | ast.While))
            if (
                name in bound
                or kept in bound
                or nearest is not loop
                or not any(_refills(one, name) for one in loop.body)
            ):
                continue
            yield program.finding(
                one_object_gathered,
                node,
                f"`{kept}` gets the same `{name}` in every turn, which is filled anew each time: after the loop, all "
                "entries are those of the last turn.",
            )
            return


def _refills(statement: ast.stmt, name: str) -> bool:
    """It replaces all of an array, or one entry of a dict: `buffer[:] = x`, `buffer.copy_(x)`, `row["a"] = x`."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=ast.Slice(lower=None, upper=None))]):
            return found == name
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=ast.Constant(value=key))]):
            return found == name and (key is ... or isinstance(key, str))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="copy_"))):
            return found == name
    return False


GATHERED_RULES = [one_object_gathered]
