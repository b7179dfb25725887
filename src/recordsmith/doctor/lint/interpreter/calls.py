"""Following calls: of functions and classes of the program, of libraries, and methods of values."""

from __future__ import annotations

import ast
import functools

from recordsmith.doctor.lint.interpreter.containers import TABLE_METHODS, add_members, table_method
from recordsmith.doctor.lint.interpreter.known_functions import known_result, text_method
from recordsmith.doctor.lint.interpreter.library_names import canonical
from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.scope import Scope, join
from recordsmith.doctor.lint.interpreter.settings import annotated_type, option_of_argparse, setting
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
    Parameter,
    ProgramClass,
    Symbol,
    Table,
    Unknown,
    Value,
    options_of,
)
from recordsmith.doctor.lint.libraries.keras_sequences import sequence_batches
from recordsmith.doctor.lint.libraries.tensorflow.dataset_methods import dataset_method, looks_like_dataset_method
from recordsmith.doctor.lint.libraries.tensorflow.dataset_sources import dataset_source
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parsed_tables
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Source, Use
from recordsmith.doctor.lint.libraries.tensorflow.written_features import filled_list
from recordsmith.doctor.lint.libraries.torch.modules import WRAPS_MODULE, same_object
from recordsmith.doctor.lint.libraries.torch.training import trained_by_library

__all__ = ["Calls"]

_DEEPEST = 14  # functions within functions

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
_OPTION_GROUPS = {".add_argument_group", ".add_mutually_exclusive_group"}
_FLAG_TYPES = {"string": "str", "integer": "int", "float": "float", "bool": "bool", "boolean": "bool"}
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
            return self._super(node, node.func.attr, self._arguments(node, scope), scope)
        callee = self.evaluate(node.func.value if isinstance(node.func, ast.Attribute) else node.func, scope)
        arguments = self._arguments(node, scope)
        if isinstance(callee, Symbol) and callee.path == "builtins.zip":
            columns = _unzipped(arguments)
            if columns is not None:
                return columns
        self.sites.append(node)
        try:
            if isinstance(node.func, ast.Attribute):
                return self.method(callee, node.func.attr, arguments, node, scope)
            return self.apply(callee, arguments, node, scope)
        finally:
            self.sites.pop()

    def _super(self, node: ast.Call, name: str, arguments: Arguments, scope: Scope) -> Value:
        """Follow a method of a base class of the program."""
        outer: ast.AST | None = node
        while outer is not None and not isinstance(outer, ast.ClassDef):
            outer = getattr(outer, "parent", None)
        owner = scope.lookup("self")
        own = next((one for one in self.classes if one.definition is outer), None)
        if own is None and isinstance(owner, Object):
            own = owner.program_class
        for base in own.bases if own is not None else ():
            member = base.members.get(name) if isinstance(base, ProgramClass) else None
            if isinstance(member, Function):
                return self.follow(Function(member.definition, member.scope, owner=owner), arguments)
        return Unknown(node=node)

    def _arguments(self, node: ast.Call, scope: Scope) -> Arguments:
        positional: list[Value] = []
        exact, starred = True, None
        for argument in node.args:
            value = self.evaluate(argument, scope)
            if not isinstance(argument, ast.Starred):
                positional.append(value)
            elif isinstance(value, Group):
                positional.extend(value.members)
            else:
                exact, starred = False, value
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
        return Arguments(tuple(positional), keywords, exact, starred)

    def apply(self, callee: Value, arguments: Arguments, node: ast.Call, scope: Scope) -> Value:
        """Return what a call of a value gives."""
        match callee:
            case Function():
                return self.follow(callee, arguments)
            case ProgramClass():
                return self._instance(callee, arguments, node)
            case Symbol(path=path):
                return self._library(path, arguments, node)
            case Choice(options=options, by=by):
                return join([(guards, self.apply(one, arguments, node, scope)) for guards, one in options], by=by)
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

    def method(  # noqa: PLR0911 - one for each kind of value
        self, receiver: Value, name: str, arguments: Arguments, node: ast.Call, scope: Scope
    ) -> Value:
        """Return what a method of a value gives."""
        match receiver:
            case Symbol(path=path):
                return self._library(canonical(f"{path}.{name}"), arguments, node)
            case Choice(options=options, by=by):
                return join(
                    [(guards, self.method(one, name, arguments, node, scope)) for guards, one in options], by=by
                )
            case Pipeline():
                return dataset_method(self, receiver, name, arguments, node)
            case Object() if name == "__call__":
                return self.apply(receiver, arguments, node, scope)
            case Object() | ProgramClass():
                member = self.attribute(receiver, name, node.func)
                if isinstance(member, Function | ProgramClass | Choice | Object | Call | Symbol):
                    return self.apply(member, arguments, node, scope)
            case Module():
                return self.apply(self.attribute(receiver, name, node.func), arguments, node, scope)
            case Table() if name in TABLE_METHODS:
                self.call(f".{name}", receiver, arguments, node)
                return table_method(receiver, name, arguments, certain=not self.open_branches)
            case Literal(value=str() as text):
                known = text_method(text, name, arguments)
                if known is not None:
                    known.node = node
                    return known
            case Group() if name in ("append", "extend", "insert"):
                add_members(receiver, name, arguments, certain=not self.open_branches)
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
        filled = filled_list(receiver, name)
        if filled is not None and arguments.positional:
            value = Group(arguments.positional, is_list=True) if name == "append" else arguments.positional[0]
            return self.call(filled, receiver, Arguments((value,)), node)
        made = self.call(f".{name}", receiver, arguments, node)
        if name in ("add_module", "append") and isinstance(receiver, Call) and receiver.name == "torch.nn.Sequential":
            receiver.args = (*receiver.args, *arguments.positional[-1:])
            receiver.exact &= not self.open_branches
        if name == "add_argument":
            self._add_option(made)
        if name == "parse_args_into_dataclasses":
            return self._parsed_dataclasses(made, node)
        if name == "compile":
            self._follow_compiled(receiver, made)
        for position, keyword, role in _CONSUMERS.get(name, ()):
            given_data = made.argument(position, keyword)
            for pipeline in [*pipelines_in(given_data), *sequence_batches(self, given_data, made)]:
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
        trained_by_library(self, made)
        self._hand_over(made)
        return made

    def _follow_compiled(self, model: Value, compiled: Call) -> None:
        """Keep what a model of the program gives for any input, as its field `()`, and follow its own loss with it."""
        output: Value = Call("()", model, (Unknown(),), node=compiled.node)
        if isinstance(model, Object):
            member = model.program_class.members.get("call")
            if isinstance(member, Function) and "()" not in model.fields:
                arguments = Arguments((Unknown(),), exact=False)
                model.fields["()"] = self.follow(Function(member.definition, member.scope, owner=model), arguments)
            output = model.fields.get("()", Unknown())
        for given in options_of(compiled.argument(1, "loss")):
            loss = given.program_class.members.get("call") if isinstance(given, Object) else given
            if isinstance(loss, Function) and not isinstance(output, Unknown):
                known = id(loss.definition) in self.followed
                owner = given if isinstance(given, Object) else loss.owner
                bound = Function(loss.definition, loss.scope, owner, loss.bound, loss.bound_keywords)
                self.follow(bound, Arguments((Parameter("y_true"), output)))
                if not known:
                    self.followed.discard(id(loss.definition))  # it is followed with any predictions, too

    def _library(self, path: str, arguments: Arguments, node: ast.Call) -> Value:
        if path in _WRAPPERS and arguments.positional:
            return arguments.positional[0]
        made = self.call(path, None, arguments, node)
        simple = known_result(self, made) or parsed_tables(made)
        if simple is not None:
            return simple
        if path in WRAPS_MODULE and arguments.positional:
            return arguments.positional[0]
        if "flags.DEFINE_" in path:
            self._define_flag(made)
            return made
        pipeline = dataset_source(self, made)
        if pipeline is not None:
            return pipeline
        if path.startswith("tensorflow.data.Dataset.") and arguments.positional:
            receiver, *rest = arguments.positional  # the method, called on the class
            if isinstance(receiver, Pipeline):
                given = Arguments(tuple(rest), arguments.keywords, arguments.exact)
                return dataset_method(self, receiver, path.rpartition(".")[2], given, node)
        trained_by_library(self, made)
        self._hand_over(made)
        return made

    def _add_option(self, call: Call) -> None:
        parser = call.receiver
        while isinstance(parser, Call) and parser.name in _OPTION_GROUPS:
            parser = parser.receiver
        option = option_of_argparse(call)
        if option is not None:
            self.options.setdefault(id(parser), {}).setdefault(*option)

    def _define_flag(self, call: Call) -> None:
        name = call.argument(0, "name")
        if isinstance(name, Literal):
            kind = _FLAG_TYPES.get(call.name.rpartition("_")[2])
            self.flags[str(name.value)] = setting(str(name.value), call.argument(1, "default", "default_value"), kind)

    def _parsed_dataclasses(self, call: Call, node: ast.Call) -> Value:
        given = call.receiver.argument(0, "dataclass_types") if isinstance(call.receiver, Call) else None
        classes = given.members if isinstance(given, Group) else (given,)
        made = tuple(self._instance(one, Arguments(), node) for one in classes if isinstance(one, ProgramClass))
        return Group(made, node=node) if made else call

    def _hand_over(self, made: Call) -> None:
        """Follow the functions of the program that something unknown is given, so that their bodies are seen."""
        for value in (*made.args, *made.keywords.values()):
            if isinstance(value, Function) and id(value.definition) not in self.followed:
                inside = "map:" if made.in_map else ""
                inside = "python:" if made.name == "tensorflow.py_function" else inside
                self.follow_with_unknown(value, label=f"{inside}{value.name}")

    def _instance(self, program_class: ProgramClass, arguments: Arguments, node: ast.Call) -> Value:
        made = Object(program_class, node=node)
        self.instances[id(program_class.definition)] = made
        self.objects.append(made)
        start = program_class.members.get("__init__")
        if isinstance(start, Function):
            self.follow(Function(start.definition, start.scope, owner=made), arguments)
        else:
            made.fields |= dict(zip(_fields(program_class), arguments.positional, strict=False)) | arguments.keywords
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
            each = join([(frozenset(), one) for one in scope.yields])
            return Many(each)
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
        all_parameters = (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)
        annotations = {one.arg: one.annotation for one in all_parameters}
        options = self.decorated.get(id(function.definition), {})
        for name in (*names, *(one.arg for one in signature.kwonlyargs)):
            if name in keywords:
                value = keywords.pop(name)
            elif name in values:
                value = values[name]
            elif name in defaults and arguments.exact:
                value = self.evaluate(defaults[name], function.scope)
            elif name in options:
                value = options[name]
            else:
                default = self.evaluate(defaults[name], function.scope) if name in defaults else None
                value = self._parameter(name, default, annotations[name], function.scope)
            if isinstance(value, Pipeline) and not value.names:
                value.names.append(name)  # it was made in the call, and has no other name
            scope.names[name] = value
        if signature.vararg is not None:
            rest = given[len(names) :]
            scope.names[signature.vararg.arg] = Group(tuple(rest)) if arguments.exact else Unknown()
        if signature.kwarg is not None:
            scope.names[signature.kwarg.arg] = Table(keywords, arguments.exact)

    def _parameter(self, name: str, default: Value | None, annotation: ast.expr | None, scope: Scope) -> Value:
        if isinstance(annotation, ast.Name | ast.Attribute):
            kind = self.evaluate(annotation, scope)
            if isinstance(kind, Symbol) and kind.path == "tensorflow.data.Dataset":
                made = Pipeline(Source("unknown", None), names=[name])
                self.pipelines.append(made)
                return made
            if isinstance(kind, ProgramClass) and "__init__" not in kind.members and _fields(kind):
                return Object(kind)  # of a dataclass, whose fields have types
        return setting(name, default, annotated_type(annotation))


def _fields(program_class: ProgramClass) -> list[str]:
    """The fields of a dataclass in their order, those of its base classes first."""
    inherited = [name for base in program_class.bases if isinstance(base, ProgramClass) for name in _fields(base)]
    own = [
        one.target.id
        for one in program_class.definition.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]
    return list(dict.fromkeys([*inherited, *own]))


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


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


def _unzipped(arguments: Arguments) -> Value | None:
    """Return the columns of `zip(*rows)`, where rows are made by a comprehension."""
    rows = None if arguments.positional else arguments.starred
    if not isinstance(rows, Many) or not isinstance(rows.member, Group):
        return None
    return Group(tuple(Many(one, (rows,), node=rows.node) for one in rows.member.members), node=rows.node)
