"""PyTorch training loops: the steps that they take, in the order in which the program takes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.values import Call, Literal, Value
from recordsmith.doctor.lint.libraries.control_flow import loops_around, root_of
from recordsmith.doctor.lint.libraries.remembered import once_per_program
from recordsmith.doctor.lint.libraries.torch.modules import is_optimizer, key_of

__all__ = ["Step", "optimizers", "receiver_text", "training_steps"]

_OPTIMIZER = re.compile(r"optim|(^|[._])opt(_|$|[._])|^sgd|^adam", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of training.

    Attributes:
        kind: "backward", "step", "zero" (gradients are cleared), "eval", "train", or "mode" (either of them).
        call: the call.
        loops: the loops that it runs in, outermost first.
        key: what stands for the optimizer or the model, as `key_of` gives it.
        root: the function that it was reached from, or None for the module itself.
    """

    kind: str
    call: Call
    loops: tuple[ast.AST, ...]
    key: object
    root: ast.AST | None

    @property
    def loop(self) -> ast.AST | None:
        """The innermost loop."""
        return self.loops[-1] if self.loops else None


def receiver_text(call: Call) -> str:
    """Return the source of what a method is called on."""
    function = getattr(call.node, "func", None)
    return ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""


def optimizers(calls: list[Call]) -> list[Call]:
    """Return the optimizers that a program makes."""
    return [call for call in calls if is_optimizer(call)]


@once_per_program
def training_steps(calls: list[Call]) -> Iterator[Step]:
    """Yield the steps in order."""
    for call in calls:
        kind = _kind(call)
        if kind:
            key = key_of(call)
            if kind == "step" and call.args and is_optimizer(call.args[0]):
                key = id(call.args[0])
            yield Step(kind, call, loops_around(call), key, root_of(call))


def _kind(call: Call) -> str:
    match call.name:
        case ".backward":
            return "backward"
        case ".zero_grad":
            return "zero"
        case ".step" if is_optimizer(call.receiver) or _OPTIMIZER.search(receiver_text(call)):
            return "step"
        case ".step" if "scaler" in receiver_text(call) and call.args:
            return "step"
        case ".eval" if not call.args and not call.keywords:
            return "eval"
        case ".train" if len(call.args) + len(call.keywords) <= 1:
            return _mode(call.argument(0, "mode"))
    return ""


def _mode(value: Value | None) -> str:
    if value is None:
        return "train"
    if isinstance(value, Literal) and isinstance(value.value, bool):
        return "train" if value.value else "eval"
    return "mode"
