"""Arrays that belong together, of which a branch flips or turns only one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from recordsmith.doctor.lint.libraries.control_flow import function_of

__all__ = ["moved_alone"]

_MOVES = re.compile(
    r"(np|numpy|cv2|torch|TF|F)\.(flip|fliplr|flipud|rot90|transpose|hflip|vflip|rotate)|\w+\.(transpose|flip|rot90)"
)


def moved_alone(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.AST, str, str, str]]:
    """Yield where one branch moves two arrays alike, so that they belong together, and another moves only one.

    Each comes with the name of that one, the function that moves it, and the name of the other.

    >>> tree = ast.parse("if a: x, y = x, y")
    >>> list(moved_alone(ast.walk(tree)))
    []
    """
    for node in nodes:
        if not isinstance(node, ast.If) or not isinstance(function_of(node), ast.FunctionDef):
            continue
        parent = getattr(node, "parent", None)
        if isinstance(parent, ast.If) and node in parent.orelse:
            continue  # the chain is looked at from its beginning
        bodies = [_moved(body) for body in _bodies(node)]
        both = next(
            (set(one) for one in bodies if len(one) == 2 and len({call for _, call in one.values()}) == 1), None
        )
        for alone in bodies if both is not None else ():
            if both is not None and len(alone) == 1 and set(alone) < both:
                (name, (place, call)), (other,) = next(iter(alone.items())), both - set(alone)
                yield place, name, call, other
                return


def _bodies(node: ast.If) -> Iterator[list[ast.stmt]]:
    """The bodies of `if`, `elif` and `else`."""
    yield node.body
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        yield from _bodies(node.orelse[0])
    elif node.orelse:
        yield node.orelse


def _moved(body: list[ast.stmt]) -> dict[str, tuple[ast.AST, str]]:
    """The names that are flipped or turned, `image = np.flip(image, 1)`, each with its place and the function."""
    found: dict[str, tuple[ast.AST, str]] = {}
    for node in (one for statement in body for one in ast.walk(statement)):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called) as call):
                given = [one.id for one in ast.walk(call) if isinstance(one, ast.Name)]
                if name in given and _MOVES.fullmatch(ast.unparse(called)):
                    found[name] = (node, ast.unparse(called))
    return found
