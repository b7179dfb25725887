"""Following statements."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence

from recordsmith.doctor.lint.interpreter.containers import EMPTY_ARRAYS, remove_item, set_item
from recordsmith.doctor.lint.interpreter.library_names import canonical
from recordsmith.doctor.lint.interpreter.loops import (
    builds_a_list,
    known_members,
    loop_values,
    only_tests,
    range_members,
    role_of_loop,
)
from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.scope import Scope, condition_of
from recordsmith.doctor.lint.interpreter.settings import annotated_type, click_options
from recordsmith.doctor.lint.interpreter.truth import truth_of
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Element,
    Function,
    Group,
    Item,
    Literal,
    Many,
    Object,
    Operation,
    Parameter,
    ProgramClass,
    Symbol,
    Table,
    Unknown,
    Value,
    options_of,
    walk,
)
from recordsmith.doctor.lint.libraries.randomness import draws
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Use
from recordsmith.doctor.lint.libraries.tensorflow.written_features import filled_list

__all__ = ["Statements"]


class Statements(Machine):
    """The part of the interpreter that follows statements."""

    def execute(self, statements: Sequence[ast.stmt], scope: Scope) -> bool:
        """Follow statements; return whether the program continues after them."""
        return all(self.take_step() and self._execute_one(statement, scope) for statement in statements)

    def _execute_one(self, statement: ast.stmt, scope: Scope) -> bool:  # noqa: C901, PLR0912, PLR0915 - one for each statement
        match statement:
            case ast.Expr(value=node):
                self.evaluate(node, scope)
            case ast.Assign(targets=targets, value=node):
                value = self.evaluate(node, scope)
                for target in targets:
                    self.bind(target, value, scope)
            case ast.AnnAssign(target=target, value=node) if node is not None:
                self.bind(target, self.evaluate(node, scope), scope)
            case ast.AnnAssign(target=ast.Name(id=owned), annotation=kind) if scope.label.startswith("class "):
                scope.assign(owned, Parameter(owned, annotation=annotated_type(kind)))
            case ast.AugAssign(target=target, op=operator, value=node):
                whole = ast.copy_location(ast.BinOp(_as_load(target), operator, node), statement)
                value = self.evaluate(whole, scope)
                match value:
                    case Operation(operator="+", operands=(Group(members=known, is_list=True), Many(member=member))):
                        value = Group((*known, member), is_list=True, node=value.node)
                if isinstance(value, Group):
                    value.grown = True
                if isinstance(value, Literal) and self.open_branches:  # in a loop, nobody knows how often
                    value = Unknown(node=node)
                self.bind(target, value, scope)
            case ast.Import(names=names):
                for name in names:
                    path = name.name if name.asname else name.name.split(".")[0]
                    scope.assign(name.asname or path, self.imported_module(statement, path))
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                for star_name, value in self.imported_names(statement).items():
                    scope.assign(star_name, value)
            case ast.ImportFrom(names=names):
                for name in names:
                    scope.assign(name.asname or name.name, self.imported(statement, name.name))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(statement, scope)
            case ast.ClassDef():
                scope.assign(statement.name, self._class(statement, scope))
            case ast.Return(value=node):
                scope.returns.append((frozenset(scope.holds.items()), self.evaluate(node, scope)))
                return False
            case ast.Raise() | ast.Break() | ast.Continue():
                return False
            case ast.If():
                return self._if(statement, scope)
            case ast.For() | ast.AsyncFor():
                self._for(statement, scope)
            case ast.While(test=test, body=body, orelse=orelse):
                self._forget_counters(statement, scope)
                self.evaluate(test, scope)
                with self._open_branch():
                    carried = _carried(statement, scope)
                    self._try_body(body, scope)
                    _close(carried, scope)
                self.execute(orelse, scope)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    self._enter(item, scope)
                return self.execute(body, scope)
            case ast.Try() | ast.TryStar():
                return self._try(statement, scope)
            case ast.Global(names=global_names) | ast.Nonlocal(names=global_names):
                self._declare(statement, global_names, scope)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._delete(target, scope)
            case ast.Assert(test=test):
                self.evaluate(test, scope)
            case ast.Match():
                self._match(statement, scope)
        return True

    def imported(self, statement: ast.ImportFrom, name: str) -> Value:
        """Return what `from module import name` gives."""
        return Symbol(canonical(f"{statement.module}.{name}" if statement.module else name))

    def imported_names(self, statement: ast.ImportFrom) -> dict[str, Value]:  # noqa: ARG002 - a project uses it
        """Return what `from module import *` gives."""
        return {}

    def imported_module(self, statement: ast.stmt, path: str) -> Value:  # noqa: ARG002 - a project uses it
        """Return what `import path as name` gives."""
        return Symbol(path)

    def _delete(self, target: ast.expr, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.names.pop(name, None)
            case ast.Subscript(value=base, slice=index):
                removed = self.evaluate(index, scope)
                remove_item(self.evaluate(base, scope), removed, certain=not self.open_branches)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for one in targets:
                    self._delete(one, scope)

    def _declare(self, statement: ast.Global | ast.Nonlocal, names: Sequence[str], scope: Scope) -> None:
        outer = scope.parent
        while isinstance(statement, ast.Global) and outer is not None and outer.parent is not None:
            outer = outer.parent
        if outer is not None:
            scope.elsewhere |= dict.fromkeys(names, outer)

    def _define(self, statement: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        made = Function(statement, scope)
        self.decorated[id(statement)] = click_options([self.evaluate(one, scope) for one in statement.decorator_list])
        self.functions.append(made)
        scope.assign(statement.name, made)

    def _class(self, statement: ast.ClassDef, scope: Scope) -> ProgramClass:
        inner = Scope(scope, label=f"class {statement.name}")
        bases = tuple(self.evaluate(base, scope) for base in statement.bases)
        self.execute(statement.body, inner)
        inherited = {
            name: value
            for base in reversed(bases)
            if isinstance(base, ProgramClass)
            for name, value in base.members.items()
        }
        made = ProgramClass(statement, scope, {**inherited, **inner.names}, bases)
        self.classes.append(made)
        return made

    def _if(self, statement: ast.If, scope: Scope) -> bool:
        test = self.evaluate(statement.test, scope)
        truth = truth_of(test)
        condition, positive = condition_of(statement.test)
        if truth is None and condition in scope.holds:
            truth = scope.holds[condition] == positive
        if truth is not None:
            return self.execute(statement.body if truth else statement.orelse, scope)
        first, second = scope.branch(condition, holds=positive), scope.branch(condition, holds=not positive)
        self.undecided.append(statement)
        with self._open_branch():
            first_goes_on = self.execute(statement.body, first)
            second_goes_on = self.execute(statement.orelse, second)
        self.undecided.pop()
        if first_goes_on and second_goes_on:
            yes, no = (first, second) if positive else (second, first)
            scope.merge(condition, yes, no, by=test if draws(test) else None)
        elif first_goes_on or second_goes_on:
            scope.become(first if first_goes_on else second)
        return first_goes_on or second_goes_on

    def _for(self, statement: ast.For | ast.AsyncFor, scope: Scope) -> None:
        over = self.evaluate(statement.iter, scope)
        if builds_a_list(statement):
            over = range_members(over) or over
        for value, pipeline in loop_values(over):
            self.bind(statement.target, value, scope)
            if pipeline is not None:
                role = role_of_loop(statement, scope)
                self.uses.append(Use(role, pipeline, statement, statement.target))
            reached = len(self.uses), len(self.calls)
            whole = bool(known_members(over)) or (isinstance(over, Table) and bool(over.entries))
            if whole and not any(isinstance(one, ast.Break) for one in ast.walk(statement)):
                self._try_body(statement.body, scope)
            else:
                with self._open_branch():
                    self._forget_counters(statement, scope)
                    carried = _carried(statement, scope)
                    self._try_body(statement.body, scope)
                    _close(carried, scope)
            if pipeline is not None and role == "training" and only_tests(statement, scope, self.calls[reached[1] :]):
                self.uses[reached[0] - 1] = Use("validation", pipeline, statement, statement.target)
        self.execute(statement.orelse, scope)

    @contextlib.contextmanager
    def _open_branch(self) -> Iterator[None]:
        self.open_branches += 1
        try:
            yield
        finally:
            self.open_branches -= 1

    def _forget_counters(self, loop: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> None:
        """What a loop counts up is not known in its body, where the first turn has another number than the rest."""
        for node in ast.walk(loop):
            match node:
                case ast.AugAssign(target=ast.Name(id=name)) if isinstance(scope.lookup(name), Literal):
                    scope.assign(name, Unknown())
                case ast.AugAssign(target=ast.Attribute(value=base, attr=name)):
                    for one in options_of(self.evaluate(base, scope)):
                        if isinstance(one, Object) and isinstance(one.fields.get(name), Literal):
                            one.fields[name] = Unknown()

    def _try_body(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        inner = scope.branch(None, holds=True)
        self.execute(body, inner)
        scope.become(inner)

    def _enter(self, item: ast.withitem, scope: Scope) -> None:
        value = self.evaluate(item.context_expr, scope)
        for one in options_of(value):
            if isinstance(one, Call) and one.node is not None:
                self.managed.add(id(one.node))
                if one.name == "contextlib.closing" and one.args and one.args[0].node is not None:
                    self.managed.add(id(one.args[0].node))
        if item.optional_vars is not None:
            self.bind(item.optional_vars, value, scope)

    def _try(self, statement: ast.Try | ast.TryStar, scope: Scope) -> bool:
        before = scope.branch(None, holds=True)
        goes_on = self.execute(statement.body, scope)
        if goes_on:
            goes_on = self.execute(statement.orelse, scope)
        for handler in statement.handlers:
            inner = before.branch(None, holds=True)
            if handler.name:
                inner.assign(handler.name, Unknown())
            with self._open_branch():
                handled = self.execute(handler.body, inner)
            if handled:
                if goes_on:
                    scope.merge(None, scope.branch(None, holds=True), inner)
                else:
                    scope.become(inner)
                goes_on = True
        return self.execute(statement.finalbody, scope) and goes_on

    def _match(self, statement: ast.Match, scope: Scope) -> None:
        self.evaluate(statement.subject, scope)
        for case in statement.cases:
            inner = scope.branch(None, holds=True)
            for node in ast.walk(case.pattern):
                if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
                    inner.assign(node.name, Unknown())
            with self._open_branch():
                continues = self.execute(case.body, inner)
            if continues:
                scope.merge(None, scope.branch(None, holds=True), inner)

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:  # noqa: C901, PLR0912 - one for each target
        """Assign."""
        match target:
            case ast.Name(id=name):
                for one in options_of(value):
                    if isinstance(one, Pipeline):
                        one.names.append(name)
                scope.assign(name, value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self._unpack(targets, value, scope)
            case ast.Starred(value=inner):
                self.bind(inner, value, scope)
            case ast.Attribute(value=base, attr=name):
                for one in options_of(self.evaluate(base, scope)):
                    if isinstance(one, Object):
                        one.fields[name] = value
                    elif isinstance(one, Table):  # a namespace or a config
                        set_item(one, Literal(name), value, certain=not self.open_branches)
                    elif isinstance(one, Call | Item):
                        if isinstance(one, Call) and not self.open_branches:
                            one.replaced[name] = value
                        self.calls.append(Call(".__setattr__", one, (Literal(name), value), node=target))
                for one in options_of(value):
                    if isinstance(one, Pipeline):
                        one.names.append(name)
            case ast.Subscript(value=base, slice=index):
                changed = self.evaluate(base, scope)
                filled = filled_list(changed, "extend") if isinstance(index, ast.Slice) else None
                if filled is not None:
                    self.call(filled, changed, Arguments((value,)), _as_call(target, base))
                place = self.evaluate(index, scope)
                set_item(changed, place, value, certain=not self.open_branches)
                self._store(changed, place, value, _as_call(target, base))

    def _store(self, base: Value, index: Value, value: Value, node: ast.Call) -> None:
        """Note what is stored in an array or a table of a library."""
        for one in options_of(base):
            if isinstance(one, Call | Item | Operation) or (
                isinstance(one, Table | Group) and self._is_in_example(index)
            ):
                self.call(".__setitem__", one, Arguments((index, value)), node)
            if isinstance(one, Call) and one.name in EMPTY_ARRAYS:
                one.filled.append(value)
            if isinstance(one, Call) and isinstance(index, Literal) and isinstance(index.value, str):
                one.columns[index.value] = value

    @staticmethod
    def _is_in_example(index: Value) -> bool:
        """It is the number of an example, which a dataset is asked for."""
        return any(isinstance(one, Element) and one.kind == "index" for one in walk(index, 10))

    def _unpack(self, targets: list[ast.expr], value: Value, scope: Scope) -> None:
        known = value.members if isinstance(value, Group) else None
        exact = known is not None and not any(isinstance(one, ast.Starred) for one in targets)
        for position, target in enumerate(targets):
            if isinstance(target, ast.Starred):
                self.bind(target, Unknown(), scope)
            elif exact and known is not None and len(known) == len(targets):
                self.bind(target, known[position], scope)
            elif isinstance(value, Choice) or known is None:
                self.bind(target, self.subscript(value, Literal(position), None), scope)
            else:
                self.bind(target, Unknown(), scope)


def _as_call(target: ast.expr, function: ast.expr) -> ast.Call:
    """A call in place of an assignment that does the same."""
    made = ast.copy_location(ast.Call(function, [], []), target)
    made.source, made.parent = getattr(target, "source", None), getattr(target, "parent", None)  # type: ignore[attr-defined]
    return made


def _as_load(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            made: ast.expr = ast.Name(name, ast.Load())
        case ast.Attribute(value=value, attr=name):
            made = ast.Attribute(value, name, ast.Load())
        case ast.Subscript(value=value, slice=index):
            made = ast.Subscript(value, index, ast.Load())
        case _:
            return target
    made.source, made.parent = getattr(target, "source", None), getattr(target, "parent", None)  # type: ignore[attr-defined]
    return ast.copy_location(made, target)


def _carried(loop: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> dict[str, Choice]:
    """Make of each name that is None before a loop, and is set in it, what it is in the first turn or a later one."""
    found: dict[str, Choice] = {}
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in found:
            before = scope.lookup(node.id)
            if isinstance(before, Literal) and before.value is None:
                found[node.id] = Choice(((frozenset(), before), (frozenset(), Unknown())), node=before.node)
    for name, value in found.items():
        scope.assign(name, value)
    return found


def _close(carried: dict[str, Choice], scope: Scope) -> None:
    """Put into what a loop carries on what its body leaves there, which is what the next turn finds."""
    for name, value in carried.items():
        later = scope.lookup(name)
        if later is not None and all(one is not value for one in walk(later)):
            value.options = (value.options[0], (frozenset(), later))
