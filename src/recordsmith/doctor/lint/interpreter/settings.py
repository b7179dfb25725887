"""Settings that somebody else may change: options of the command line, flags, fields of dataclasses, parameters."""

from __future__ import annotations

import ast
import re

from recordsmith.doctor.lint.interpreter.values import Call, Literal, Parameter, Symbol, Value

__all__ = ["annotated_type", "click_options", "default_of", "option_of_argparse", "setting"]

_PLAIN_TYPES = {"str", "bytes", "int", "float", "bool", "list", "tuple", "dict", "set"}
_COLLECTION = re.compile(r"(?:typing\.)?(?:list|List|Sequence|Iterable|tuple|Tuple)\[(str|bytes|int|float)(, \.{3})?]")
_CLICK = re.compile(r"(rich_)?click\.(option|argument)|absl\.flags\.\w+")
_HOLDERS = {"dataclasses.field", "typer.Option", "typer.Argument", "pydantic.Field"}


def annotated_type(annotation: ast.expr | None) -> str | None:
    """Return the Python type that an annotation names, as "str" or "list[str]"; None for any other, or none.

    >>> annotated_type(ast.parse("x: List[str]").body[0].annotation)
    'list[str]'
    """
    if annotation is None:
        return None
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    if not isinstance(text, str):
        return None
    match = _COLLECTION.fullmatch(text)
    return f"list[{match[1]}]" if match else text if text in _PLAIN_TYPES else None


def setting(name: str, default: Value | None, annotation: str | None = None) -> Value:
    """Return what a setting is: a number as its default says, anything else open, with its type.

    A default text or flag often decides between branches, all of which matter.

    >>> setting("batch_size", Literal(32)).value, setting("mode", Literal("train")).annotation
    (32, 'str')
    """
    default = default_of(default)
    if isinstance(default, Literal) and type(default.value) in (int, float):
        return Literal(default.value, default=True, node=default.node)
    known = isinstance(default, Literal) and default.value is not None
    if annotation is None and isinstance(default, Literal) and known:
        annotation = type(default.value).__name__
    optional = isinstance(default, Literal) and default.value is None
    return Parameter(name, default if known else None, None if optional else annotation)


def default_of(value: Value | None) -> Value | None:
    """Return the default inside `field(default=3)`, `typer.Option(3)` and their like; any other value as it is."""
    if not isinstance(value, Call) or value.name not in _HOLDERS:
        return value
    return value.argument(None if value.name == "dataclasses.field" else 0, "default")


def option_of_argparse(call: Call) -> tuple[str, Value] | None:
    """Return the name and the value of an option that `add_argument` declares."""
    flags = [one.value for one in call.args if isinstance(one, Literal) and isinstance(one.value, str)]
    given = call.argument(None, "dest")
    if isinstance(given, Literal) and isinstance(given.value, str):
        name = given.value
    elif flags:
        name = next((flag for flag in flags if flag.startswith("--")), flags[0])
    else:
        return None
    kind = call.argument(None, "type")
    annotation = kind.path.rpartition(".")[2] if isinstance(kind, Symbol) else "str" if kind is None else None
    several = call.argument(None, "nargs", "action")
    if several is not None or annotation not in _PLAIN_TYPES:
        annotation = None
    default = call.argument(None, "default")
    if default is None and flags and flags[0].startswith("-"):
        annotation = None  # it may be None
    return _as_name(name), setting(_as_name(name), default, annotation)


def click_options(decorators: list[Value]) -> dict[str, Value]:
    """Return the parameters of a function that decorators of click make options of."""
    found: dict[str, Value] = {}
    for one in decorators:
        if not isinstance(one, Call) or not _CLICK.fullmatch(one.name):
            continue
        names = [part.value for part in one.args if isinstance(part, Literal) and isinstance(part.value, str)]
        plain = [name for name in names if not name.startswith("-")]
        long = [name for name in names if name.startswith("--")]
        if not names:
            continue
        name = _as_name((plain or long or names)[0].split("/")[0])
        kind = one.argument(None, "type")
        annotation = kind.path.rpartition(".")[2] if isinstance(kind, Symbol) else None
        several = one.argument(None, "multiple", "nargs", "is_flag")
        known = annotation if annotation in _PLAIN_TYPES and several is None else None
        found[name] = setting(name, one.argument(None, "default"), known)
    return found


def _as_name(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")
