"""Generates TensorFlow code that parses the records of a schema without recordsmith."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

from recordsmith.schema import Feature
from recordsmith.schema.export.tensorflow_features import import_tensorflow
from recordsmith.schema.export.tensorflow_plan import Call, FeaturePlan, plan_features

__all__ = ["tensorflow_code"]

_HEAD = '''"""Records parsed with TensorFlow alone. Recordsmith made this from a schema; call parse(serialized)."""

from __future__ import annotations

{imports}import tensorflow as tf
'''
_IMPORTS = {
    "collections.abc": ("Callable", "Mapping", "Sequence"),
    "functools": ("partial",),
    "math": ("prod",),
    "typing": ("Any",),
}
_EXAMPLE = re.compile(r'\n\n    >>> .*?\n    (?=""")', re.DOTALL)


def tensorflow_code(schema: Mapping[str, Feature], *, decode_images: bool = False) -> str:
    """Return a module whose `parse` does what parse_in_tensorflow does.

    >>> from recordsmith.schema import Tensor
    >>> code = tensorflow_code({"x": Tensor("uint8", (2,))})
    >>> print(code[code.index("FEATURES"):].partition("@")[0].strip())
    FEATURES = {
        'x': tf.io.FixedLenFeature(shape=(), dtype=tf.string),
    }
    """
    import_tensorflow("Schema.to_tf_code")
    from recordsmith.schema.export import tensorflow_functions

    plans = plan_features(schema, decode_images=decode_images)
    wanted = {"first_row", *(name for plan in plans if plan.restore for name in _functions(plan.restore))}
    parts = [*_tables(plans), _parse_text(plans), *_sources(tensorflow_functions, wanted)]
    body = "\n\n".join(part.strip("\n") + "\n" for part in parts)
    return f"{_HEAD.format(imports=_imports(body))}\n{body}"


def _imports(body: str) -> str:
    """Return the imports that a text needs, as lines."""
    lines = ""
    for module, names in _IMPORTS.items():
        used = [name for name in names if re.search(rf"\b{name}\b", body)]
        lines += f"from {module} import {', '.join(used)}\n" if used else ""
    return lines + "\n"


def _tables(plans: tuple[FeaturePlan, ...]) -> Iterator[str]:
    yield _table("FEATURES", (plan for plan in plans if not plan.steps))
    if any(plan.steps for plan in plans):
        yield _table("STEPS", (plan for plan in plans if plan.steps))


def _table(title: str, plans: Iterable[FeaturePlan]) -> str:
    entries = [f"    {key!r}: tf.io.{_shown_call(call)},\n" for plan in plans for key, call in plan.stored.items()]
    return f"{title} = {{\n{''.join(entries)}}}" if entries else f"{title} = {{}}"


def _parse_text(plans: tuple[FeaturePlan, ...]) -> str:
    lines = [
        "@tf.autograph.experimental.do_not_convert",
        "def parse(serialized):",
        '    """Parse a batch of records, of shape (n,), or one, of shape (): tensors by name."""',
        "    records = tf.convert_to_tensor(serialized, tf.string)",
        "    one = records.shape.rank == 0",
        "    batch = tf.reshape(records, [1]) if one else tf.ensure_shape(records, [None])",
    ]
    if any(plan.steps for plan in plans):
        lines.append("    parsed, lists, lengths = tf.io.parse_sequence_example(batch, FEATURES, STEPS)")
    elif plans:
        lines.append("    parsed = tf.io.parse_example(batch, FEATURES)")
    lines += ["    rows = {", *(f"        {plan.name!r}: {_restored(plan)}," for plan in plans), "    }"]
    lines.append("    return {name: first_row(value) for name, value in rows.items()} if one else rows")
    return "\n".join(lines)


def _restored(plan: FeaturePlan) -> str:
    if plan.steps:
        (key,) = plan.stored
        tensors = f"lists[{key!r}], lengths.get({key!r})"
    else:
        tensors = ", ".join(f"parsed[{key!r}]" for key in plan.stored)
    return tensors if plan.restore is None else _shown_call(plan.restore, tensors, one="one")


def _shown_call(call: Call, tensors: str = "", *, one: str = "False") -> str:
    arguments = [tensors] if tensors else []
    arguments += [f"{name}={_shown(value)}" for name, value in call.arguments.items()]
    if call.takes_one:
        arguments.append(f"one={one}")
    return f"{call.function}({', '.join(arguments)})"


def _shown(value: Any) -> str:
    if isinstance(value, Call):
        shown = _shown_call(value)
        return f"partial({value.function}, {shown.removeprefix(value.function + '(')}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_shown(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, list) else repr(value)


def _functions(call: Call) -> Iterator[str]:
    yield call.function
    for value in call.arguments.values():
        if isinstance(value, Call):
            yield from _functions(value)


def _sources(module: ModuleType, wanted: set[str]) -> Iterator[str]:
    """Give the source of functions and of all that they call, in the module's order, without doctests."""
    functions = {name: value for name, value in vars(module).items() if inspect.isfunction(value)}
    needed, waiting = set(), list(wanted)
    while waiting:
        name = waiting.pop()
        if name in functions and name not in needed:
            needed.add(name)
            waiting.extend(_names_in(functions[name].__code__))
    for name, function in functions.items():
        if name in needed:
            yield _EXAMPLE.sub("", inspect.getsource(function))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
