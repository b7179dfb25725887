"""The rule on training and test data of PyTorch that are normalised or scaled in different ways."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Literal, Object, Operation, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import function_of
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.data import base_dataset
from recordsmith.doctor.lint.libraries.torch.modules import is_module
from recordsmith.doctor.lint.libraries.torch.training import optimizers
from recordsmith.doctor.lint.libraries.torch.transforms import (
    UNKNOWN,
    applied_transforms,
    normalisation,
    step_name,
    transform_steps,
)
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import dataset_of, torch_loaders, trains
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SCALED_APART_RULES"]


@rule("P111", "normalised-differently", Severity.WARNING)
def normalised_differently(program: Program) -> Iterator[Finding]:
    """Training images are normalised in another way than those for validation, test or prediction.

    Why it matters:
        The model learns with inputs of one mean and spread, and is used with another. The training loss looks well,
        and every prediction is wrong in a systematic way.

    Example:
        `Compose([ToTensor(), Normalize(mean, std)])` for training, and `Compose([ToTensor()])` for testing.

    Fix:
        Use the same `Normalize`, with the same mean and standard deviation, everywhere; leave out only the random
        transforms.
    """
    loaders = torch_loaders(program)
    trained = [(one, _preparation(one)) for one in loaders if trains(program, one)]
    tested = [(one, _preparation(one)) for one in loaders if program.is_for_testing(one)]
    for (train, first), (test, second) in itertools.product(trained, tested):
        if first is None or second is None or not _same_kind(dataset_of(train), dataset_of(test)):
            continue
        if any(one is not None and not _difference(one, second, "", "") for _, one in trained):
            continue  # another loader for training is prepared like it; this one may be a first look at the data
        message = _difference(first, second, "training data", program.name_of(test))
        if message and test.source.call is not None:
            yield program.finding(normalised_differently, test.source.call.expression, message)
            return
    apart = next(_scaled_apart(program, loaders), None) or next(_fed_apart(program), None)
    if apart is not None:
        yield apart
        return
    used = {id(one) for _, steps in trained + tested for one in steps or ()}
    for call in program.calls:
        if call.name != "()" or not trained or trained[0][1] is None or call.in_map:
            continue
        if any(steps is None for _, steps in trained):
            return  # another model may be trained on that
        steps, known = transform_steps(call.receiver)
        if not known or any(id(one) in used for one in steps) or not any(map(_makes_tensor, steps)):
            continue
        message = _difference(trained[0][1], steps, "training data", "the prediction data")
        fed = [one for one in program.calls if one.name == "()" and any(part is call for part in walk(one, 60))]
        models = [one.receiver for one in fed if is_module(one.receiver)]
        if models and all(_is_another_model(program, one) for one in models):
            continue
        if message and (re.search(r"predict|infer|classify|demo|test", " ".join(call.within)) or _predicts(call)):
            yield program.finding(normalised_differently, call.expression, message)
            return


def _scaled_apart(program: Program, loaders: list[Pipeline]) -> Iterator[Finding]:
    """The pixels of training and test data are divided, or not, in different ways."""
    scaled = [(one, scaling_of(one), one.source.call) for one in loaders]
    trained = [found for one, found, _ in scaled if found is not None and trains(program, one)]
    if not trained or any(one != trained[0] for one in trained):
        return
    first = trained[0]
    for test, found, call in scaled:
        if found is None or call is None or not program.is_for_testing(test) or found.root != first.root:
            continue
        if not first.scales_like(found):
            yield program.finding(
                normalised_differently,
                call.expression,
                f"Training data and {program.name_of(test)} are scaled differently: training data is {first.words}, "
                f"and this is {found.words}.",
            )
    if any(found is None and trains(program, one) for one, found, _ in scaled):
        return  # another model may be trained on that
    for call in program.calls:
        given = call.args[0] if call.name == "()" and len(call.args) == 1 and is_module(call.receiver) else None
        if given is None or call.node is None or _is_another_model(program, call.receiver):
            continue
        if any(isinstance(one, Element) for one in walk(given, 200)):
            continue
        other = scaling_of(given)
        place = call.via[-1] if call.within[-1:] == ("forward",) and call.via else call.expression
        if other is not None and {first.channels, other.channels} == {"RGB", "BGR"}:
            yield program.finding(
                normalised_differently,
                place,
                f"Training data is {first.channels}, and the prediction data is {other.channels}: red and blue are "
                "swapped.",
            )
        elif other is not None and other.root == first.root == "image" and not first.scales_like(other):
            yield program.finding(
                normalised_differently,
                place,
                f"Training data and prediction data are scaled differently: training data is {first.words}, and "
                f"this is {other.words}.",
            )


def _is_another_model(program: Program, model: Value | None) -> bool:
    """A ready-made model that no optimizer trains: the training data is for a model of its own."""
    ready = isinstance(model, Call) and re.match(r"torchvision\.models\.|timm\.|torch\.hub\.", model.name)
    trained = {id(one) for made in optimizers(program.calls) for one in walk(made.argument(0, "params"), 200)}
    return bool(ready) and id(model) not in trained


def _fed_apart(program: Program) -> Iterator[Finding]:
    """The loop that trains divides the batch before the model gets it, and the loop that tests does not."""
    fed: dict[bool, list[tuple[float, Call]]] = {True: [], False: []}
    for call in program.calls:
        given = call.args[0] if call.name == "()" and call.args and is_module(call.receiver) else None
        batch = None if given is None else _divided(given)
        if batch is None or call.node is None or not isinstance(batch[0], Element):
            continue
        for pipeline in torch_loaders(program):
            parts = pipeline.element.members if isinstance(pipeline.element, Group) else (pipeline.element,)
            if any(batch[0] is one for one in parts):
                trained = trains(program, pipeline)
                if trained or program.is_for_testing(pipeline):
                    fed[trained].append((batch[1], call))
    for (factor, _), (other, call) in itertools.product(fed[True], fed[False]):
        if factor != other and all(one == factor for one, _ in fed[True]):
            words = ["is not scaled" if one == 1 else f"is divided by {1 / one:g}" for one in (factor, other)]
            yield program.finding(
                normalised_differently,
                call.expression,
                f"Training data and test data are scaled differently: in the loop that trains the batch {words[0]}, "
                f"and here it {words[1]}.",
            )
            return


def _divided(value: Value) -> tuple[Value, float] | None:
    """A batch and what it was multiplied by, if nothing else was done to its numbers."""
    factor = 1.0
    for _ in range(12):
        match value:
            case Call(name=".float" | ".to" | ".cuda" | ".double" | ".view" | ".reshape" | ".flatten", receiver=inner):
                if inner is None:
                    return None
                value = inner
            case Operation(operator="/", operands=(inner, Literal(value=int() | float() as number))) if number:
                value, factor = inner, factor / number
            case Element(batched=True):
                return value, round(factor, 8)
            case _:
                return None
    return None


def _predicts(call: Call) -> bool:
    """It is in a function that runs a model without gradients."""
    function = function_of(call.expression) if isinstance(call.node, ast.Call) else None
    text = ast.unparse(function) if isinstance(function, ast.FunctionDef) else ""
    runs = re.search(r"\b(model|net|network)\w*\(", text)
    return bool(runs and re.search(r"no_grad|inference_mode", text) and ".backward(" not in text)


def _preparation(pipeline: Pipeline) -> list[Call] | None:
    """The steps that an example goes through; None if they are not all known."""
    applied = applied_transforms(pipeline.element)
    if len(applied) != 1 or not applied[0][2] or not any(map(_makes_tensor, applied[0][1])):
        return None
    return applied[0][1]


def _makes_tensor(step: Call) -> bool:
    return step_name(step) in ("ToTensor", "ToTensorV2", "ToImage", "PILToTensor")


def _same_kind(one: Value | None, other: Value | None) -> bool:
    first, second = base_dataset(one), base_dataset(other)
    if isinstance(first, Call) and isinstance(second, Call):
        return first.name == second.name
    return isinstance(first, Object) and isinstance(second, Object) and first.program_class is second.program_class


def _difference(first: list[Call], second: list[Call], one: str, other: str) -> str | None:
    before, after = normalisation(first), normalisation(second)
    if before == after or (before and after and UNKNOWN in (*before, *after)):
        return None
    if before is None or after is None:
        with_it, without = (one, other) if after is None else (other, one)
        return (
            f"`Normalize` is applied to {with_it}, and {without} is not normalised: the model gets inputs of another "
            "range."
        )
    return f"{other} and {one} are normalised with different constants: the model gets inputs of another range."


SCALED_APART_RULES = [normalised_differently]
