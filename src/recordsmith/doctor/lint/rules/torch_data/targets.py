"""Rules on what a PyTorch loss is compared with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Operation, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import function_of
from recordsmith.doctor.lint.libraries.torch.modules import is_module, losses
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["TARGET_RULES"]

_NOISE = re.compile(
    r"torch\.(randn|rand|randn_like|rand_like|normal|bernoulli)|numpy\.random\.\w+|torch\.nn\.functional\.dropout"
)
_TARGET = re.compile(r"^(labels?|targets?|y|gt|masks?|y_true|truth|clean|hr)(_\w+)?$")


@rule("P166", "target-not-used", Severity.WARNING)
def target_not_used(program: Program) -> Iterator[Finding]:
    """A loss compares the output with the noisy input, or the labels of the batch are never used.

    Why it matters:
        The model learns to copy its input, noise included, or learns nothing about the labels. The loss goes down all
        the same.

    Example:
        `noisy = clean + torch.randn_like(clean)`, then `loss = mse(model(noisy), noisy)`.

    Fix:
        Compare with the target: `mse(model(noisy), clean)`.
    """
    for call, _, prediction, target, _ in losses(program.calls):
        inputs = [one.args[0] for one in walk(prediction, 200) if _is_run(one) and isinstance(one, Call) and one.args]
        noisy = [one for one in inputs if one is target and _adds_noise(one)]
        if noisy and call.node is not None:
            yield program.finding(
                target_not_used,
                call.expression,
                "The loss compares the output with the noisy input itself, not with what it was made from: the model "
                "learns to keep the noise.",
            )
            return
    yield from _labels_left(program)


def _is_run(value: Value) -> bool:
    return isinstance(value, Call) and value.name == "()" and is_module(value.receiver)


def _adds_noise(value: Value) -> bool:
    parts = list(walk(value, 60))
    noise = any(isinstance(one, Call) and _NOISE.fullmatch(one.name) for one in parts)
    mixed = any(isinstance(one, Operation) and one.operator in ("+", "*") for one in parts)
    return noise and mixed and any(isinstance(one, Element) for one in parts)


def _labels_left(program: Program) -> Iterator[Finding]:
    """A loop that trains takes labels from the loader and never uses them."""
    for use in program.uses:
        loop, target = use.node, use.target
        if use.role != "training" or not isinstance(loop, ast.For) or use.pipeline.source.kind != "torch":
            continue
        names = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)] if target is not None else []
        given = [name for name in names if _TARGET.match(name)]
        area = function_of(loop) or loop
        read = {one.id for one in ast.walk(area) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        computed = any(
            call.node is not None and any(one is call.node for one in ast.walk(loop))
            for call, *_ in losses(program.calls)
        )
        if len(names) > 1 and len(given) == 1 and given[0] not in read and computed:
            yield program.finding(
                target_not_used,
                loop,
                f"`{given[0]}` is taken from the loader and never used: the loss compares the output with something "
                "else.",
                severity=Severity.INFO,
            )
            return


TARGET_RULES = [target_not_used]
