"""Rules on the steps of a PyTorch training loop: gradients cleared, computed and applied."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import Call
from recordsmith.doctor.lint.libraries.control_flow import (
    conditions_around,
    enclosing,
    loops_around,
    root_of,
    statement_of,
)
from recordsmith.doctor.lint.libraries.torch.modules import is_optimizer, key_of
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
        if step.loop is None or not near:
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
        elif known and _cleared_elsewhere(program, step):
            yield program.finding(
                gradients_never_cleared,
                step.call.expression,
                "`zero_grad` is called in another branch only: where this branch runs, the gradients of all steps are "
                "added up.",
            )
            return
        elif (turns := _cleared_at_times(clears, step, near[-1])) is not None:
            yield program.finding(
                gradients_never_cleared,
                turns.call.expression,
                "The gradients are cleared only in some turns of the loop, and a step is taken in every turn: steps "
                "follow the sum of the gradients of all turns before them.",
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


def _cleared_elsewhere(program: Program, step: Step) -> bool:
    """All that clears gradients is in other branches of the conditions that this step is in."""
    branches = {id(parent): (parent, child) for parent, child in enclosing(step.call.expression)}
    sources = (program.source, *program.modules)
    clearing = [node for one in sources for node in one.nodes if isinstance(node, ast.Attribute | ast.Assign)]
    clearing = [node for node in clearing if _clears(node)]
    return bool(clearing) and all(
        any(
            isinstance(parent, ast.If)
            and id(parent) in branches
            and (child in parent.body) != (branches[id(parent)][1] in parent.body)
            for parent, child in enclosing(node)
        )
        for node in clearing
    )


def _clears(node: ast.Attribute | ast.Assign) -> bool:
    text = ast.unparse(node) if isinstance(node, ast.Assign) else f".{node.attr}"
    return bool(re.fullmatch(r"\.zero_grad|\.zero_|\.clear_grad\w*|[\w.\[\]]+\.grad = None", text))


def _cleared_at_times(clears: list[Step], step: Step, backward: Step) -> Step | None:
    """The only `zero_grad`, in a condition that counts the turns of a loop which takes a step in each."""
    mine = [one for one in clears if one.root is step.root]
    if len(mine) != 1 or mine[0].loops != step.loops or backward.loops != step.loops:
        return None
    counted = [_modulus(condition.test) for condition, inside in conditions_around(mine[0].call, step.loop) if inside]
    every = _is_plain(step) and _is_plain(backward)
    return mine[0] if every and len(counted) == 1 and counted[0] not in ("", "1") else None


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
    yield from _scheduled_instead(program, known)
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


def _scheduled_instead(program: Program, steps: list[Step]) -> Iterator[Finding]:
    """`if scheduler: scheduler.step()`, and `else: optimizer.step()`: a scheduler does not change the weights."""
    for step in steps:
        for condition, inside in conditions_around(step.call, step.loop):
            other = condition.orelse if inside else condition.body
            text = "\n".join(map(ast.unparse, other))
            if re.search(r"sched\w*(\.\w+)*\.step\(", text, re.IGNORECASE) and "backward" not in text:
                if f"{receiver_text(step.call)}.step(" in text or len(steps) > 1:
                    continue
                yield program.finding(
                    gradients_not_applied,
                    step.call.expression,
                    f"Either the scheduler or `{receiver_text(step.call)}` takes a step, by this condition: a "
                    "scheduler only changes the learning rate, so with one the weights never change.",
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


@rule("P149", "accumulated-without-dividing", Severity.INFO)
def accumulated_without_dividing(program: Program) -> Iterator[Finding]:
    """Gradients of several batches are added up, and the loss is not divided by their number.

    Why it matters:
        The step is as many times larger as there are batches: with 8 of them, a learning rate of 0.1 acts like 0.8. A
        program that behaves well with large batches may diverge.

    Example:
        `loss.backward()`, then `if step % 8 == 0: optimizer.step(); optimizer.zero_grad()`.

    Fix:
        `(loss / 8).backward()`; or choose the learning rate for the sum.
    """
    backwards, steps, clears = (_steps(program, kind) for kind in ("backward", "step", "zero"))
    for step in steps:
        around = conditions_around(step.call, step.loop)
        near = [one for one in backwards if one.root is step.root and one.loops == step.loops and _is_plain(one)]
        cleared = [one for one in clears if one.loops == step.loops and conditions_around(one.call, one.loop) == around]
        counted = [_modulus(condition.test) for condition, inside in around if inside]
        if len(near) != 1 or not cleared or len(counted) != 1 or not counted[0] or step.loop is None:
            continue
        if not re.search(r"/|\.mul\(|\* *1|accelerat", _loss_text(step.loop, near[0])):
            yield program.finding(
                accumulated_without_dividing,
                near[0].call.expression,
                f"The gradients of `{counted[0]}` batches are added up, and the loss is not divided by their number: "
                "the learning rate acts as many times larger.",
            )
            return


@rule("P158", "accumulated-gradients-cleared", Severity.WARNING)
def accumulated_gradients_cleared(program: Program) -> Iterator[Finding]:
    """Gradients are cleared in every turn of a loop that takes a step only every few turns.

    Why it matters:
        The step is meant to follow the sum of the gradients of several batches. `zero_grad` in every turn throws away
        all but the last: the other batches are computed for nothing, and the effective batch is small.

    Example:
        `optimizer.zero_grad(); loss.backward()` in every turn, and `if step % 4 == 0: optimizer.step()`.

    Fix:
        Call `zero_grad` together with `step`, in the same `if`.
    """
    backwards, steps, clears = (_steps(program, kind) for kind in ("backward", "step", "zero"))
    for step in steps:
        around = conditions_around(step.call, step.loop)
        counted = [_modulus(condition.test) for condition, inside in around if inside]
        near = [one for one in backwards if one.root is step.root and one.loops == step.loops and _is_plain(one)]
        mine = [one for one in clears if one.root is step.root and one.loops == step.loops]
        if len(around) != 1 or not counted or not counted[0] or len(near) != 1 or len(mine) != 1:
            continue
        if _is_plain(mine[0]) and mine[0].key in (step.key, *_cleared_models(step)) and counted[0] != "1":
            yield program.finding(
                accumulated_gradients_cleared,
                mine[0].call.expression,
                f"The gradients are cleared in every turn, but `{receiver_text(step.call)}.step()` comes only every "
                f"`{counted[0]}` turns: all batches but the last before a step are thrown away.",
            )
            return


def _cleared_models(step: Step) -> set[object]:
    """What stands for the models that an optimizer was given: `model.zero_grad()` clears the same gradients."""
    optimizer = step.call.receiver
    given = optimizer.argument(0, "params") if isinstance(optimizer, Call) else None
    return {key_of(given)} if isinstance(given, Call) and given.name == ".parameters" else set()


@rule("P153", "scaled-gradients-applied", Severity.ERROR)
def scaled_gradients_applied(program: Program) -> Iterator[Finding]:
    """The loss is scaled by a GradScaler, and the optimizer applies the scaled gradients.

    Why it matters:
        A GradScaler multiplies the loss by 65,536 at first. `scaler.step(optimizer)` divides the gradients by it, and
        leaves out a step with infinite ones. `optimizer.step()` does neither: the steps are far too large for SGD, and
        the first overflow makes all weights NaN.

    Example:
        `scaler.scale(loss).backward(); optimizer.step(); scaler.update()`

    Fix:
        `scaler.step(optimizer)` instead of `optimizer.step()`.
    """
    if not program.mentions(r"\.scale\(\w*loss\w*\)\.backward") or program.mentions(
        r"unscale_|scaler\.step|Scaler\w*\.step"
    ):
        return
    plain = [one for one in _steps(program, "step") if is_optimizer(one.call.receiver) and not one.call.args]
    near = _steps(program, "backward")
    for step in plain:
        if any(one.loops == step.loops and ".scale(" in ast.unparse(one.call.expression) for one in near):
            yield program.finding(
                scaled_gradients_applied,
                step.call.expression,
                "The gradients are scaled by the GradScaler, and `optimizer.step()` applies them as they are: use "
                "`scaler.step(optimizer)`.",
            )
            return


@rule("P154", "clipped-before-backward", Severity.WARNING)
def clipped_before_backward(program: Program) -> Iterator[Finding]:
    """Gradients are clipped before `backward` computes them.

    Why it matters:
        The clipping sees no gradients, or those of the step before. Those that the optimizer applies are not clipped,
        and a single large one may destroy the weights.

    Example:
        `clip_grad_norm_(model.parameters(), 5); loss.backward(); optimizer.step()`

    Fix:
        Clip between `loss.backward()` and `optimizer.step()`.
    """
    backwards, steps = _steps(program, "backward"), _steps(program, "step")
    clips = [call for call in program.calls if re.search(r"\.clip_grad_(norm|value)_?$", call.name) and call.node]
    if len(clips) != 1 or len(backwards) != 1 or len(steps) != 1:
        return
    clip, loops = clips[0], loops_around(clips[0])
    together = bool(loops) and loops == backwards[0].loops == steps[0].loops and not clip.undecided
    places = [program.calls.index(one) for one in (clip, backwards[0].call, steps[0].call)]
    if together and places == sorted(places):
        yield program.finding(
            clipped_before_backward,
            clip.expression,
            "The gradients are clipped before `backward()` computes them: those that are applied are not clipped.",
        )


def _modulus(test: ast.expr) -> str:
    found = [one for one in ast.walk(test) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod)]
    return ast.unparse(found[0].right) if len(found) == 1 else ""


def _loss_text(loop: ast.AST, backward: Step) -> str:
    """What is done to the loss in the loop, and at its backward."""
    name = receiver_text(backward.call) or ast.unparse(backward.call.expression)
    set_there = [one for one in ast.walk(loop) if isinstance(one, ast.Assign | ast.AugAssign)]
    return "\n".join([name, *(ast.unparse(one) for one in set_there if "loss" in ast.unparse(one).lower())])


STEP_RULES = [
    gradients_never_cleared,
    gradients_not_applied,
    accumulated_without_dividing,
    accumulated_gradients_cleared,
    scaled_gradients_applied,
    clipped_before_backward,
]
