"""Following calls: of functions and classes of the program, of libraries, and methods of values."""

from __future__ import annotations

import ast
import functools

from recordsmith.doctor.lint.interpreter.library_names import canonical
from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.python_types import is_instance
from recordsmith.doctor.lint.interpreter.scope import Scope, join
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Function,
    Group,
    Item,
    Literal,
    Many,
    Object,
    Parameter,
    ProgramClass,
    Symbol,
    Table,
    Unknown,
    Value,
)
from recordsmith.doctor.lint.libraries.dataset_methods import dataset_method, looks_like_dataset_method
from recordsmith.doctor.lint.libraries.dataset_sources import dataset_source
from recordsmith.doctor.lint.libraries.pipelines import Pipeline, Source, Use
from recordsmith.doctor.lint.libraries.torch_modules import WRAPS_MODULE, same_object

__all__ = ["Calls"]

_DEEPEST = 14  # functions within functions
_MOST_APPENDED = 64

# What these give is the function that they are given.
_WRAPPERS = {
    "tensorflow.function",
    "tensorflow.autograph.experimental.do_not_convert",
    "jax.jit",
    "functools.wraps",
    "functools.lru_cache",
    "functools.cache",
    "torch.no_grad",
    "contextlib.closing",
}
_RUNS = ("run", "experimental_run_v2")
_POOL_MAPS = ("map", "starmap", "imap", "imap_unordered", "submit", "apply_async")
# Methods of models that take datasets: the position or name, and what they are for.
_CONSUMERS: dict[str, tuple[tuple[int | None, str, str], ...]] = {
    "fit": ((0, "x", "training"), (None, "validation_data", "validation")),
    "fit_generator": ((0, "generator", "training"), (None, "validation_data", "validation")),
    "evaluate": ((0, "x", "validation"),),
    "evaluate_generator": ((0, "generator", "validation"),),
    "predict": ((0, "x", "prediction"),),
}


class Calls(Machine):
    """The part of the interpreter that follows calls."""

    def evaluate_call(self, node: ast.Call, scope: Scope) -> Value:
        """Return what a call gives."""
        if isinstance(node.func, ast.Attribute) and _is_super(node.func.value):
            self._arguments(node, scope)
            return Unknown(node=node)
        callee = self.evaluate(node.func.value if isinstance(node.func, ast.Attribute) else node.func, scope)
        arguments = self._arguments(node, scope)
        self.sites.append(node)
        try:
            if isinstance(node.func, ast.Attribute):
                return self.method(callee, node.func.attr, arguments, node, scope)
            return self.apply(callee, arguments, node, scope)
        finally:
            self.sites.pop()

    def _arguments(self, node: ast.Call, scope: Scope) -> Arguments:
        positional: list[Value] = []
        exact = True
        for argument in node.args:
            value = self.evaluate(argument, scope)
            if not isinstance(argument, ast.Starred):
                positional.append(value)
            elif isinstance(value, Group):
                positional.extend(value.members)
            else:
                exact = False
                break
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Table):
                keywords |= {str(key): one for key, one in value.entries.items()}
                exact &= value.complete
            else:
                exact = False
        return Arguments(tuple(positional), keywords, exact)

    def apply(self, callee: Value, arguments: Arguments, node: ast.Call, scope: Scope) -> Value:
        """Return what a call of a value gives."""
        match callee:
            case Function():
                return self.follow(callee, arguments)
            case ProgramClass():
                return self._instance(callee, arguments, node)
            case Symbol(path=path):
                return self._library(path, arguments, node)
            case Choice(options=options):
                return join([(guards, self.apply(one, arguments, node, scope)) for guards, one in options])
            case Object(program_class=program_class):
                for name in ("__call__", "call", "forward"):
                    member = program_class.members.get(name)
                    if isinstance(member, Function):
                        return self.follow(Function(member.definition, member.scope, owner=callee), arguments)
            case Item(base=base, index=Literal(value=str() as name), attribute=True):
                return self.method(base, name, arguments, node, scope)
        made = self.call("()", callee, arguments, node)
        self._hand_over(made)
        return made

    def method(self, receiver: Value, name: str, arguments: Arguments, node: ast.Call, scope: Scope) -> Value:
        """Return what a method of a value gives."""
        match receiver:
            case Symbol(path=path):
                return self._library(canonical(f"{path}.{name}"), arguments, node)
            case Choice(options=options):
                return join([(guards, self.method(one, name, arguments, node, scope)) for guards, one in options])
            case Pipeline():
                return dataset_method(self, receiver, name, arguments, node)
            case Object() | ProgramClass():
                member = self.attribute(receiver, name, node.func)
                if isinstance(member, Function | ProgramClass | Choice | Object | Call):
                    return self.apply(member, arguments, node, scope)
            case Table() if name in ("get", "pop", "copy", "update", "setdefault"):
                return self._table_method(receiver, name, arguments)
            case Group() if name in ("append", "extend", "insert"):
                receiver.grown = True  # in a loop, nobody knows how often
                if name == "append" and len(receiver.members) < _MOST_APPENDED:
                    receiver.members = (*receiver.members, *arguments.positional[-1:])
                elif name == "extend" and len(receiver.members) < _MOST_APPENDED:
                    receiver.members = (*receiver.members, *(Item(one, Unknown()) for one in arguments.positional))
                return Literal(None)
            case Call(name="functools.partial"):
                pass
        if looks_like_dataset_method(receiver, name, arguments):
            pipeline = Pipeline(Source("unknown", None), node=receiver.node)
            pipeline.names += [receiver.name] if isinstance(receiver, Parameter) else []
            self.pipelines.append(pipeline)
            return dataset_method(self, pipeline, name, arguments, node)
        return self._foreign_method(receiver, name, arguments, node)

    def attribute(self, base: Value, name: str, node: ast.expr) -> Value:
        """Return `base.name`."""
        raise NotImplementedError

    def _foreign_method(self, receiver: Value, name: str, arguments: Arguments, node: ast.Call) -> Value:
        made = self.call(f".{name}", receiver, arguments, node)
        if name == "compile" and isinstance(receiver, Object):
            self._follow_model(receiver)
        for position, keyword, role in _CONSUMERS.get(name, ()):
            for pipeline in pipelines_in(made.argument(position, keyword)):
                self.uses.append(Use(role, pipeline, node))
        if name in (*_RUNS, *_POOL_MAPS) and arguments.positional:
            function = arguments.positional[0]
            inner = made.argument(1, "args")
            if isinstance(function, Function):
                given = inner.members if isinstance(inner, Group) and name in _RUNS else ()
                made.gives = self.follow(function, Arguments(given, exact=False))
            return made
        if name == "as_dataset":
            return dataset_source(self, made) or made
        same = same_object(made)
        if same is not None:
            return same
        self._hand_over(made)
        return made

    def _follow_model(self, model: Object) -> None:
        """Keep what a model of the program gives for any input, as its field `()`."""
        member = model.program_class.members.get("call")
        if isinstance(member, Function) and "()" not in model.fields:
            arguments = Arguments((Unknown(),), exact=False)
            model.fields["()"] = self.follow(Function(member.definition, member.scope, owner=model), arguments)

    def _table_method(self, table: Table, name: str, arguments: Arguments) -> Value:
        if name == "copy":
            return Table(dict(table.entries), table.complete, node=table.node)
        if name == "update":
            given = arguments.positional[0] if arguments.positional else None
            if isinstance(given, Table):
                table.entries |= given.entries
                table.complete &= given.complete
            table.entries |= arguments.keywords
            table.complete &= given is None or isinstance(given, Table)
            return Literal(None)
        key = arguments.positional[0] if arguments.positional else None
        if isinstance(key, Literal) and key.value in table.entries:
            return table.entries.pop(key.value) if name == "pop" else table.entries[key.value]
        return Unknown()

    def _library(self, path: str, arguments: Arguments, node: ast.Call) -> Value:
        if path in _WRAPPERS and arguments.positional:
            return arguments.positional[0]
        made = self.call(path, None, arguments, node)
        simple = self._simple(path, made)
        if simple is not None:
            return simple
        pipeline = dataset_source(self, made)
        if pipeline is not None:
            return pipeline
        if path.startswith("tensorflow.data.Dataset.") and arguments.positional:
            receiver, *rest = arguments.positional  # the method, called on the class
            if isinstance(receiver, Pipeline):
                given = Arguments(tuple(rest), arguments.keywords, arguments.exact)
                return dataset_method(self, receiver, path.rpartition(".")[2], given, node)
        self._hand_over(made)
        return made

    def _simple(self, path: str, made: Call) -> Value | None:
        first = made.args[0] if made.args else None
        if path == "functools.partial" and isinstance(first, Function):
            return Function(
                first.definition,
                first.scope,
                owner=first.owner,
                bound=(*first.bound, *made.args[1:]),
                bound_keywords={**first.bound_keywords, **made.keywords},
                node=made.node,
            )
        if path == "builtins.isinstance" and len(made.args) == 2:
            decided = is_instance(*made.args)
            return None if decided is None else Literal(decided, node=made.node)
        if path == "builtins.len" and isinstance(first, Group):
            return None if first.grown else Literal(len(first.members))
        if path in ("builtins.list", "builtins.tuple", "builtins.sorted") and isinstance(first, Group | Many):
            return first if path != "builtins.sorted" else None
        if path in ("builtins.int", "builtins.float", "builtins.str") and isinstance(first, Literal):
            return _converted(path, first)
        if path == "builtins.dict" and not made.args:
            return Table(dict(made.keywords), made.exact, node=made.node)
        if path == "builtins.next" and isinstance(first, Call | Pipeline):
            found = pipelines_in(first)
            return found[0].element if found else None
        if path in WRAPS_MODULE:
            return first
        if path == "tensorflow.cond":
            sides = [made.argument(1, "true_fn"), made.argument(2, "false_fn")]
            return join([(frozenset(), self.follow(side, Arguments())) for side in sides if isinstance(side, Function)])
        return None

    def _hand_over(self, made: Call) -> None:
        """Follow the functions of the program that something unknown is given, so that their bodies are seen."""
        for value in (*made.args, *made.keywords.values()):
            if isinstance(value, Function) and id(value.definition) not in self.followed:
                inside = "map:" if made.in_map else ""
                inside = "python:" if made.name == "tensorflow.py_function" else inside
                self.follow_with_unknown(value, label=f"{inside}{value.name}")

    def _instance(self, program_class: ProgramClass, arguments: Arguments, node: ast.Call) -> Value:
        made = Object(program_class, node=node)
        self.instances.append(made)
        start = program_class.members.get("__init__")
        if isinstance(start, Function):
            self.follow(Function(start.definition, start.scope, owner=made), arguments)
        elif any("dataclass" in ast.unparse(one) for one in program_class.definition.decorator_list):
            names = [
                one.target.id
                for one in program_class.definition.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            ]
            made.fields |= dict(zip(names, arguments.positional, strict=False)) | arguments.keywords
        return made

    def follow(self, function: Function, arguments: Arguments, *, label: str = "") -> Value:
        """Return what a function of the program gives for these arguments."""
        definition = function.definition
        if len(self.stack) >= _DEEPEST or self.stack.count(label or function.name) > 1 or not self.take_step():
            return Unknown()
        self.followed.add(id(definition))
        scope = Scope(function.scope, label=function.name)
        self._bind_parameters(function, arguments, scope)
        self.stack.append(label or function.name)
        try:
            if isinstance(definition, ast.Lambda):
                return self.evaluate(definition.body, scope)
            goes_on = self.execute(definition.body, scope)
        finally:
            self.stack.pop()
        if _is_generator(definition):
            return Unknown()
        results = list(scope.returns)
        if goes_on and not results:
            return Literal(None)
        return join(results) if results else Unknown()

    def _bind_parameters(self, function: Function, arguments: Arguments, scope: Scope) -> None:
        signature = function.definition.args
        names = [one.arg for one in (*signature.posonlyargs, *signature.args)]
        given = (*((function.owner,) if function.owner is not None else ()), *function.bound, *arguments.positional)
        defaults = dict(zip(names[len(names) - len(signature.defaults) :], signature.defaults, strict=True))
        defaults |= {
            one.arg: default
            for one, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
            if default is not None
        }
        keywords = {**function.bound_keywords, **arguments.keywords}
        values = dict(zip(names, given, strict=False))
        for name in (*names, *(one.arg for one in signature.kwonlyargs)):
            if name in keywords:
                value = keywords.pop(name)
            elif name in values:
                value = values[name]
            elif name in defaults and arguments.exact:
                value = self.evaluate(defaults[name], function.scope)
            else:
                value = Parameter(name, self.evaluate(defaults[name], function.scope) if name in defaults else None)
            scope.names[name] = value
        if signature.vararg is not None:
            rest = given[len(names) :]
            scope.names[signature.vararg.arg] = Group(tuple(rest)) if arguments.exact else Unknown()
        if signature.kwarg is not None:
            scope.names[signature.kwarg.arg] = Table(keywords, arguments.exact)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _converted(path: str, value: Literal) -> Value | None:
    try:
        return Literal({"builtins.int": int, "builtins.float": float, "builtins.str": str}[path](value.value))
    except (TypeError, ValueError):
        return None


@functools.lru_cache(maxsize=4096)
def _is_generator(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    waiting: list[ast.AST] = list(definition.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return False
