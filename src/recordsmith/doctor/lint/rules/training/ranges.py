"""Rules on the range of pixels: scaled twice, not at all, or lost in whole numbers."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator

from recordsmith.doctor.lint.interpreter.containers import EMPTY_ARRAYS
from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Function,
    Group,
    Literal,
    Operation,
    Symbol,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.arrays import dtype_named, dtype_of
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.models import CompiledModel, layers_of
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.normalised_twice import normalised_twice
from recordsmith.doctor.lint.rules.torch.pixels import scaled_twice_in_torch
from recordsmith.doctor.lint.rules.torch.unscaled import unscaled_in_torch
from recordsmith.rules import Finding, Severity, rule

__all__ = ["RANGE_RULES", "first_member", "is_whole_numbers", "model_inputs", "scaled_by"]

_DECODER = re.compile(r"tensorflow\.io\.decode_(jpeg|png|image|bmp|gif|webp)")
_KEEPS_RANGE = re.compile(
    r"tensorflow\.(cast|reshape|ensure_shape|identity|squeeze|expand_dims|transpose|clip_by_value)"
    r"|tensorflow\.image\.(resize\w*|random_flip\w*|flip\w*|rot90|random_crop|central_crop|crop\w*|pad\w*|transpose"
    r"|grayscale_to_rgb|rgb_to_grayscale|random_(hue|saturation|contrast|brightness)|adjust_\w+)"
)
_SCALES = re.compile(
    r"keras\.layers\.(Rescaling|Normalization|BatchNormalization|LayerNormalization|Lambda)|keras\.applications\..*"
)
_RESCALES_ITSELF = re.compile(
    r"keras\.applications\.(\w+\.)?(EfficientNet(V2)?\w+|MobileNetV3\w+|ConvNeXt\w+|RegNet\w+|ResNetRS\w+)"
)
_MASK_NAME = re.compile(r"mask|label|seg|annot|truth|gt|target|trimap", re.IGNORECASE)
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
    if isinstance(layer, Call) and layer.name == "keras.layers.Lambda":
        function = layer.argument(0, "function")
        body = getattr(function.definition, "body", None) if isinstance(function, Function) else None
        match body:
            case ast.BinOp(left=ast.Name(), op=ast.Div(), right=ast.Constant(value=number)):
                return number in (255, 255.0)
        return False
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


def model_inputs(model: CompiledModel) -> Iterator[Value]:
    """Yield what a model is trained on, without the labels."""
    for pipeline in model.trained_on:
        element = pipeline.element
        if isinstance(element, Group) and element.members:
            yield element.members[0]
    for fit in model.fits:
        given = fit.argument(0, "x", "generator")
        if given is not None and not pipelines_in(given):
            yield given


def _scaled_before(model: CompiledModel) -> str | None:
    """What brings a model's inputs to 0..1 before it gets them."""
    for value in model_inputs(model):
        flow, scaling = flow_of(value), scaling_of(value)
        if flow is not None and scaling is not None and math.isclose(scaling.factor, 1 / 255, rel_tol=0.02):
            return "`rescale` in the generator"
        scaled = scaled_by(value)
        if scaled is not None:
            return f"{scaled} in the pipeline"
    for fit in model.fits:
        scaling = scaling_of(fit.argument(0, "x", "generator"))
        shares = scaling is not None and scaling.root == "image" and not scaling.steps and not scaling.offset
        if shares and scaling is not None and math.isclose(scaling.factor, 1 / 255, rel_tol=0.02):
            return "a division by 255 in the pipeline"
    return None


def _is_raw(model: CompiledModel) -> bool:
    """It is trained on the pixels of image files, or of a well-known set of images, as they are stored."""
    for fit in model.fits:
        found = scaling_of(fit.argument(0, "x", "generator"))
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
                "`preprocess_input` scales the pixels, and `rescale` divides them by 255 again: the result is almost "
                "the same everywhere.",
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
    """Pixels are scaled to 0..1 twice, or normalised twice.

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
                    f"These pixels are scaled again although {scaled} has brought them to 0..1 already: the result "
                    "is almost black.",
                    severity=Severity.INFO if program.source.cells and not program.roles(pipeline) else None,
                )
    yield from normalised_twice(program, scaled_twice)
    yield from _generators_scaling_twice(program)
    yield from _preprocessed_twice(program)
    yield from _range_all_but_gone(program, reported)
    for model in program.models:
        layer = next((one for one in model.layers or () if _rescales(one) or _scales_itself(one)), None)
        scaled = None if layer is None else _scaled_before(model)
        network = next((one for one in model.layers or () if _scales_itself(one)), None)
        if scaled is None and network is not None and layer is not None and _rescales(layer):
            layer, scaled = network, "a Rescaling layer"
        if layer is not None and scaled is not None:
            by = "The model" if _rescales(layer) else f"`{layer.name.rpartition('.')[2]}`"
            yield program.finding(
                scaled_twice,
                layer.expression,
                f"{by} scales pixels from 0..255 itself, but {scaled} has already brought them to 0..1: the result is "
                "almost black.",
            )
    yield from scaled_twice_in_torch(program, scaled_twice)


def _preprocessed_twice(program: Program) -> Iterator[Finding]:
    """`preprocess_input` in the dataset, and again in the graph of the model."""
    for model in program.models:
        compiled = model.compile.receiver
        outputs = compiled.argument(1, "outputs") if isinstance(compiled, Call) else None
        inside = _preprocessing(outputs)
        before = next((one for data in model.trained_on if (one := _preprocessing(data.element)) is not None), None)
        if inside is not None and before is not None and inside is not before:
            yield program.finding(
                scaled_twice,
                inside.expression,
                "The model calls `preprocess_input` on images that have gone through it in the dataset already.",
                advice="Leave out one of the two.",
            )


def _preprocessing(value: Value | None) -> Call | None:
    return next((one for one in walk(value) if isinstance(one, Call) and _PREPROCESS.fullmatch(one.name)), None)


def _range_all_but_gone(program: Program, reported: set[int]) -> Iterator[Finding]:
    """Images of a dataset whose steps of scaling, taken together, leave nearly the same value everywhere."""
    for pipeline in program.finished:
        value = first_member(pipeline.element)
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
        if known and (any(_is_unscaled(value) for value in model_inputs(model)) or _is_raw(model)):
            yield program.finding(
                unscaled_pixels,
                model.compile.expression,
                "The model is trained on pixels from 0 to 255: nothing in the pipeline or the model scales them.",
            )
    yield from unscaled_in_torch(program, unscaled_pixels)


def first_member(element: Value) -> Value:
    """Return the input of an element: of a pair the first, of a batch what it was made from."""
    if isinstance(element, Element) and element.of is not None:
        return first_member(element.of)
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
    yield from _stored_as_whole(program)
    for call in program.calls:
        if call.name == ".astype" and _drops_shares(call):
            yield program.finding(
                scaled_pixels_made_whole,
                call.expression,
                "Pixels between 0 and 1 are cast to integers: nearly all become 0, and images are black.",
            )
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


def _drops_shares(cast: Call) -> bool:
    """A coloured image that was brought to 0..1 is cast to integers; a mask of 0 and 255 becomes 0 and 1 so."""
    dtype, found = dtype_named(cast.argument(0, "dtype")) or "", scaling_of(cast.receiver)
    shares = found is not None and found.root == "image" and not found.steps and not found.offset
    coloured = found is not None and found.channels != "" and 0 < found.factor <= 1 / 127
    named = " ".join([*cast.within, ast.unparse(cast.expression)])
    return dtype.startswith(("int", "uint")) and shares and coloured and not _MASK_NAME.search(named)


def _stored_as_whole(program: Program) -> Iterator[Finding]:
    """`x = np.zeros(shape, dtype="uint8")`, then `x[i] = image / 255`: the array keeps whole numbers only."""
    for call in program.calls:
        if call.name != ".__setitem__" or not isinstance(call.receiver, Call) or call.receiver.name not in EMPTY_ARRAYS:
            continue
        dtype, found = dtype_of(call.receiver) or "", scaling_of(call.args[1])
        shares = found is not None and found.root == "image" and not found.steps and 0 < found.factor <= 1 / 127
        if dtype.startswith(("int", "uint")) and shares:
            yield program.finding(
                scaled_pixels_made_whole,
                call.expression,
                f"Pixels between 0 and 1 are stored in an array of {dtype}, which keeps whole numbers only: nearly all "
                "become 0, and images are black.",
                advice="Make the array of floats: `np.zeros(shape, dtype=np.float32)`; or keep the range of 0..255.",
            )


def _is_pixels_by_255(value: Operation) -> bool:
    """Whole pixels of 0..255, divided by 255."""
    left, right = value.operands
    found = scaling_of(left)
    raw = found is not None and not found.steps and found.factor == 1 and not found.offset
    root = found.root[1] if found is not None and isinstance(found.root, tuple) else getattr(found, "root", "")
    pixels = root == "image" or str(root).endswith(("mnist.load_data", "cifar10.load_data", "cifar100.load_data"))
    return raw and pixels and isinstance(right, Literal) and right.value in (255, 255.0, 256)


RANGE_RULES = [scaled_twice, unscaled_pixels, scaled_pixels_made_whole]
