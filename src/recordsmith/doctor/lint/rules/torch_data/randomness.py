"""The rule on random numbers that are drawn once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Group, Many, Object, Table, walk
from recordsmith.doctor.lint.libraries.torch.examples import called, leaves, moved_at_random, random_transform
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import dataset_of, torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["RANDOMNESS_RULES"]

_DRAWS = re.compile(
    r"(np|numpy)\.random\.(rand|randn|randint|uniform|random|choice|normal)\(|random\.(random|randint|uniform|choice"
    r"|randrange|gauss)\(|torch\.(rand|randint|randn)\("
)
_CHANGES = re.compile(
    r"rotate|flip|crop|shift|scale|brightness|contrast|noise|roll|affine|warp|blur|pitch|stretch|gamma|jitter|resize|zoom"
    r"|rot90|angle|augment",
    re.IGNORECASE,
)


@rule("P175", "augmentation-drawn-once", Severity.WARNING)
def augmentation_drawn_once(program: Program) -> Iterator[Finding]:
    """A random number for an augmentation is drawn once, when the object or the function is made.

    Why it matters:
        All examples of all epochs are changed in the same way: nothing varies, and the model sees a shifted or rotated
        dataset instead of an augmented one.

    Example:
        `self.angle = random.uniform(-10, 10)` in `__init__`, and `rotate(image, self.angle)` in `__call__`; or
        `def augment(image, angle=random.uniform(-10, 10))`.

    Fix:
        Draw in the method that changes the example.
    """
    if not program.mentions(r"\btorch\b"):
        return
    for place, name, what in _kept_examples(program):
        yield program.finding(
            augmentation_drawn_once,
            place,
            f"{what} after `{name}` has changed it at random: every epoch sees the same version again.",
            advice="Keep the example as it was read, and change it each time that it is asked for.",
        )
        return
    for node in program.source.nodes:
        if isinstance(node, ast.ClassDef):
            found = _kept_by_object(node)
            if found is not None:
                place, name, method = found
                yield program.finding(
                    augmentation_drawn_once,
                    place,
                    f"`self.{name}` is drawn once, when the object is made, and `{method}` uses it for every example: "
                    "all of them are changed in the same way.",
                )
                return
        elif isinstance(node, ast.FunctionDef):
            defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
            drawn = [one for one in defaults if _DRAWS.search(ast.unparse(one))]
            if drawn and _CHANGES.search(ast.unparse(node)):
                yield program.finding(
                    augmentation_drawn_once,
                    drawn[0],
                    f"The default `{ast.unparse(drawn[0])}` is drawn once, when `{node.name}` is defined: every call "
                    "gets the same number.",
                )
                return


def _kept_examples(program: Program) -> Iterator[tuple[ast.AST, str, str]]:
    """What a dataset keeps: an example that was changed at random when it was asked for first, or when it was read."""
    for call in program.calls:
        if call.name != ".__setitem__" or not call.in_map or len(call.args) < 2 or call.node is None:
            continue
        changed = random_transform(call.args[1]) or moved_at_random(call.args[1])
        if isinstance(call.receiver, Table | Group) and changed is not None:
            yield call.node, called(changed), "The example is kept"
    for pipeline in torch_loaders(program):
        dataset = dataset_of(pipeline)
        getter = dataset.program_class.members.get("__getitem__") if isinstance(dataset, Object) else None
        cached = [ast.unparse(one) for one in getattr(getattr(getter, "definition", None), "decorator_list", [])]
        changed = next((one for part in leaves(pipeline.element) if (one := random_transform(part)) is not None), None)
        if changed is not None and changed.node is not None and any(re.search(r"cache|memoi", one) for one in cached):
            yield changed.node, called(changed), "The example is kept by a cache"
        used = {id(one) for part in leaves(pipeline.element) for one in walk(part, 300)}
        for value in dataset.fields.values() if isinstance(dataset, Object) else ():
            members = value.members if isinstance(value, Group) else (value.member,) if isinstance(value, Many) else ()
            for member in members if id(value) in used else ():
                changed = random_transform(member) or moved_at_random(member)
                if changed is not None and not changed.in_map and changed.node is not None:
                    yield changed.node, called(changed), "All examples are kept, from when the dataset is made,"


def _kept_by_object(node: ast.ClassDef) -> tuple[ast.AST, str, str] | None:
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    init = methods.get("__init__")
    uses = [methods[name] for name in ("__call__", "__getitem__") if name in methods]
    if init is None or not uses or "forward" in methods:
        return None
    for one in init.body:
        match one:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
                text = ast.unparse(value)
                if not _DRAWS.match(text) or "size=" in text or re.search(r"len\(|shape", text):
                    continue
                for method in uses:
                    lines = [
                        ast.unparse(part)
                        for part in ast.walk(method)
                        if isinstance(part, ast.Call | ast.If | ast.BinOp)
                    ]
                    used = [line for line in lines if re.search(rf"self\.{name}\b", line) and _CHANGES.search(line)]
                    again = re.search(rf"self\.{name} *=", ast.unparse(node).replace(ast.unparse(one), "", 1))
                    if used and not again:
                        return one, name, method.name
    return None


RANDOMNESS_RULES = [augmentation_drawn_once]
