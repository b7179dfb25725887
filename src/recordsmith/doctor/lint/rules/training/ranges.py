"""Rules on the range of pixels: scaled twice, not at all, or lost in whole numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Literal, Operation, Symbol, Value, walk
from recordsmith.doctor.lint.libraries.arrays import dtype_named
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.models import CompiledModel, layers_of
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.pixels import scaled_twice_in_torch
from recordsmith.rules import Finding, Severity, rule

__all__ = ["RANGE_RULES", "is_whole_numbers", "scaled_by"]

_DECODER = re.compile(r"tensorflow\.io\.decode_(jpeg|png|image|bmp|gif|webp)")
_KEEPS_RANGE = re.compile(
    r"tensorflow\.(cast|reshape|ensure_shape|identity|squeeze|expand_dims|transpose)"
    r"|tensorflow\.image\.(resize\w*|random_flip\w*|flip\w*|rot90|random_crop|central_crop|crop\w*|pad\w*|transpose"
    r"|grayscale_to_rgb|rgb_to_grayscale|random_(hue|saturation|contrast|brightness)|adjust_\w+)"
)
_SCALES = re.compile(
    r"keras\.layers\.(Rescaling|Normalization|BatchNormalization|LayerNormalization|Lambda)|keras\.applications\..*"
)
_RESCALES_ITSELF = re.compile(
    r"keras\.applications\.(\w+\.)?(EfficientNet(V2)?\w+|MobileNetV3\w+|ConvNeXt\w+|RegNet\w+|ResNetRS\w+)"
)
_PREPROCESS = re.compile(
    r"keras\.applications\.(resnet\w*|vgg\d+|mobilenet\w*|inception\w*|xception|densenet)\.preprocess_input"
)


def _is_division(value: Value) -> bool:
    """It divides by 255."""
    if isinstance(value, Operation) and len(value.operands) == 2:
        factor = value.operands[1]
        if isinstance(factor, Literal) and isinstance(factor.value, int | float):
            if value.operator == "/":
                return factor.value in (255, 256)
            return value.operator == "*" and math.isclose(factor.value, 1 / 255, rel_tol=0.01)
    return isinstance(value, Call) and value.name == "()" and _rescales(value.receiver)


def _rescales(layer: Value | None) -> bool:
    if not isinstance(layer, Call) or layer.name != "keras.layers.Rescaling":
        return False
    scale = layer.argument(0, "scale")
    known = isinstance(scale, Literal) and isinstance(scale.value, float)
    return known and math.isclose(scale.value, 1 / 255, rel_tol=0.01)  # type: ignore[union-attr]


def _inside(value: Value) -> Value | None:
    """What a value was made from, if its range is the same."""
    if isinstance(value, Element):
        return value.of
    if isinstance(value, Call) and _KEEPS_RANGE.fullmatch(value.name):
        return value.argument(0)
    return None


def scaled_by(value: Value | None) -> str | None:
    """What has brought a value to 0..1, if anything has and nothing has changed that since."""
    while value is not None:
        if _is_division(value):
            return "a division by 255"
        if isinstance(value, Call) and value.name == "tensorflow.image.convert_image_dtype":
            to_float = (dtype_named(value.argument(1, "dtype")) or "").startswith("float")
            return "`convert_image_dtype`" if to_float and is_whole_numbers(value.argument(0)) else None
        value = _inside(value)
    return None


def is_whole_numbers(value: Value | None) -> bool:
    """It is still a decoder's whole numbers, which alone are scaled by convert_image_dtype."""
    while value is not None:
        if isinstance(value, Call) and _DECODER.fullmatch(value.name):
            return True
        whole = isinstance(value, Call) and value.name not in ("tensorflow.cast", "tensorflow.image.resize")
        value = _inside(value) if whole else None
    return False


def _is_unscaled(value: Value | None) -> bool:
    """It is 0..255 for certain: a decoder's pixels, at most cast, resized or turned."""
    while value is not None:
        if isinstance(value, Call) and _DECODER.fullmatch(value.name):
            return True
        value = value.argument(0) if _keeps_floats(value) and isinstance(value, Call) else _inside(value)
    return False


def _keeps_floats(value: Value) -> bool:
    """`convert_image_dtype` to a float of what is a float already, which scales nothing."""
    if not isinstance(value, Call) or value.name != "tensorflow.image.convert_image_dtype":
        return False
    inner = value.argument(0)
    while isinstance(inner, Call) and not _DECODER.fullmatch(inner.name):
        if inner.name == "tensorflow.image.resize" or (
            inner.name == "tensorflow.cast" and (dtype_named(inner.argument(1, "dtype")) or "").startswith("float")
        ):
            return True
        inner = _inside(inner)
    return False


def _inputs(model: CompiledModel) -> Iterator[Value]:
    for pipeline in model.trained_on:
        element = pipeline.element
        if isinstance(element, Group) and element.members:
            yield element.members[0]
    for fit in model.fits:
        given = fit.argument(0, "x")
        if given is not None and not pipelines_in(given):
            yield given


def _scaled_before(model: CompiledModel) -> str | None:
    """What brings a model's inputs to 0..1 before it gets them."""
    for value in _inputs(model):
        flow, scaling = flow_of(value), scaling_of(value)
        if flow is not None and scaling is not None and math.isclose(scaling.factor, 1 / 255, rel_tol=0.02):
            return "`rescale` in the generator"
        scaled = scaled_by(value)
        if scaled is not None:
            return f"{scaled} in the pipeline"
    return None


def _is_raw(model: CompiledModel) -> bool:
    """It is trained on the pixels of image files, or of a well-known set of images, as they are stored."""
    for fit in model.fits:
        found = scaling_of(fit.argument(0, "x"))
        if found is None or found.steps or found.factor != 1 or found.offset:
            continue
        name = found.root[1] if isinstance(found.root, tuple) else found.root
        if name == "image" or re.fullmatch(r"keras\.datasets\.(mnist|fashion_mnist|cifar\w+)\.load_data", str(name)):
            return True
    return False


def _generators_scaling_twice(program: Program) -> Iterator[Finding]:
    """An ImageDataGenerator that rescales what `preprocess_input` scales too."""
    for call in program.calls:
        rescale, function = call.argument(None, "rescale"), call.argument(None, "preprocessing_function")
        if not call.name.endswith(".ImageDataGenerator") or not isinstance(function, Symbol):
            continue
        by_255 = isinstance(rescale, Literal) and isinstance(rescale.value, float) and rescale.value < 0.01
        if by_255 and _PREPROCESS.fullmatch(function.path):
            yield program.finding(
                scaled_twice,
                call.expression,
                "`preprocess_input` scales the pixels, and `rescale` divides them by 255 again: what is left is all "
                "but the same everywhere.",
            )


def _all_layers(layers: Iterable[Call], calls: list[Call]) -> list[Call]:
    """The layers of a model, also of the models inside it; none, if not all of them are known."""
    found: list[Call] = []
    for layer in layers:
        if layer.name.startswith(("keras.Sequential", "keras.Model", "keras.models.")):
            inner = layers_of(layer, calls)
            if inner is None:
                return []
            found += inner
        else:
            found.append(layer)
    return found


def _scales_itself(layer: Call) -> bool:
    """A network of `keras.applications` that begins by scaling pixels of 0..255."""
    own = layer.argument(None, "include_preprocessing")
    return bool(_RESCALES_ITSELF.fullmatch(layer.name)) and not (isinstance(own, Literal) and own.value is False)


@rule("P025", "scaled-twice", Severity.WARNING)
def scaled_twice(program: Program) -> Iterator[Finding]:
    """Pixels are scaled to 0..1 twice.

    Why it matters:
        `convert_image_dtype(image, tf.float32)` already divides by 255. Dividing again leaves values below 0.004: to
        the model all images are black, and gradients are tiny.

    Example:
        `tf.image.convert_image_dtype(image, tf.float32) / 255.0`

    Fix:
        Scale once: leave out the division, or use `tf.cast(image, tf.float32) / 255.0` instead. If the model begins
        with a Rescaling layer, feed it 0..255. EfficientNet, MobileNetV3, ConvNeXt and RegNet scale by themselves.
    """
    reported: set[int] = set()
    for pipeline in program.finished:
        for value in walk(pipeline.element):
            preprocess = isinstance(value, Call) and bool(_PREPROCESS.fullmatch(value.name))
            if not _is_division(value) and not preprocess:
                continue
            inner = value.operands[0] if isinstance(value, Operation) else None
            inner = value.argument(0) if isinstance(value, Call) else inner
            scaled = scaled_by(inner)
            if scaled is not None and value.node is not None:
                reported.add(id(pipeline))
                yield program.finding(
                    scaled_twice,
                    value.node,
                    f"These pixels are scaled again although {scaled} has brought them to 0..1 already: what is left "
                    "is all but black.",
                    severity=Severity.INFO if program.source.cells and not program.roles(pipeline) else None,
                )
    yield from _generators_scaling_twice(program)
    yield from _range_all_but_gone(program, reported)
    for model in program.models:
        layer = next((one for one in model.layers or () if _rescales(one) or _scales_itself(one)), None)
        scaled = None if layer is None else _scaled_before(model)
        if layer is not None and scaled is not None:
            by = "The model" if _rescales(layer) else f"`{layer.name.rpartition('.')[2]}`"
            yield program.finding(
                scaled_twice,
                layer.expression,
                f"{by} scales pixels of 0..255 by itself although {scaled} has brought them to 0..1 already: what is "
                "left is all but black.",
            )
    yield from scaled_twice_in_torch(program, scaled_twice)


def _range_all_but_gone(program: Program, reported: set[int]) -> Iterator[Finding]:
    """Images of a dataset whose steps of scaling, taken together, leave nearly the same value everywhere."""
    for pipeline in program.finished:
        value = _first_member(pipeline.element)
        found = scaling_of(value) if program.roles(pipeline) and id(pipeline) not in reported else None
        if found is None or found.root != "image" or found.steps or value.node is None:
            continue
        if 0 < abs(found.factor) * 255 < 0.1:
            low, high = sorted((found.offset, found.offset + 255 * found.factor))
            yield program.finding(
                scaled_twice,
                value.node,
                f"Pixels are scaled twice on the way here: black is {low:.4g} and white is {high:.4g}: nearly equal.",
            )


@rule("P030", "unscaled-pixels", Severity.WARNING)
def unscaled_pixels(program: Program) -> Iterator[Finding]:
    """A model is fed pixels from 0 to 255.

    Why it matters:
        Weights are initialised for inputs of about 0 to 1. With values up to 255 the first steps overshoot, activations
        saturate, and training stalls or diverges.

    Example:
        `tf.cast(tf.io.decode_jpeg(x), tf.float32)`, fed to the model as it is.

    Fix:
        Divide by 255 in the pipeline, or begin the model with `tf.keras.layers.Rescaling(1 / 255)`.
    """
    for model in program.models:
        layers = _all_layers(model.layers or (), program.calls)
        if not layers or any(_SCALES.fullmatch(one.name) for one in layers):
            continue
        known = all(one.name.startswith("keras.layers.") or one.name == "keras.Input" for one in layers)
        if known and (any(_is_unscaled(value) for value in _inputs(model)) or _is_raw(model)):
            yield program.finding(
                unscaled_pixels,
                model.compile.expression,
                "The model is trained on pixels from 0 to 255: nothing in the pipeline or the model scales them.",
            )


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
            weights = layer.argument(None, "weights")
            own = weights is None or (isinstance(weights, Literal) and weights.value == "imagenet")
            before = layers[: layers.index(layer)]
            if wanted is None or not own or any(one.name not in _PLAIN_INPUTS for one in before):
                continue
            found = _scale_wrong_for(model, centred=bool(wanted[2]))
            if found is not None:
                network = layer.name.rpartition(".")[2]
                yield program.finding(
                    not_as_pretrained,
                    layer.expression,
                    f"The weights of {network} were trained on {found[1]}, and get pixels of {found[0]}.",
                    advice="Use `preprocess_input` of the network's module instead.",
                    severity=None if wanted[2] else Severity.INFO,  # many train well enough with 0..1
                )


_PLAIN_INPUTS = ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer", "keras.layers.Resizing")
_PRETRAINED = re.compile(
    r"keras\.applications\.(?:\w+\.)?(?:(VGG16|VGG19|ResNet50|ResNet101|ResNet152)"
    r"|(MobileNet|MobileNetV2|InceptionV3|InceptionResNetV2|Xception|ResNet\d+V2|NASNet\w+))"
)


def _scale_wrong_for(model: CompiledModel, *, centred: bool) -> tuple[str, str] | None:
    """The range of the pixels, and the one that the network was trained on; None if near enough, or not known."""
    for fit in model.fits:
        found = scaling_of(fit.argument(0, "x"))
        if found is None or found.root != "image" or found.steps or found.offset:
            continue
        if not centred and math.isclose(found.factor, 1 / 255, rel_tol=0.02):
            return "0..1", "pixels of 0..255 with the mean subtracted"
        if centred and found.factor == 1:
            return "0..255", "pixels of -1..1"
    return None


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
    inputs = [_first_member(pipeline.element) for pipeline in program.finished if program.roles(pipeline)]
    inputs += [value for model in program.models for value in _inputs(model)]
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


def _first_member(element: Value) -> Value:
    if isinstance(element, Element) and element.of is not None:
        return _first_member(element.of)
    return element.members[0] if isinstance(element, Group) and element.members else element


@rule("P031", "scaled-pixels-made-whole", Severity.ERROR)
def scaled_pixels_made_whole(program: Program) -> Iterator[Finding]:
    """Pixels between 0 and 1 are cast to integers: nearly all become 0.

    Why it matters:
        A cast drops the fraction. All values below 1 become 0: the model sees black images.

    Example:
        `tf.cast(image / 255.0, tf.uint8)`, `x_train //= 255`

    Fix:
        Leave the cast out, or use `tf.image.convert_image_dtype(image, tf.uint8, saturate=True)`, which scales back.
        Divide with a single `/`.
    """
    for value in program.operations:
        if (
            isinstance(value, Operation)
            and value.operator == "//"
            and _is_pixels_by_255(value)
            and value.node is not None
        ):
            yield program.finding(
                scaled_pixels_made_whole,
                value.node,
                "`//` drops the fraction: pixels divided by 255 become 0, only pure white becomes 1, and images are "
                "black.",
            )
    for call in program.calls:
        if call.name != "tensorflow.cast":
            continue
        dtype = dtype_named(call.argument(1, "dtype")) or ""
        scaled = scaled_by(call.argument(0, "x"))
        if dtype.startswith(("int", "uint")) and scaled is not None:
            yield program.finding(
                scaled_pixels_made_whole,
                call.expression,
                f"Pixels that {scaled} has brought to 0..1 are cast to {dtype}: all of them become 0, and images "
                "black.",
            )


def _is_pixels_by_255(value: Operation) -> bool:
    """Whole pixels of 0..255, divided by 255."""
    left, right = value.operands
    found = scaling_of(left)
    raw = found is not None and not found.steps and found.factor == 1 and not found.offset
    root = found.root[1] if found is not None and isinstance(found.root, tuple) else getattr(found, "root", "")
    pixels = root == "image" or str(root).endswith(("mnist.load_data", "cifar10.load_data", "cifar100.load_data"))
    return raw and pixels and isinstance(right, Literal) and right.value in (255, 255.0, 256)


RANGE_RULES = [scaled_twice, unscaled_pixels, not_as_pretrained, shift_left_out, scaled_pixels_made_whole]
