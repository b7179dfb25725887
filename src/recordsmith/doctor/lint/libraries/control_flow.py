"""Where a call stands in the flow of the program: the loops and conditions around it, and where it was reached from."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call

__all__ = ["conditions_around", "enclosing", "is_handed_over", "loops_around", "root_of", "statement_of"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


def enclosing(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield what is around a node inside its function, innermost first, each with the part that contains the node."""
    child, parent = node, getattr(node, "parent", None)
    while parent is not None and not isinstance(parent, _FUNCTIONS):
        yield parent, child
        child, parent = parent, getattr(parent, "parent", None)


def function_of(node: ast.AST) -> ast.AST | None:
    """Return the function that a node is in; None at the top of a module."""
    parent = getattr(node, "parent", None)
    while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        parent = getattr(parent, "parent", None)
    return parent


@functools.lru_cache(maxsize=16384)
def _own_loops(node: ast.AST) -> tuple[ast.AST, ...]:
    found: list[ast.AST] = []
    for parent, child in enclosing(node):
        if isinstance(parent, ast.For | ast.AsyncFor) and (child is parent.iter or child in parent.orelse):
            continue
        if isinstance(parent, _LOOPS):
            found.append(parent)
    return tuple(found[::-1])


def loops_around(call: Call) -> tuple[ast.AST, ...]:
    """Return the loops that a call runs in, outermost first, also those of the functions that led to it."""
    found = tuple(loop for node in (*call.via, call.node) if node is not None for loop in _own_loops(node))
    root = root_of(call)
    stepped = isinstance(root, ast.FunctionDef) and root.name == "training_step"  # Lightning calls it for each batch
    return (root, *found) if stepped and root is not None else found


def conditions_around(call: Call, loop: ast.AST | None = None) -> list[tuple[ast.If, bool]]:
    """Return the undecided `if`s around a call inside a loop, innermost first, each with whether it is in its body."""
    found: list[tuple[ast.If, bool]] = []
    for node in (call.node, *reversed(call.via)):
        for parent, child in enclosing(node) if node is not None else ():
            if parent is loop:
                return found
            if isinstance(parent, ast.If) and parent in call.undecided and child is not parent.test:
                found.append((parent, child in parent.body))
    return found


def is_handed_over(call: Call) -> bool:
    """Tell whether a call is in an inner function that was given to something else to run: nobody knows when."""
    function = None if call.node is None else function_of(call.node)
    if not isinstance(function, ast.FunctionDef) or function_of(function) is None or not call.via:
        return False
    return ast.unparse(call.via[-1].func).rpartition(".")[2] != function.name


def root_of(call: Call) -> ast.AST | None:
    """Return the function that nothing followed calls and that led to this call; None for the module itself."""
    first = call.via[0] if call.via else call.node
    return None if first is None else function_of(first)


def statement_of(node: ast.AST) -> ast.stmt | None:
    """Return the statement that a node is in."""
    one: ast.AST | None = node
    while one is not None and not isinstance(one, ast.stmt):
        one = getattr(one, "parent", None)
    return one
