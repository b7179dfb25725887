"""Rules on gradients of a tape: lost, or applied where nothing should be learned."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Operation, Value, options_of, walk
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of
from recordsmith.doctor.lint.libraries.models import layers_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["GRADIENT_RULES"]

_ALL = {"variables", "weights"}
_TRAINED = {"trainable_variables", "trainable_weights"}
_APPLIES = r"\b(apply_gradients|apply|minimize|assign_sub|assign_add|assign)\("


@rule("P264", "gradients-lost", Severity.ERROR)
def gradients_lost(program: Program) -> Iterator[Finding]:
    """Gradients of a `GradientTape` are computed and not applied, or applied to other variables.

    Why it matters:
        Without `apply_gradients` the weights stay as they are, and the loss stays where it began. `zip` pairs gradients
        and variables by position: if one side has more of them, as `model.variables` has with BatchNormalization, each
        gradient changes the wrong variable.

    Example:
        `grads = tape.gradient(loss, model.variables)` and
        `optimizer.apply_gradients(zip(grads, model.trainable_variables))`

    Fix:
        Use `model.trainable_variables` in both places, and call `optimizer.apply_gradients` in every step.
    """
    for call in program.calls:
        if call.name == ".apply_gradients" and call.args:
            yield from _to_others(program, call.args[0])
        elif _is_gradient(call):
            yield from _outside_its_tape(program, call)
    if program.mentions(_APPLIES) or not any(one.name.startswith("keras.optimizers.") for one in program.calls):
        return
    for call in program.calls:
        if _is_gradient(call) and _attribute(call.argument(1, "sources")) in _TRAINED and _is_followed(call):
            yield program.finding(
                gradients_lost,
                call.expression,
                "These gradients are computed and never applied: the weights do not change.",
                advice="Call `optimizer.apply_gradients(zip(gradients, model.trainable_variables))` in every step.",
            )
            return


def _outside_its_tape(program: Program, gradient: Call) -> Iterator[Finding]:
    """The loss, or the model's output that it is made of, is computed where the tape does not record."""
    tape, loss = gradient.receiver, gradient.argument(0, "target")
    around = enclosing(tape.node) if tape is not None and tape.node is not None else ()
    block = next((one for one, _ in around if isinstance(one, ast.With)), None)
    if block is None or loss is None or _is_inside(gradient, block) or gradient.argument(1, "sources") is None:
        return
    sources = gradient.argument(1, "sources")
    model = sources.base if isinstance(sources, Item) and _attribute(sources) in _ALL | _TRAINED else None
    outputs = [
        one for one in walk(loss) if isinstance(one, Call) and one.name == "()" and model in options_of(one.receiver)
    ]
    if _is_beside(loss, block):
        what, where = "The loss", loss.node
    elif outputs and all(_is_beside(one, block) for one in outputs):
        what, where = "The model's output", outputs[0].node
    else:
        return
    yield program.finding(
        gradients_lost,
        where or gradient.expression,
        f"{what} is computed outside the `with` block of the tape, which does not record it: there are no gradients.",
        advice="Call the model and compute the loss inside the `with` block.",
    )


def _is_inside(call: Call, block: ast.With) -> bool:
    return any(one is block for site in (call.node, *call.via) if site is not None for one, _ in enclosing(site))


def _is_beside(value: Value, block: ast.With) -> bool:
    """It is computed in the function of a block, and not in the block."""
    if not isinstance(value, Call | Operation) or value.node is None or not hasattr(value.node, "parent"):
        return False  # as of `loss += penalty`, which has no expression of its own
    inside = any(one is block for one, _ in enclosing(value.node))
    reached = isinstance(value, Call) and _is_inside(value, block)
    return function_of(value.node) is function_of(block) and not inside and not reached


def _is_followed(call: Call) -> bool:
    """It is part of a function or loop of the program, and its result goes into no call that may apply it."""
    statement = getattr(call.node, "parent", None)
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)


def _is_gradient(value: Value) -> bool:
    if not isinstance(value, Call) or value.name != ".gradient" or not isinstance(value.receiver, Call):
        return False
    return value.receiver.name == "tensorflow.GradientTape"


def _attribute(value: Value | None) -> str:
    known = isinstance(value, Item) and value.attribute and isinstance(value.index, Literal)
    return str(value.index.value) if known and isinstance(value, Item) and isinstance(value.index, Literal) else ""


def _to_others(program: Program, pairs: Value) -> Iterator[Finding]:
    if not isinstance(pairs, Call) or pairs.name != "builtins.zip" or len(pairs.args) != 2:
        return
    gradients, variables = pairs.args
    sources = gradients.argument(1, "sources") if isinstance(gradients, Call) and _is_gradient(gradients) else None
    if not isinstance(sources, Item) or not isinstance(variables, Item):
        return
    names = {_attribute(sources), _attribute(variables)}
    if not names <= _ALL | _TRAINED:
        return
    if sources.base is not variables.base and isinstance(sources.base, Call) and isinstance(variables.base, Call):
        yield program.finding(
            gradients_lost,
            pairs.expression,
            "The gradients of one model are applied to the variables of another one.",
        )
    elif sources.base is variables.base and names & _ALL and names & _TRAINED:
        layers = layers_of(sources.base, program.calls) or ()
        differ = any(one.name == "keras.layers.BatchNormalization" for one in layers)
        yield program.finding(
            gradients_lost,
            pairs.expression,
            f"Gradients are taken for `{_attribute(sources)}` and applied to `{_attribute(variables)}`: where a layer "
            "has variables that are not trained, each gradient changes the wrong one.",
            severity=None if differ else Severity.INFO,
        )


_CHANGES_WEIGHTS = (".apply_gradients", ".backward", ".minimize", ".step", ".train_on_batch")


@rule("P275", "trained-on-test-data", Severity.ERROR)
def trained_on_test_data(program: Program) -> Iterator[Finding]:
    """A loop over test or validation data applies gradients, as the loop over the training data does.

    Why it matters:
        The model learns the data that it is judged by. The score is too good, and says nothing about new data.

    Example:
        `for x, y in test_ds: loss = train_step(x, y)`, where `train_step` calls `optimizer.apply_gradients`.

    Fix:
        Call the model only, `model(x, training=False)`, in a function of its own.
    """
    loops = [use for use in program.uses if use.role == "training" and isinstance(use.node, ast.For)]
    if not any(_called(use.pipeline) == "training" for use in loops):
        return
    common = {use.node for use in loops if _called(use.pipeline) == "training"}  # an argument may say which it is
    for use in loops:
        if _called(use.pipeline) == "testing" and use.node not in common and _applies_gradients(program, use.node):
            yield program.finding(
                trained_on_test_data,
                use.node,
                f"The loop over {program.name_of(use.pipeline)} applies gradients: the model is trained on the data "
                "that it is judged by.",
            )


def _applies_gradients(program: Program, loop: ast.AST) -> bool:
    """Tell whether a call that changes the weights is certainly reached from a loop, through functions too."""
    inside = set(ast.walk(loop))
    return any(
        call.name in _CHANGES_WEIGHTS and not call.undecided and not inside.isdisjoint((call.node, *call.via))
        for call in program.calls
    )


def _called(pipeline: Pipeline) -> str | None:
    """What its last name says, and no other."""
    name = pipeline.all_names[0].lower() if pipeline.all_names else ""
    test, train = re.search(r"(^|_)(test|val|valid|validation)(_|$)", name), re.search(r"(^|_)train(ing)?(_|$)", name)
    return None if (test is None) == (train is None) else "testing" if test else "training"


GRADIENT_RULES = [gradients_lost, trained_on_test_data]
