"""Rules on the range of pixels that a network expects: that of its pretrained weights, and that of its output."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Literal, Value, walk
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.training.ranges import first_member, model_inputs
from recordsmith.rules import Finding, Severity, rule

__all__ = ["EXPECTED_RANGE_RULES"]

_PLAIN_INPUTS = ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer", "keras.layers.Resizing")
_PRETRAINED = re.compile(
    r"keras\.applications\.(?:\w+\.)?(?:(VGG16|VGG19|ResNet50|ResNet101|ResNet152)"
    r"|(MobileNet|MobileNetV2|InceptionV3|InceptionResNetV2|Xception|ResNet\d+V2|NASNet\w+))"
)


_PREPROCESS = re.compile(r"keras\.applications\.(\w+)\.preprocess_input")
_CENTRED = re.compile(r"mobilenet(_v2)?|inception\w*|xception|resnet_v2|nasnet")


@rule("P267", "not-as-pretrained", Severity.WARNING)
def not_as_pretrained(program: Program) -> Iterator[Finding]:
    """A network with pretrained weights gets pixels on another scale than it was trained with.

    Why it matters:
        The weights of ImageNet expect exactly what `preprocess_input` of their module gives: VGG and ResNet pixels of
        0..255 with the mean subtracted, MobileNet, Inception and Xception pixels of -1..1. With 0..1 instead of 0..255,
        all images look black to a frozen network, and its features say little.

    Example:
        `ImageDataGenerator(rescale=1 / 255)` and `ResNet50(weights="imagenet")`.

    Fix:
        Use the function of the network: `ImageDataGenerator(preprocessing_function=resnet50.preprocess_input)`.
    """
    for model in program.models:
        layers = model.layers or ()
        for layer in layers:
            wanted = _PRETRAINED.fullmatch(layer.name)
            before = layers[: layers.index(layer)]
            if wanted is None or not _of_imagenet(layer) or any(one.name not in _PLAIN_INPUTS for one in before):
                continue
            scales = (_wrong_scale(fit.argument(0, "x", "generator"), centred=bool(wanted[2])) for fit in model.fits)
            found = next((one for one in scales if one is not None), None)
            if found is not None:
                network = layer.name.rpartition(".")[2]
                yield program.finding(
                    not_as_pretrained,
                    layer.expression,
                    f"The weights of {network} were trained on {found[1]}, and get pixels of {found[0]}.",
                    advice="Use `preprocess_input` of the network's module instead.",
                    severity=None if wanted[2] else Severity.INFO,  # many train well enough with 0..1
                )
    for layer, found in _used_as_they_are(program):
        yield program.finding(
            not_as_pretrained,
            layer.expression,
            f"{layer.name.rpartition('.')[2]} was trained on {found[1]}, and is asked about pixels of {found[0]}.",
            advice="Use `preprocess_input` of the network's module before `predict`.",
        )


def _used_as_they_are(program: Program) -> Iterator[tuple[Call, tuple[str, str]]]:
    """Pretrained networks that predict without having been trained here."""
    for use in model_uses(program.calls):
        wanted = _PRETRAINED.fullmatch(use.model.name) if isinstance(use.model, Call) else None
        if use.role != "prediction" or wanted is None or not isinstance(use.model, Call) or not _of_imagenet(use.model):
            continue
        found = _wrong_scale(use.inputs, centred=bool(wanted[2])) or _of_another(use.inputs, centred=bool(wanted[2]))
        if found is not None:
            yield use.model, found


def _of_another(value: Value | None, *, centred: bool) -> tuple[str, str] | None:
    """What `preprocess_input` of another network gives, and what this one was trained on."""
    for one in walk(value, 12):
        module = _PREPROCESS.fullmatch(one.name) if isinstance(one, Call) else None
        if module is None or not isinstance(one, Call):
            continue
        mode = one.argument(None, "mode")
        means = module[1] in ("vgg16", "vgg19", "resnet", "resnet50") or (
            module[1] == "imagenet_utils" and mode is None
        )
        if means and centred:
            return "0..255 with the mean subtracted", "pixels of -1..1"
        if not means and not centred and _CENTRED.fullmatch(module[1]):
            return "-1..1", "pixels of 0..255 with the mean subtracted"
        return None
    return None


def _of_imagenet(network: Call) -> bool:
    weights = network.argument(None, "weights")
    return weights is None or (isinstance(weights, Literal) and weights.value == "imagenet")


def _wrong_scale(value: Value | None, *, centred: bool) -> tuple[str, str] | None:
    """The range of the pixels, and the one that the network was trained on; None if near enough, or not known."""
    found = scaling_of(value)
    if found is None or found.root != "image" or found.steps or found.offset:
        return None
    if not centred and math.isclose(found.factor, 1 / 255, rel_tol=0.02):
        return "0..1", "pixels of 0..255 with the mean subtracted"
    return ("0..255", "pixels of -1..1") if centred and found.factor == 1 else None


@rule("P268", "shift-left-out", Severity.WARNING)
def shift_left_out(program: Program) -> Iterator[Finding]:
    """Pixels are divided by 127.5 and 1 is not subtracted, so that they are 0..2 instead of -1..1.

    Why it matters:
        Dividing by 127.5 is half of scaling to -1..1. Without the subtraction all values are positive and up to 2: a
        generator that ends with tanh can never give such an image, and pretrained weights expect values around 0.

    Example:
        `image / (127.5 - 1)`, where `image / 127.5 - 1` was meant.

    Fix:
        `image / 127.5 - 1`, or `image / 255` for 0..1.
    """
    inputs = [first_member(pipeline.element) for pipeline in program.finished if program.roles(pipeline)]
    inputs += [value for model in program.models for value in model_inputs(model)]
    seen: set[int] = set()
    for value in inputs:
        found = scaling_of(value)
        node = value.node
        if found is None or node is None or found.root != "image" or found.steps or found.offset or id(node) in seen:
            continue
        seen.add(id(node))
        if 126 < 1 / found.factor < 129:
            yield program.finding(
                shift_left_out,
                node,
                f"Pixels are divided by {1 / found.factor:g} and not shifted: they are 0..2, and not -1..1.",
            )


EXPECTED_RANGE_RULES = [not_as_pretrained, shift_left_out]
