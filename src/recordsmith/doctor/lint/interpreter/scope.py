"""Names and what they stand for, along the branches of a program."""

from __future__ import annotations

import ast
import functools

from recordsmith.doctor.lint.interpreter.values import Choice, Literal, Symbol, Unknown, Value

__all__ = ["Scope", "condition_of", "join"]

_MOST_OPTIONS = 8  # of one value; past them it is unknown

Guards = frozenset[tuple[str, bool]]


class Scope:
    """The names of a module, class or function, and the conditions that hold where the program is being followed.

    >>> scope = Scope()
    >>> scope.names["x"] = Literal(3)
    >>> scope.lookup("x").value
    3
    """

    def __init__(self, parent: Scope | None = None, *, label: str = "") -> None:
        self.parent = parent
        self.label = label
        self.names: dict[str, Value] = {}
        self.holds: dict[str, bool] = {} if parent is None else dict(parent.holds)
        self.returns: list[tuple[Guards, Value]] = []
        self.yields: list[Value] = []  # of a generator function
        self.elsewhere: dict[str, Scope] = {}  # names declared global or nonlocal

    def lookup(self, name: str) -> Value | None:
        """Return what a name stands for here, of a choice only what the conditions allow; None if it has no value."""
        if name in self.elsewhere:
            return self.elsewhere[name].lookup(name)
        value = self.names.get(name)
        if value is not None:
            return self.narrow(value)
        above = self.parent
        while above is not None and above.label.startswith("class "):
            above = above.parent  # names of a class are not visible in its methods
        return None if above is None else above.lookup(name)

    def assign(self, name: str, value: Value) -> None:
        """Bind a name."""
        target = self.elsewhere.get(name, self)
        target.names[name] = value

    def narrow(self, value: Value) -> Value:
        """Leave of a choice only what the conditions that hold here allow."""
        if not isinstance(value, Choice):
            return value
        allowed = [(guards, one) for guards, one in value.options if not self.contradicts(guards)]
        if len(allowed) == len(value.options) or not allowed:
            return value
        return allowed[0][1] if len(allowed) == 1 else Choice(tuple(allowed), by=value.by, node=value.node)

    def contradicts(self, guards: Guards) -> bool:
        """Tell whether one of the conditions is known not to hold."""
        return any(self.holds.get(condition, wanted) != wanted for condition, wanted in guards)

    def branch(self, condition: str | None, *, holds: bool) -> Scope:
        """Return a copy for one side of a branch; returns go to the same list."""
        copy = Scope(self.parent, label=self.label)
        copy.names = dict(self.names)
        copy.holds = dict(self.holds)
        if condition is not None:
            copy.holds[condition] = holds
        copy.returns = self.returns
        copy.yields = self.yields
        copy.elsewhere = self.elsewhere
        return copy

    def become(self, other: Scope) -> None:
        """Go on as a branch ended, because no other one goes on."""
        self.names = other.names
        self.holds = other.holds

    def merge(self, condition: str | None, first: Scope, second: Scope, *, by: Value | None = None) -> None:
        """Continue as two branches ended; what differs becomes a choice by the condition, whose value is `by`."""
        merged: dict[str, Value] = {}
        yes, no = (frozenset({(condition, flag)}) if condition else frozenset() for flag in (True, False))
        for name in {**first.names, **second.names}:
            one, other = first.names.get(name), second.names.get(name)
            if one is None or other is None:
                merged[name] = one or other or Unknown()
            else:
                merged[name] = one if one is other else join([(yes, one), (no, other)], by=by)
        self.names = merged
        self.holds = {key: value for key, value in first.holds.items() if second.holds.get(key) == value}


def join(options: list[tuple[Guards, Value]], *, by: Value | None = None) -> Value:
    """Make one value of several possible ones; `by` is the value of the condition that decides.

    >>> join([(frozenset(), Literal(3)), (frozenset(), Literal(3))]).value
    3
    """
    flat: list[tuple[Guards, Value]] = []
    for guards, value in options:
        inner = value.options if isinstance(value, Choice) else ((frozenset[tuple[str, bool]](), value),)
        by = by or (value.by if isinstance(value, Choice) else None)
        for more, one in inner:
            together = guards | more
            impossible = any((condition, not wanted) in together for condition, wanted in together)
            if not impossible and not any(_same(one, known) for _, known in flat):
                flat.append((together, one))
    if not flat or len(flat) > _MOST_OPTIONS:
        return Unknown()
    return flat[0][1] if len(flat) == 1 else Choice(tuple(flat), by=by, node=flat[0][1].node)


@functools.lru_cache(maxsize=4096)
def condition_of(test: ast.expr) -> tuple[str | None, bool]:
    """Return a condition's source without a leading `not`, and whether it was without one.

    >>> condition_of(ast.parse("not training", mode="eval").body)
    ('training', False)
    """
    positive = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, positive = test.operand, not positive
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot | ast.NotEq):
        same = ast.Is() if isinstance(test.ops[0], ast.IsNot) else ast.Eq()
        return f"{ast.unparse(test.left)} {type(same).__name__} {ast.unparse(test.comparators[0])}", not positive
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return f"{ast.unparse(test.left)} {type(test.ops[0]).__name__} {ast.unparse(test.comparators[0])}", positive
    return ast.unparse(test), positive


def _same(one: Value, other: Value) -> bool:
    if one is other:
        return True
    if isinstance(one, Literal) and isinstance(other, Literal):
        return type(one.value) is type(other.value) and bool(one.value == other.value)
    if isinstance(one, Symbol) and isinstance(other, Symbol):
        return one.path == other.path
    return isinstance(one, Unknown) and isinstance(other, Unknown)
