"""Rules on decoded images: their shape, and the masks that belong to them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Item, Literal, Operation, Value, walk
from recordsmith.doctor.lint.libraries.models import compiled_models
from recordsmith.doctor.lint.program import Program
from recordsmith.facts.dataset_facts import ImageFacts
from recordsmith.rules import Finding, Severity, rule

__all__ = ["IMAGE_RULES"]

_DECODER = re.compile(r"tensorflow\.io\.decode_(jpeg|png|image|bmp|gif|webp)")
_PASSES = {
    "tensorflow.cast",
    "tensorflow.image.convert_image_dtype",
    "tensorflow.identity",
    "tensorflow.image.per_image_standardization",
}
_MOVES = re.compile(r"tensorflow\.image\.(random_flip_\w+|random_crop|rot90)")
_SAME_SIZE = re.compile(
    r"tensorflow\.image\.(random_flip_\w+|random_(brightness|contrast|hue|saturation)|adjust_\w+)|tensorflow\.clip_by_value"
)
_TPU = re.compile(r"TPUStrategy|TPUClusterResolver|for TPU", re.IGNORECASE)


@rule("P018", "constant-reshape", Severity.WARNING)
def constant_reshape(program: Program) -> Iterator[Finding]:
    """A decoded image is reshaped to a constant shape.

    Why it matters:
        `reshape` neither resizes nor crops: it takes the pixels in their order and cuts them into new rows. An image
        of another size either raises in the middle of training, or, if the number of values happens to be the same
        (32 × 64 for 64 × 32), silently gives scrambled pixels.

    Example:
        `tf.reshape(tf.io.decode_jpeg(x), [28, 28, 1])`

    Fix:
        Resize: `tf.image.resize(image, [28, 28])`, with `channels=1` given to the decoder. If all images have this
        size already, say so without moving pixels: `tf.ensure_shape(image, [28, 28, 1])`.
    """
    for call in program.calls:
        if call.name != "tensorflow.reshape":
            continue
        decoder = _decoder_of(call.argument(0, "tensor"))
        shape = _constant_shape(call.argument(1, "shape"))
        if decoder is None or shape is None or len(shape) < 2:
            continue
        known = _images(program, decoder)
        if known is not None and _fits(known, shape):
            continue
        tpu = bool(_TPU.search(program.source.text))
        size = "×".join(str(dimension) for dimension in shape)
        yield program.finding(
            constant_reshape,
            call.expression,
            f"A decoded image is reshaped to {size}: an image of another size raises, or comes out scrambled if it "
            f"happens to have {math.prod(shape):,} values too.{_sizes(known)}",
            severity=Severity.ERROR if known is not None else Severity.INFO if tpu else Severity.WARNING,
        )


def _decoder_of(value: Value | None) -> Call | None:
    while isinstance(value, Call | Operation):
        if isinstance(value, Operation):
            value = value.operands[0] if value.operator in ("/", "*", "-", "+") and value.operands else None
        elif _DECODER.fullmatch(value.name):
            return value
        else:
            value = value.argument(0) if value.name in _PASSES else None
    return None


def _constant_shape(value: Value | None) -> tuple[int, ...] | None:
    if not isinstance(value, Group):
        return None
    sizes = [member.value for member in value.members if isinstance(member, Literal)]
    whole = len(sizes) == len(value.members) and all(isinstance(size, int) and size > 0 for size in sizes)
    return tuple(sizes) if whole else None


def _images(program: Program, decoder: Call) -> ImageFacts | None:
    source = decoder.argument(0, "contents")
    if program.data is None or not isinstance(source, Item) or not isinstance(source.index, Literal):
        return None
    facts = program.data.feature(str(source.index.value))
    return None if facts is None else facts.images


def _fits(images: ImageFacts, shape: tuple[int, ...]) -> bool:
    heights, widths = images.heights, images.widths
    if heights is None or widths is None:
        return True
    return heights.fixed and widths.fixed and shape[:2] == (heights.min, widths.min)


def _sizes(images: ImageFacts | None) -> str:
    if images is None or images.heights is None or images.widths is None:
        return ""
    heights, widths = images.heights, images.widths
    if heights.fixed and widths.fixed:
        return f" The images are {heights.min}×{widths.min}."
    return f" The images are {heights.min} to {heights.max} high and {widths.min} to {widths.max} wide."


@rule("P032", "mask-left-behind", Severity.ERROR)
def mask_left_behind(program: Program) -> Iterator[Finding]:
    """An image is flipped, rotated or cropped at random, but its mask is not.

    Why it matters:
        The mask then no longer fits the image, and many of its labels are wrong.

    Example:
        `return tf.image.random_flip_left_right(image), mask`

    Fix:
        Decide once and do the same to both: draw a seed, and give it to `tf.image.stateless_random_flip_left_right` for
        the image and for the mask; or join them, flip, and split again.
    """
    for pipeline in program.finished:
        element = pipeline.element
        if not isinstance(element, Group) or len(element.members) != 2:
            continue
        picture, mask = ([one for one in walk(member) if isinstance(one, Call)] for member in element.members)
        moved = next((one for one in picture if _MOVES.fullmatch(one.name)), None)
        if moved is None or any(_MOVES.fullmatch(one.name) for one in mask):
            continue
        if any(_DECODER.fullmatch(one.name) for one in mask) and not any(one is moved for one in mask):
            yield program.finding(
                mask_left_behind,
                moved.expression,
                f"`{moved.name.rpartition('.')[2]}` moves the image and not the mask that belongs to it: they no "
                "longer fit together.",
            )


@rule("P034", "size-against-model", Severity.ERROR)
def size_against_model(program: Program) -> Iterator[Finding]:
    """Images are resized to another size than the model's input.

    Why it matters:
        The model refuses the first batch, or a later layer does if the first one takes any size.

    Example:
        `tf.image.resize(image, (128, 128))` and `tf.keras.Input((224, 224, 3))`.

    Fix:
        Use one constant for both.
    """
    for model in compiled_models(program.calls):
        wanted = _input_size(model.layers[0]) if model.layers else None
        for pipeline in model.trained_on:
            element = pipeline.element
            resize = _last_resize(element.members[0]) if isinstance(element, Group) and element.members else None
            size = None if resize is None else _constant_shape(resize.argument(1, "size"))
            if resize is None or wanted is None or size is None or len(size) != 2 or size == wanted:
                continue
            yield program.finding(
                size_against_model,
                resize.expression,
                f"Images are resized to {size[0]}×{size[1]}, but the model takes {wanted[0]}×{wanted[1]}.",
            )


def _input_size(layer: Call) -> tuple[int, int] | None:
    inputs = layer.name in ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
    shape = _constant_shape(layer.argument(0 if inputs else None, "shape" if inputs else "input_shape"))
    return (shape[0], shape[1]) if shape is not None and len(shape) == 3 else None


def _last_resize(value: Value) -> Call | None:
    """The resize that decides an image's size: what comes behind it leaves the size as it is."""
    current: Value | None = value
    while current is not None:
        if isinstance(current, Element):
            current = current.of
        elif isinstance(current, Operation):
            current = current.operands[0] if current.operator in ("/", "*", "-", "+") and current.operands else None
        elif not isinstance(current, Call):
            return None
        elif current.name == "tensorflow.image.resize":
            return current
        else:
            current = current.argument(0) if current.name in _PASSES or _SAME_SIZE.fullmatch(current.name) else None
    return None


IMAGE_RULES = [constant_reshape, mask_left_behind, size_against_model]
