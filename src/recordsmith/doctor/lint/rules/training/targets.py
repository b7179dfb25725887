"""Rules on labels against the loss and the output of the model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Value, walk
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.labels import Labels, targets_of
from recordsmith.doctor.lint.libraries.models import CompiledModel
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parsed_feature_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch_training.outputs import activation_in_torch
from recordsmith.doctor.lint.rules.torch_training.targets import (
    labels_against_loss_in_torch,
    labels_beyond_output_in_torch,
)
from recordsmith.rules import Finding, Severity, rule

__all__ = ["TARGET_RULES"]

_DECODER = re.compile(r"tensorflow\.io\.decode_(jpeg|png|image|bmp|gif|webp)")
_KEEPS = ("tensorflow.cast", "tensorflow.identity", "tensorflow.squeeze")


def _plain(value: Value) -> Value:
    while True:
        if isinstance(value, Element) and value.of is not None:
            value = value.of
        elif isinstance(value, Call) and value.name in _KEEPS and value.args:
            value = value.args[0]
        else:
            return value


@rule("P026", "labels-against-loss", Severity.ERROR)
def labels_against_loss(program: Program) -> Iterator[Finding]:
    """The labels are not encoded as the loss expects.

    Why it matters:
        `sparse_categorical_crossentropy` takes class numbers, `categorical_crossentropy` takes a row of zeros with a
        single one for each example. With the other kind, training fails with a message about shapes, or compares the
        wrong values. In PyTorch, `CrossEntropyLoss` takes class numbers as integers, and `BCEWithLogitsLoss` floats.

    Example:
        `tf.one_hot(label, 10)` in the pipeline and `loss="sparse_categorical_crossentropy"` in `compile`.

    Fix:
        Leave out the one-hot encoding, or use the loss without "sparse".
    """
    for model in program.models:
        for _, labels in targets_of(model):
            if labels is None:
                continue
            if model.loss == "sparse" and labels.kind == "one-hot":
                found = "one-hot labels are given to a sparse loss, which takes class numbers"
                advice = 'Use loss="categorical_crossentropy", or leave out the one-hot encoding.'
            elif model.loss == "categorical" and labels.kind in ("numbers", "binary"):
                found = "class numbers are given to `categorical_crossentropy`, which takes one-hot rows"
                advice = 'Use loss="sparse_categorical_crossentropy", or encode the labels with tf.one_hot.'
            elif model.loss in ("sparse", "categorical") and labels.kind == "several":
                found = "rows with several ones are given to a loss for exactly one class per example"
                advice = 'Use sigmoid in the last layer, and loss="binary_crossentropy".'
            elif model.loss in ("sparse", "categorical") and labels.kind == "measured":
                found = "scaled numbers are given to a loss that takes classes"
                advice = 'Predict numbers with `Dense(1)` and loss="mse".'
            elif model.loss == "binary" and model.units == 1 and labels.kind == "one-hot" and labels.depth != 1:
                found = "one-hot rows are given to a model with one output"
                advice = "Give 0 or 1 as the label, or one output for each class with `categorical_crossentropy`."
            else:
                continue
            yield program.finding(
                labels_against_loss,
                model.compile.expression,
                f"Labels and loss do not fit: {found}. The labels come from {labels.made_by}.",
                advice=advice,
            )
    yield from labels_against_loss_in_torch(program, labels_against_loss)


@rule("P028", "activation-against-loss", Severity.WARNING)
def activation_against_loss(program: Program) -> Iterator[Finding]:
    """The output of the last layer is not what the loss expects.

    Why it matters:
        A cross-entropy takes either probabilities (softmax, sigmoid) or raw scores (`from_logits=True`). With scores in
        place of probabilities, or with a second softmax, the gradient is too small or wrong, and training is slow or
        stalls. A softmax over a single unit is always 1.

    Example:
        `Dense(10)` without activation and `loss="sparse_categorical_crossentropy"`.

    Fix:
        Either `Dense(n, activation="softmax")` with the plain loss, or `Dense(n)` with `from_logits=True`. For two
        classes in one unit, `Dense(1, activation="sigmoid")` with `binary_crossentropy`.
    """
    for model in program.models:
        if model.last is None or model.activation is None:
            continue
        node = model.last.expression
        if model.units == 1 and model.activation == "softmax":
            yield program.finding(
                activation_against_loss, node, "A softmax over one unit is always 1: the model has no output to learn."
            )
        elif model.loss is None or model.from_logits is None:
            continue
        elif model.from_logits and model.activation in ("softmax", "sigmoid"):
            yield program.finding(
                activation_against_loss,
                node,
                f"The last layer ends with {model.activation}, and the loss applies it again (`from_logits=True`): the "
                "gradients all but vanish.",
            )
        elif not model.from_logits and model.activation == "":
            yield program.finding(
                activation_against_loss,
                node,
                "The last layer gives raw scores, but the loss takes them for probabilities: give "
                "`from_logits=True`, or end with a softmax or sigmoid.",
            )
    yield from activation_in_torch(program, activation_against_loss)


@rule("P029", "labels-beyond-output", Severity.ERROR)
def labels_beyond_output(program: Program) -> Iterator[Finding]:
    """The labels are outside the range that the model and its loss can learn.

    The range of the labels is known from the data, from the depth of a one-hot encoding, or from constants such as
    `np.where(x > 0, 1, -1)`.

    Why it matters:
        A label beyond the last unit cannot be learned: the loss becomes NaN, or training stops with an error. Labels
        from 1 to 10 need 11 units, unless 1 is subtracted from them. `binary_crossentropy` takes 0 and 1, not -1 and 1.

    Example:
        Labels up to 10, and `Dense(10, activation="softmax")`.

    Fix:
        Give the last layer one unit for each class number, 0 included.
    """
    for model in program.models:
        if model.last is None or model.loss is None:
            continue
        for target, labels in targets_of(model):
            beyond = _beyond(model, labels) or _bytes_for_binary(model, target)
            if beyond is not None:
                uncalled = bool(program.source.cells) and bool(model.compile.within) and not model.compile.via
                yield program.finding(
                    labels_beyond_output,
                    model.last.expression,
                    beyond,
                    severity=Severity.INFO if uncalled else None,  # cells change what such a function reads
                )
            feature = parsed_feature_of(target, of_batches=True)
            facts = None if feature is None or program.data is None else program.data.feature(feature.name)
            largest = None if facts is None or facts.numbers is None else facts.numbers.max
            sparse = model.loss == "sparse" and model.units is not None
            if feature is not None and largest is not None and sparse and largest >= (model.units or 0):
                yield program.finding(
                    labels_beyond_output,
                    model.last.expression,
                    f"{feature.name!r} goes up to {largest}, but the last layer has {model.units} units, for classes 0 "
                    f"to {(model.units or 0) - 1}.",
                    evidence={"largest": largest, "units": model.units},
                    feature=feature.name,
                )
    yield from labels_beyond_output_in_torch(program, labels_beyond_output)


def _beyond(model: CompiledModel, labels: Labels | None) -> str | None:
    """What is wrong with the range of labels, by the source alone."""
    if labels is None or (model.units is None and model.loss != "binary"):
        return None
    units = model.units or 1
    if labels.kind == "one-hot" and labels.depth not in (None, units) and model.loss == "categorical":
        return f"Labels are one-hot with {labels.depth} classes, but the last layer has {units} units."
    if labels.kind == "one-hot" and labels.depth is not None and labels.highest is not None:
        beyond = labels.highest >= labels.depth
        return (
            f"The labels go from {labels.lowest} to {labels.highest}, and {labels.made_by} makes {labels.depth} "
            f"classes of them, 0 to {labels.depth - 1}: the others become rows of zeros."
            if beyond
            else None
        )
    if labels.lowest is None or labels.highest is None or model.loss == "categorical":
        return None
    wanted = max(units, 2) - 1
    if model.loss == "binary" and units > 1:
        return None
    if labels.lowest < 0 or labels.highest > wanted:
        takes = "0 or 1" if model.loss == "binary" else f"0 to {wanted}"
        return f"The labels go from {labels.lowest} to {labels.highest}, but the loss takes {takes}."
    return None


def _bytes_for_binary(model: CompiledModel, target: Value) -> str | None:
    """Masks of 0 and 255, as they were read, for a loss that takes 0 and 1."""
    found = scaling_of(target) if model.loss == "binary" and flow_of(target) is None else None
    if found is None or found.root != "image" or found.steps or found.factor != 1 or found.offset:
        return None
    return "The labels are pixels as they were read, from 0 to 255, but the loss takes 0 to 1."


@rule("P036", "inputs-and-label-swapped", Severity.ERROR)
def inputs_and_label_swapped(program: Program) -> Iterator[Finding]:
    """A model gets the label as its input and the image as its target.

    Why it matters:
        `fit` takes pairs of (inputs, target). The other way round, training fails with a message about shapes, or the
        model learns the average image of each class.

    Example:
        `return parsed["label"], image`

    Fix:
        Return the image first: `return image, parsed["label"]`.
    """
    for node, pipelines in program.trained_on():
        for pipeline in pipelines:
            element = pipeline.element
            if not isinstance(element, Group) or len(element.members) != 2 or isinstance(node, ast.For):
                continue
            first, second = (_plain(member) for member in element.members)
            feature = parsed_feature_of(first, of_batches=True)
            number = feature is not None and feature.shape == () and feature.dtype == "int64"
            image = any(isinstance(one, Call) and _DECODER.fullmatch(one.name) for one in walk(second))
            if feature is not None and number and image:
                yield program.finding(
                    inputs_and_label_swapped,
                    node,
                    f"The model is given {feature.name!r} as its input and the image as its label: they are swapped.",
                )


TARGET_RULES = [inputs_and_label_swapped, labels_against_loss, activation_against_loss, labels_beyond_output]
