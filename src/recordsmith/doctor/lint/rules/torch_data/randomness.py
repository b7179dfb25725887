"""The rule on random numbers that are drawn once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.program import Program
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
