"""What functions of Python itself, and a few of libraries, give for values that are known."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from recordsmith.doctor.lint.interpreter.containers import made_dict, merge, zipped
from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.python_types import is_instance, type_named
from recordsmith.doctor.lint.interpreter.scope import join
from recordsmith.doctor.lint.interpreter.values import Call, Function, Group, Literal, Many, Symbol, Table, Value
from recordsmith.doctor.lint.libraries.randomness import draws
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline

__all__ = ["known_result", "text_method"]

_NAMESPACES = {
    "types.SimpleNamespace", "argparse.Namespace", "ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict",
    "easydict.EasyDict", "omegaconf.OmegaConf.create", "omegaconf.DictConfig", "addict.Dict", "munch.Munch",
    "collections.OrderedDict", "box.Box",
}  # fmt: skip
_PATHS = {"os.path.join", "pathlib.Path", "pathlib.PurePath", "os.fspath", "os.path.expanduser", "os.path.abspath"}
_LONGEST_LIST = 64
_LONGEST_TEXT = 10_000
_TEXT_METHODS: dict[str, Callable[..., Any]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "replace": str.replace,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "split": str.split,
    "format": str.format,
    "encode": str.encode,
}


def known_result(machine: Machine, call: Call) -> Value | None:
    """Return what a function gives, where it is one of these and its arguments say it; else None."""
    if call.name in _NAMESPACES:
        return _dict(call)
    if call.name in _PATHS:
        return _path(call)
    compute = _FUNCTIONS.get(call.name)
    return None if compute is None else compute(machine, call)


def text_method(text: str, name: str, arguments: Arguments) -> Value | None:
    """Return what a method of a known text gives for known arguments.

    >>> text_method("train_{}", "format", Arguments((Literal(3),))).value
    'train_3'
    """
    given = [one.value for one in arguments.positional if isinstance(one, Literal)]
    method = _TEXT_METHODS.get(name)
    known = arguments.exact and not arguments.keywords and len(given) == len(arguments.positional)
    if method is None or not known or len(text) > _LONGEST_TEXT or any(isinstance(one, int) for one in given[1:]):
        return None
    try:
        made = method(text, *given)
    except (TypeError, ValueError, LookupError):
        return None
    if isinstance(made, list):
        return Group(tuple(Literal(one) for one in made), is_list=True)
    return Literal(made) if len(str(made)) <= _LONGEST_TEXT else None


def _first(call: Call) -> Value | None:
    return call.args[0] if call.args else None


def _partial(_: Machine, call: Call) -> Value | None:
    function = _first(call)
    if not isinstance(function, Function):
        return None
    return Function(
        function.definition,
        function.scope,
        owner=function.owner,
        bound=(*function.bound, *call.args[1:]),
        bound_keywords={**function.bound_keywords, **call.keywords},
        node=call.node,
    )


def _isinstance(_: Machine, call: Call) -> Value | None:
    decided = is_instance(*call.args) if len(call.args) == 2 else None
    return None if decided is None else Literal(decided, node=call.node)


def _type(_: Machine, call: Call) -> Value | None:
    name = type_named(_first(call)) if len(call.args) == 1 else None
    return None if name is None else Symbol(f"builtins.{name}", node=call.node)


def _len(_: Machine, call: Call) -> Value | None:
    first = _first(call)
    if isinstance(first, Literal) and isinstance(first.value, str | bytes):
        return Literal(len(first.value))
    if isinstance(first, Table) and first.complete:
        return Literal(len(first.entries))
    return Literal(len(first.members)) if isinstance(first, Group) and not first.grown else None


def _list(_: Machine, call: Call) -> Value | None:
    first = _first(call)
    if isinstance(first, Group):
        return Group(first.members, is_list=call.name == "builtins.list", grown=first.grown, node=call.node)
    if isinstance(first, Table) and first.complete:
        return Group(tuple(Literal(key) for key in first.entries), is_list=True, node=call.node)
    if isinstance(first, Literal) and isinstance(first.value, str):
        return Group(tuple(map(Literal, first.value[:_LONGEST_LIST])), is_list=True, node=call.node)
    return first if isinstance(first, Many) else None


def _sorted(_: Machine, call: Call) -> Value | None:
    first = _list(_, call)
    if not isinstance(first, Group) or first.grown or call.keywords:
        return None
    try:
        values = sorted(one.value for one in first.members if isinstance(one, Literal))
    except TypeError:
        return None
    known = len(values) == len(first.members)
    return Group(tuple(map(Literal, values)), is_list=True, node=call.node) if known else None


def _converted(_: Machine, call: Call) -> Value | None:
    first = _first(call)
    if not isinstance(first, Literal):
        return None
    try:
        kind = {"builtins.int": int, "builtins.float": float, "builtins.str": str, "builtins.bool": bool}[call.name]
        return Literal(kind(first.value))
    except (TypeError, ValueError, OverflowError):
        return None


def _dict(call: Call) -> Value | None:
    made = made_dict(_first(call)) if call.args else Table({})
    if made is None:
        return None
    merge(made, Table(dict(call.keywords), call.exact), certain=True)
    made.node = call.node
    return made


def _zip(_: Machine, call: Call) -> Value | None:
    return zipped(list(call.args)) if call.exact else None


def _next(_: Machine, call: Call) -> Value | None:
    first = _first(call)
    if isinstance(first, Many):
        return first.member
    found = pipelines_in(first) if isinstance(first, Call | Pipeline) else []
    for one in found:
        one.looked_at = True
    return found[0].element if found else None


def _cond(machine: Machine, call: Call) -> Value | None:
    sides = [call.argument(1, "true_fn"), call.argument(2, "false_fn")]
    made = [machine.follow(one, Arguments()) for one in sides if isinstance(one, Function)]
    condition = call.argument(0, "pred")
    return join([(frozenset(), one) for one in made], by=condition if draws(condition) else None)


def _path(call: Call) -> Value | None:
    parts = [one.value for one in call.args if isinstance(one, Literal) and isinstance(one.value, str)]
    known = call.exact and parts and len(parts) == len(call.args)
    return Literal(os.path.join(*parts), node=call.node) if known else None


_FUNCTIONS: dict[str, Callable[[Machine, Call], Value | None]] = {
    "functools.partial": _partial,
    "builtins.isinstance": _isinstance,
    "builtins.type": _type,
    "builtins.len": _len,
    "builtins.list": _list,
    "builtins.tuple": _list,
    "builtins.sorted": _sorted,
    "builtins.int": _converted,
    "builtins.float": _converted,
    "builtins.str": _converted,
    "builtins.bool": _converted,
    "builtins.dict": lambda _, call: _dict(call),
    "builtins.zip": _zip,
    "builtins.next": _next,
    "tensorflow.cond": _cond,
}
