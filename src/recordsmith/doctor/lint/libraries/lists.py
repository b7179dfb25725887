"""Lists that a program makes empty and fills."""

from __future__ import annotations

import ast

from recordsmith.doctor.lint.interpreter.values import Group

__all__ = ["name_of_list"]


def name_of_list(group: Group) -> str | None:
    """Return the name that a list got where it was made; None if it got none."""
    parent = getattr(group.node, "parent", None)
    if isinstance(parent, ast.Tuple):
        targets = getattr(getattr(parent, "parent", None), "targets", [None])[0]
        position = parent.elts.index(group.node) if group.node in parent.elts else 0
        parent_names = targets.elts if isinstance(targets, ast.Tuple) else []
        target = parent_names[position] if position < len(parent_names) else None
    else:
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else None
