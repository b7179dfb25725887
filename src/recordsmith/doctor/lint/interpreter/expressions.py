"""Following expressions."""

from __future__ import annotations

import ast
import builtins

from recordsmith.doctor.lint.interpreter.arithmetic import combine
from recordsmith.doctor.lint.interpreter.library_names import canonical
from recordsmith.doctor.lint.interpreter.loops import known_members, loop_values
from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.scope import Scope, condition_of, join
from recordsmith.doctor.lint.interpreter.settings import default_of, setting
from recordsmith.doctor.lint.interpreter.truth import compare, truth_of
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Function,
    Group,
    Item,
    Literal,
    Many,
    Module,
    Object,
    Operation,
    Parameter,
    ProgramClass,
    Slice,
    Symbol,
    Table,
    Unknown,
    Value,
)
from recordsmith.doctor.lint.libraries.randomness import draws
from recordsmith.doctor.lint.libraries.tensorflow.dataset_sources import split_of_tfds
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline

__all__ = ["Expressions"]

# What a piece of code means by these names when the line that imports them is not in it.
_USUAL_NAMES = {"tf": "tensorflow", "np": "numpy", "keras": "keras", "tfds": "tensorflow_datasets", "pd": "pandas",
                "torch": "torch", "nn": "torch.nn"}  # fmt: skip


class Expressions(Machine):
    """The part of the interpreter that follows expressions."""

    def evaluate(self, node: ast.expr | None, scope: Scope) -> Value:  # noqa: C901, PLR0911, PLR0912 - one for each expression
        """Return what an expression is."""
        if not self.take_step():
            return Unknown(node=node)
        match node:
            case None:
                return Literal(None)
            case ast.Constant(value=constant):
                return Literal(constant, node=node)
            case ast.Name(id=name):
                return scope.lookup(name) or self._free_name(name, node)
            case ast.Attribute(value=base, attr=name):
                return self.attribute(self.evaluate(base, scope), name, node)
            case ast.Call():
                return self.evaluate_call(node, scope)
            case ast.Subscript(value=base, slice=index):
                made = self.subscript(self.evaluate(base, scope), self.evaluate(index, scope), node)
                self.items.append(made)
                return made
            case ast.Slice(lower=lower, upper=upper, step=step):
                return Slice(*(None if part is None else self.evaluate(part, scope) for part in (lower, upper, step)))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return self._group(node, elements, scope)
            case ast.Dict():
                return self._table(node, scope)
            case ast.BinOp(left=left, op=operator, right=right):
                made = combine(operator, self.evaluate(left, scope), self.evaluate(right, scope), node)
                self.operations.append(made)
                return made
            case ast.UnaryOp():
                return self._unary(node, scope)
            case ast.BoolOp():
                return self._boolean(node, scope)
            case ast.Compare():
                return self._compare(node, scope)
            case ast.IfExp():
                return self._if_expression(node, scope)
            case ast.Lambda():
                return Function(node, scope, node=node)
            case ast.NamedExpr(target=target, value=inner):
                value = self.evaluate(inner, scope)
                self.bind(target, value, scope)
                return value
            case ast.ListComp(elt=element) | ast.SetComp(elt=element) | ast.GeneratorExp(elt=element):
                each = self._each(element, node.generators, scope)
                if each is not None:
                    return Group(tuple(each), is_list=True, node=node)
                over: list[Value] = []
                member = self._comprehension(element, node.generators, scope, over)
                return Many(member, tuple(over), node=node)
            case ast.DictComp(key=key, value=inner):
                pair = ast.copy_location(ast.Tuple([key, inner], ast.Load()), node)
                each = self._each(pair, node.generators, scope)
                complete = each is not None
                return self._table_of(each or [self._comprehension(pair, node.generators, scope, [])], node, complete)
            case ast.Starred(value=inner) | ast.Await(value=inner):
                return self.evaluate(inner, scope)
            case ast.YieldFrom(value=inner):
                scope.yields.extend(value for value, _ in loop_values(self.evaluate(inner, scope)))
            case ast.Yield(value=inner):
                scope.yields.append(self.evaluate(inner, scope))
            case ast.JoinedStr(values=parts):
                return self._text(node, parts, scope)
            case ast.FormattedValue(value=inner):
                return self.evaluate(inner, scope)
        return Unknown(node=node)

    def _free_name(self, name: str, node: ast.Name) -> Value:
        if name in _USUAL_NAMES:
            return Symbol(_USUAL_NAMES[name], node=node)
        if name == "__name__":
            return Operation("__name__", (), node=node)
        if hasattr(builtins, name):
            return Symbol(f"builtins.{name}", node=node)
        return Parameter(name, node=node)

    def attribute(self, base: Value, name: str, node: ast.expr) -> Value:  # noqa: PLR0911 - one for each kind of value
        """Return `base.name`."""
        match base:
            case Symbol(path=path) if path.endswith("flags.FLAGS") and name in self.flags:
                return self.flags[name]
            case Symbol(path=path):
                return Symbol(canonical(f"{path}.{name}"), node=node)
            case Module(scope=inner):
                return inner.lookup(name) or self.submodule(base, name) or Unknown(node=node)
            case Table(entries=entries) if name in entries:  # of a namespace or a config
                return entries[name]
            case Call(replaced=replaced) if name in replaced:
                return replaced[name]
            case Call() | Item() if (option := self._option(base, name)) is not None:
                return option
            case Object(fields=fields, program_class=program_class):
                if name in fields:
                    return fields[name]
                return self._member(program_class.members.get(name), base, name, node)
            case ProgramClass(members=members):
                member = members.get(name)
                if isinstance(member, Function) and _is_decorated(member, "classmethod"):
                    return Function(member.definition, member.scope, owner=base)
                return member if member is not None else Unknown(node=node)
            case Choice(options=options, by=by):
                return join([(guards, self.attribute(one, name, node)) for guards, one in options], by=by)
        made = Item(base, Literal(name), attribute=True, node=node)
        self.attributes.append(made)
        return made

    def submodule(self, module: Module, name: str) -> Value | None:
        """Return a module inside an imported package."""
        raise NotImplementedError

    def _option(self, base: Call | Item, name: str) -> Value | None:
        """Return an option of the command line: `base` is what a parser gives, or a flag of absl."""
        if isinstance(base, Item) and isinstance(base.base, Call) and base.base.name == ".parse_known_args":
            base = base.base
        if not isinstance(base, Call):
            return None
        if base.name in (".parse_args", ".parse_known_args"):
            return self.options.get(id(base.receiver), {}).get(name)
        flag = base.argument(0, "name") if "flags.DEFINE_" in base.name and name == "value" else None
        return self.flags.get(str(flag.value)) if isinstance(flag, Literal) else None

    def _member(self, member: Value | None, owner: Object, name: str, node: ast.expr) -> Value:
        if isinstance(member, Call) and default_of(member) is not member:
            return setting(name, member)
        if not isinstance(member, Function):
            return member if member is not None else Item(owner, Literal(name), attribute=True, node=node)
        if _is_decorated(member, "staticmethod"):
            return member
        bound = Function(member.definition, member.scope, owner=owner)
        if _is_decorated(member, "property") or _is_decorated(member, "cached_property"):
            return self.follow(bound, Arguments())
        return bound

    def subscript(self, base: Value, index: Value, node: ast.expr | None) -> Value:
        """Return `base[index]`."""
        match base, index:
            case Choice(options=options, by=by), _:
                return join([(guards, self.subscript(one, index, node)) for guards, one in options], by=by)
            case Group(members=members), Literal(value=int() as position) if -len(members) <= position < len(members):
                return members[position]
            case Group(members=members, is_list=is_list), Slice(lower=lower, upper=upper, step=None):
                bounds = [
                    None if bound is None else bound.value
                    for bound in (lower, upper)
                    if isinstance(bound, Literal | None)
                ]
                if len(bounds) == 2 and all(isinstance(bound, int | None) for bound in bounds):
                    return Group(members[slice(*bounds)], is_list=is_list, node=node)
            case Table(entries=entries, complete=complete), Literal(value=key):
                return entries[key] if key in entries else Item(base, index, missing=complete, node=node)
            case Table(entries=entries), Symbol(path=key) if key in entries:
                return entries[key]
            case Many(member=member), Literal(value=int()):
                return member
            case Many(member=member), Slice():
                return Many(member, (Item(base, index, node=node),), node=node)
            case Parameter(name=name, annotation=str() as kind), Literal() | Unknown() if kind.startswith("list["):
                return Parameter(name, annotation=kind[5:-1], node=node)
            case Call(name=name), Literal(value=key) if name in ("tensorflow_datasets.load", ".as_dataset"):
                return split_of_tfds(self, base, key)
        return Item(base, index, node=node)

    def _group(self, node: ast.expr, elements: list[ast.expr], scope: Scope) -> Value:
        members: list[Value] = []
        for element in elements:
            value = self.evaluate(element, scope)
            if not isinstance(element, ast.Starred):
                members.append(value)
            elif isinstance(value, Group):
                members.extend(value.members)
            else:
                return Many(Unknown(), node=node)
        return Group(tuple(members), is_list=isinstance(node, ast.List), node=node)

    def _table(self, node: ast.Dict, scope: Scope) -> Value:
        table = Table({}, node=node)
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self.evaluate(value_node, scope)
            if key_node is None:
                if isinstance(value, Table):
                    table.entries |= value.entries
                table.complete &= isinstance(value, Table) and value.complete
                continue
            key = self.evaluate(key_node, scope)
            if isinstance(key, Literal):
                table.entries[key.value] = value
                _name_by_key(value, key)
            elif isinstance(key, Symbol):
                table.entries[key.path] = value
            else:
                table.complete = False
        return table

    @staticmethod
    def _table_of(pairs: list[Value], node: ast.expr, complete: bool) -> Value:  # noqa: FBT001 - of its own caller
        known = [
            pair.members
            for pair in pairs
            if isinstance(pair, Group) and len(pair.members) == 2 and isinstance(pair.members[0], Literal)
        ]
        entries = {key.value: value for key, value in known if isinstance(key, Literal)}
        for key, value in known:
            _name_by_key(value, key)
        return Table(entries, complete and len(known) == len(pairs), node=node)

    def _each(self, element: ast.expr, generators: list[ast.comprehension], scope: Scope) -> list[Value] | None:
        """What a comprehension over a few known members makes of each of them; None for any other."""
        if len(generators) != 1 or generators[0].ifs:
            return None
        members = known_members(self.evaluate(generators[0].iter, scope))
        if not members:
            return None
        made: list[Value] = []
        for member in members:
            inner = Scope(scope, label=scope.label)
            self.bind(generators[0].target, member, inner)
            made.append(self.evaluate(element, inner))
        return made

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            truth = truth_of(value)
            return Unknown(node=node) if truth is None else Literal(not truth, node=node)
        if isinstance(node.op, ast.USub) and isinstance(value, Literal) and isinstance(value.value, int | float):
            return Literal(-value.value, node=node)
        return Operation("-", (value,), node=node)

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Value:
        values = [self.evaluate(one, scope) for one in node.values]
        stops_at = isinstance(node.op, ast.Or)
        for value in values[:-1]:
            truth = truth_of(value)
            if truth is None:
                return (
                    Choice(tuple((frozenset(), one) for one in values), node=node) if stops_at else Unknown(node=node)
                )
            if truth == stops_at:
                return value
        return values[-1]

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.evaluate(node.left, scope)
        rights = [self.evaluate(one, scope) for one in node.comparators]
        if isinstance(left, Operation) and left.operator == "__name__":
            return Operation("main", (), node=node)
        if len(rights) == 1:
            decided = compare(type(node.ops[0]).__name__, left, rights[0])
            if decided is not None:
                return Literal(decided, node=node)
        made = Operation("compare", (left, *rights), node=node)
        self.operations.append(made)
        return made

    def _if_expression(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.evaluate(node.test, scope)
        truth = truth_of(test)
        condition, positive = condition_of(node.test)
        if truth is None and condition in scope.holds:
            truth = scope.holds[condition] == positive
        if truth is not None:
            return self.evaluate(node.body if truth else node.orelse, scope)
        sides = []
        for side, holds in ((node.body, positive), (node.orelse, not positive)):
            value = self.evaluate(side, scope.branch(condition, holds=holds))
            sides.append((frozenset({(condition, holds)}) if condition else frozenset(), value))
        return join(sides, by=test if draws(test) else None)

    def _comprehension(
        self, element: ast.expr, generators: list[ast.comprehension], scope: Scope, overs: list[Value]
    ) -> Value:
        inner = Scope(scope, label=scope.label)
        for generator in generators:
            over = self.evaluate(generator.iter, inner)
            overs.append(over)
            value, _ = next(iter(loop_values(over)))
            self.bind(
                generator.target, value if isinstance(over, Many | Pipeline | Parameter) else _any_like(over), inner
            )
            for condition in generator.ifs:
                self.evaluate(condition, inner)
        return self.evaluate(element, inner)

    def _text(self, node: ast.JoinedStr, parts: list[ast.expr], scope: Scope) -> Value:
        values = [self.evaluate(part, scope) for part in parts]
        plain = all(not isinstance(part, ast.FormattedValue) or part.format_spec is None for part in parts)
        if plain and all(isinstance(value, Literal) for value in values):
            return Literal("".join(str(value.value) for value in values if isinstance(value, Literal)), node=node)
        return Operation("text", tuple(values), node=node)

    def evaluate_call(self, node: ast.Call, scope: Scope) -> Value:
        """Return what a call gives."""
        raise NotImplementedError


def _name_by_key(value: Value, key: Value) -> None:
    """A dataset in a dict is called by its key: "train", "val"."""
    if isinstance(value, Pipeline) and isinstance(key, Literal) and isinstance(key.value, str):
        value.names.append(key.value)


def _any_like(over: Value) -> Value:
    """What any one member of a collection is, where they may differ."""
    if isinstance(over, Group) and over.members and all(isinstance(one, Pipeline) for one in over.members):
        return over.members[0]
    return Item(over, Unknown())


def _is_decorated(function: Function, name: str) -> bool:
    decorators = getattr(function.definition, "decorator_list", [])
    return any(ast.unparse(one).split("(")[0].split(".")[-1] == name for one in decorators)
