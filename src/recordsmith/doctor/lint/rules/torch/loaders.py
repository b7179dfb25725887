"""Rules on how a PyTorch program draws from its DataLoaders: whole passes, and two loaders together."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call
from recordsmith.doctor.lint.libraries.control_flow import enclosing, loops_around, root_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.modules import losses
from recordsmith.doctor.lint.libraries.torch.training import training_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["LOADER_RULES"]

_KERAS_STEPS = (".apply_gradients", ".train_on_batch", ".minimize")


def _keeps_order(pipeline: Pipeline) -> bool:
    """Every pass over it begins with the same batch."""
    if pipeline.library == "torch":
        return pipeline.source.shuffles is False
    known = pipeline.source.kind in ("tfrecord", "slices", "tensors", "lines", "range")
    return known and not any(stage.name == "shuffle" for stage in pipeline.all_stages())


@rule("P105", "first-batch-only", Severity.WARNING)
def first_batch_only(program: Program) -> Iterator[Finding]:
    """A loop takes `next(iter(loader))` in every turn, which begins anew each time.

    Why it matters:
        `iter(loader)` starts a new pass over the data. Without shuffling, every step gets the same first batch, and
        the model memorises it. With shuffling, each step starts all workers anew for a single batch, which is slow.

    Example:
        `for step in range(1000): x, y = next(iter(train_loader))`

    Fix:
        Loop over the loader itself, `for x, y in train_loader:`; or make the iterator once, before the loop.
    """
    steps = [(one.loops, one.root) for one in training_steps(program.calls) if one.kind == "backward"]
    steps += [(loops_around(one), root_of(one)) for one in program.calls if one.name in _KERAS_STEPS]
    for call in program.calls:
        inner = call.args[0] if call.name == "builtins.next" and call.args else None
        loops = loops_around(call)
        if not isinstance(inner, Call) or inner.name != "builtins.iter" or not loops or loops_around(inner) != loops:
            continue
        if any(isinstance(one, ast.ExceptHandler) for one, _ in enclosing(inner.expression)):
            continue  # a new pass, after the one before has ended
        yields = any(isinstance(one, ast.Yield) for one in ast.walk(loops[-1]))
        if not yields and not any(around == loops and root is root_of(call) for around, root in steps):
            continue
        found = pipelines_in(inner)
        if any(program.is_for_testing(one) for one in found):
            continue
        sure = bool(found) and all(_keeps_order(one) for one in found)
        text = program.text(inner.args[0].node) if inner.args and inner.args[0].node is not None else ""
        name = program.name_of(found[0]) if found else "the loader"
        yield program.finding(
            first_batch_only,
            call.expression,
            f"`next(iter(...))` starts {name} again in every turn of the loop: "
            + (
                "training sees only the first batch, again and again."
                if sure
                else "without shuffling it always gives the first batch, and with shuffling it is slow."
            ),
            severity=None if sure else Severity.INFO,
            evidence={"loader": text},
        )


@rule("P150", "loaders-shuffled-apart", Severity.ERROR)
def loaders_shuffled_apart(program: Program) -> Iterator[Finding]:
    """Inputs and targets come from two DataLoaders that shuffle, each in its own order.

    Why it matters:
        Each loader draws its own random order. Nearly every input is compared with the target of another one, no error
        is raised, and the model can only learn the mean.

    Example:
        `for (x,), (y,) in zip(DataLoader(inputs, shuffle=True), DataLoader(targets, shuffle=True))`

    Fix:
        One dataset that gives both, as `TensorDataset(inputs, targets)`, and one loader.
    """
    shuffled = {
        name: pipeline
        for pipeline in torch_loaders(program)
        if pipeline.source.shuffles is True
        for name in pipeline.names
    }
    for loop in program.source.nodes:
        match loop:
            case ast.For(
                target=ast.Tuple(elts=[first, second]),
                iter=ast.Call(func=ast.Name(id="zip"), args=[ast.Name(id=one), ast.Name(id=other)]),
            ) if one in shuffled and other in shuffled and one != other:
                inputs, targets = ({part.id for part in ast.walk(each) if isinstance(part, ast.Name)}
                                   for each in (first, second))  # fmt: skip
            case _:
                continue
        for call, _, _, _, _ in losses(program.calls):
            if not isinstance(call.node, ast.Call) or len(call.expression.args) != 2:
                continue
            names = [
                {part.id for part in ast.walk(each) if isinstance(part, ast.Name)} for each in call.expression.args
            ]
            inside = any(node is call.node for node in ast.walk(loop))
            if inside and names[0] & inputs and names[1] & targets and not (names[0] & targets or names[1] & inputs):
                yield program.finding(
                    loaders_shuffled_apart,
                    loop,
                    f"`{one}` and `{other}` shuffle independently, and the loss compares what comes from one with what "
                    "comes from the other: inputs and targets do not belong together.",
                )
                return


LOADER_RULES = [first_batch_only, loaders_shuffled_apart]
