"""Rules on the steps of a PyTorch training loop: gradients cleared, computed and applied."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.libraries.control_flow import conditions_around, root_of, statement_of
from recordsmith.doctor.lint.libraries.torch.modules import is_optimizer
from recordsmith.doctor.lint.libraries.torch.training import Step, optimizers, receiver_text, training_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["STEP_RULES"]

_CLEARS = r"zero_grad|\.grad\s*=\s*None|grad\.(data\.)?zero_|deepspeed|set_to_none|clear_grad"
_STEPS = r"(?<![\w.])(?!\w*sched)(?!self\.\w*sched)[\w.\[\]]*\.step\b|minimize\(|Trainer\(|optimizer_step\("


def _steps(program: Program, *kinds: str) -> list[Step]:
    return [one for one in training_steps(program.calls) if one.kind in kinds]


def _is_plain(step: Step) -> bool:
    """It happens in every turn of its loop."""
    return not conditions_around(step.call, step.loop)


@rule("P101", "gradients-never-cleared", Severity.ERROR)
def gradients_never_cleared(program: Program) -> Iterator[Finding]:
    """A PyTorch loop takes optimizer steps without clearing the gradients of the step before.

    Why it matters:
        `backward` adds to the gradients that are already there. Without `zero_grad`, each step follows the sum of all
        gradients since the start: the steps grow, point to where the model was long ago, and the loss oscillates or
        diverges.

    Example:
        `loss = criterion(model(x), y); loss.backward(); optimizer.step()` in a loop, and `zero_grad` nowhere in it.

    Fix:
        Call `optimizer.zero_grad()` in every turn of the loop, before `loss.backward()`.
    """
    backwards, steps, clears = (_steps(program, kind) for kind in ("backward", "step", "zero"))
    for step in steps:
        near = [one for one in backwards if one.root is step.root and step.loop in one.loops]
        if step.loop is None or not near or isinstance(step.loop, ast.GeneratorExp):
            continue
        known = is_optimizer(step.call.receiver) or (step.call.args and is_optimizer(step.call.args[0]))
        if not program.mentions(_CLEARS):
            if known:
                yield program.finding(
                    gradients_never_cleared,
                    near[-1].call.expression,
                    "The gradients are never cleared: each `backward()` adds to those of all steps before it.",
                    edits=_clearing(program, near[-1], step),
                    certain=True,
                )
                return
        elif known and _is_never_cleared(program, step, clears):
            name = receiver_text(step.call)
            yield program.finding(
                gradients_never_cleared,
                step.call.expression,
                f"`{name}.zero_grad()` is never called: the gradients of its parameters are added up over all steps.",
            )
            return
        elif _cleared_once(clears, step, near[-1]):
            yield program.finding(
                gradients_never_cleared,
                near[-1].call.expression,
                "The gradients are cleared only before this loop (`zero_grad`), not in each turn: every step follows "
                "the sum of all gradients of the loop so far.",
                severity=Severity.WARNING,
            )
            return


def _is_never_cleared(program: Program, step: Step, clears: list[Step]) -> bool:
    """Other optimizers are cleared, and this one is not."""
    name = receiver_text(step.call)
    known = bool(clears) and all(is_optimizer(one.call.receiver) for one in clears)
    others = known and all(one.key != step.key for one in clears) and name.isidentifier()
    return others and not program.mentions(rf"\b{name}\.zero_grad|\b{name}[,)\]]|\.grad\b")


def _cleared_once(clears: list[Step], step: Step, backward: Step) -> bool:
    mine = [one for one in clears if one.root is step.root]
    shorter = [one for one in mine if len(one.loops) < len(step.loops) and step.loops[: len(one.loops)] == one.loops]
    counted = all("%" in ast.unparse(condition.test) for condition, _ in conditions_around(step.call, step.loop))
    same_loop = backward.loop is step.loop and _is_plain(backward)
    return bool(mine) and len(shorter) == len(mine) and counted and same_loop


def _clearing(program: Program, backward: Step, step: Step) -> list[Edit] | None:
    statement = statement_of(backward.call.expression)
    name = receiver_text(step.call)
    if not isinstance(statement, ast.Expr) or not re.fullmatch(r"[\w.]+", name) or not receiver_text(step.call):
        return None
    source = getattr(statement, "source", program.source)
    begin, _ = source.span(statement)
    first = source.text.rfind("\n", 0, begin) + 1
    indent = source.text[first:begin]
    if indent.strip():
        return None
    return [Edit(begin, begin, f"{name}.zero_grad()\n{indent}")]


@rule("P102", "gradients-not-applied", Severity.ERROR)
def gradients_not_applied(program: Program) -> Iterator[Finding]:
    """Gradients are computed and never applied, cleared before they are applied, or applied without being computed.

    Why it matters:
        A step of training computes gradients (`backward`), applies them (`optimizer.step`) and clears them
        (`zero_grad`), in this cyclic order. If one of them is missing, or the gradients are cleared between `backward`
        and `step`, the weights never change and nothing is reported.

    Example:
        `loss.backward(); optimizer.zero_grad(); optimizer.step()`

    Fix:
        In every turn of the loop: `optimizer.zero_grad()`, `loss.backward()`, `optimizer.step()`.
    """
    made = optimizers(program.calls)
    backwards, steps, clears = (_steps(program, kind) for kind in ("backward", "step", "zero"))
    in_loop = [one for one in backwards if one.loops]
    near = bool(in_loop) and any(root_of(one) is in_loop[0].root for one in made)
    if near and not program.mentions(_STEPS):
        yield program.finding(
            gradients_not_applied,
            in_loop[0].call.expression,
            "`optimizer.step()` is never called: gradients are computed, but the weights never change.",
        )
        return
    known = [one for one in steps if is_optimizer(one.call.receiver) and one.loops]
    if known and not program.mentions(r"backward|\.grad\b|autograd|closure|from_flat|\bgrad\("):
        yield program.finding(
            gradients_not_applied,
            known[0].call.expression,
            "`backward()` is never called: there are no gradients that `optimizer.step()` could apply.",
        )
        return
    for step in known:
        yield from _out_of_order(program, step, backwards, clears, steps)
    stepped = {one.key for one in steps}
    for clear in clears:
        name = receiver_text(clear.call)
        alone = is_optimizer(clear.call.receiver) and clear.key not in stepped and bool(known) and clear.loops
        if alone and name.isidentifier() and not program.mentions(rf"\b{name}\.step|\b{name}[,)\]]"):
            yield program.finding(
                gradients_not_applied,
                clear.call.expression,
                f"`{name}.step()` is never called: the gradients of its parameters are computed and cleared, but the "
                "weights never change.",
            )
            return


def _out_of_order(
    program: Program, step: Step, backwards: list[Step], clears: list[Step], steps: list[Step]
) -> Iterator[Finding]:
    def mine(those: list[Step]) -> list[Step]:
        return [one for one in those if one.root is step.root and one.loops and one.loops[0] is step.loops[0]]

    backward, clear, step_calls = mine(backwards), mine(clears), mine(steps)
    if len(backward) != 1 or len(clear) != 1 or len(step_calls) != 1:
        return
    if clear[0].loops == backward[0].loops == step.loops and all(map(_is_plain, (backward[0], clear[0], step))):
        order = sorted(
            [(program.calls.index(one.call), name) for one, name in ((backward[0], "b"), (clear[0], "z"), (step, "s"))]
        )
        if "".join(name for _, name in order) in ("zsb", "sbz", "bzs"):
            yield program.finding(
                gradients_not_applied,
                clear[0].call.expression,
                "The gradients are cleared between `backward()` and `optimizer.step()`: the step has nothing to apply, "
                "and the weights never change.",
            )
    elif (
        clear[0].loops == backward[0].loops
        and len(step.loops) < len(backward[0].loops)
        and backward[0].loops[: len(step.loops)] == step.loops
        and _is_plain(clear[0])
        and isinstance(backward[0].loop, ast.For | ast.AsyncFor)
    ):
        yield program.finding(
            gradients_not_applied,
            step.call.expression,
            "`optimizer.step()` runs after the loop over the batches, but `zero_grad` clears the gradients inside it: "
            "only the last batch changes the weights.",
            severity=Severity.WARNING,
        )


STEP_RULES = [gradients_never_cleared, gradients_not_applied]
