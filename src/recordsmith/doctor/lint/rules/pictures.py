"""Rules on decoded pictures: their shape and their range."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.arrays import dtype_named
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.values import Call, Group, Item, Literal, Operation, Value
from recordsmith.facts.dataset_facts import ImageFacts
from recordsmith.findings import Finding, Severity, rule

__all__ = ["PICTURE_RULES"]

_DECODER = re.compile(r"tensorflow\.io\.decode_(jpeg|png|image|bmp|gif|webp)")
_PASSES = {
    "tensorflow.cast",
    "tensorflow.image.convert_image_dtype",
    "tensorflow.identity",
    "tensorflow.image.per_image_standardization",
}
_TPU = re.compile(r"TPUStrategy|TPUClusterResolver|for TPU", re.IGNORECASE)


@rule("P018", "constant-reshape", Severity.WARNING)
def constant_reshape(program: Program) -> Iterator[Finding]:
    """A decoded picture is reshaped to a constant shape.

    Why it matters:
        `reshape` neither resizes nor crops: it takes the pixels in their order and cuts them into new rows. A picture
        of another size either raises in the middle of training, or, if the number of values happens to be the same
        (32 × 64 for 64 × 32), passes in silence as scrambled pixels.

    Example:
        `tf.reshape(tf.io.decode_jpeg(x), [28, 28, 1])`

    Fix:
        Resize: `tf.image.resize(image, [28, 28])`, with `channels=1` given to the decoder. If all pictures have this
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
            f"A decoded picture is reshaped to {size}: a picture of another size raises, or comes out scrambled if it "
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
        return f" The pictures are {heights.min}×{widths.min}."
    return f" The pictures are {heights.min} to {heights.max} high and {widths.min} to {widths.max} wide."


@rule("P025", "scaled-twice", Severity.WARNING)
def scaled_twice(program: Program) -> Iterator[Finding]:
    """Pixels are scaled to 0..1 twice.

    Why it matters:
        `convert_image_dtype(image, tf.float32)` already divides by 255. Dividing again leaves values below 0.004: to
        the model all pictures are black, and the gradients are as small.

    Example:
        `tf.image.convert_image_dtype(image, tf.float32) / 255.0`

    Fix:
        Scale once: leave out the division, or use `tf.cast(image, tf.float32) / 255.0` instead.
    """
    seen: set[int] = set()
    for pipeline in program.finished:
        for value in _deep(pipeline.element):
            if id(value) not in seen and _is_division(value):
                seen.add(id(value))
                inner = _scaled(value)
                node = value.node
                if inner is not None and node is not None:
                    yield program.finding(
                        scaled_twice,
                        node,
                        f"These pixels are divided by 255 although {inner} has scaled them to 0..1 already: what is "
                        "left is all but black.",
                    )


def _deep(value: Value) -> Iterator[Value]:
    from recordsmith.doctor.lint.values import walk

    yield from walk(value)


def _is_division(value: Value) -> bool:
    if isinstance(value, Operation) and len(value.operands) == 2:
        factor = value.operands[1]
        if isinstance(factor, Literal) and isinstance(factor.value, int | float):
            return (value.operator == "/" and factor.value in (255, 256)) or (
                value.operator == "*" and math.isclose(factor.value, 1 / 255, rel_tol=0.01)
            )
    if isinstance(value, Call) and value.name == "()" and isinstance(value.receiver, Call):
        return value.receiver.name == "keras.layers.Rescaling" and _by_255(value.receiver)
    return False


def _by_255(layer: Call) -> bool:
    scale = layer.argument(0, "scale")
    return (
        isinstance(scale, Literal)
        and isinstance(scale.value, float)
        and math.isclose(scale.value, 1 / 255, rel_tol=0.01)
    )


def _scaled(value: Value) -> str | None:
    """What has scaled the operand of a division before, if only steps that keep the range lie between."""
    inner: Value | None = value.operands[0] if isinstance(value, Operation) else None
    if isinstance(value, Call):
        inner = value.argument(0)
    while inner is not None:
        if _is_division(inner):
            return "an earlier division"
        if not isinstance(inner, Call):
            return None
        if inner.name == "tensorflow.image.convert_image_dtype":
            to_float = (dtype_named(inner.argument(1, "dtype")) or "").startswith("float")
            start = _decoder_of(inner.argument(0))
            return "`convert_image_dtype`" if to_float and start is not None and _is_whole(inner.argument(0)) else None
        keeps = inner.name.startswith("tensorflow.image.") or inner.name in ("tensorflow.reshape", "tensorflow.cast")
        inner = inner.argument(0) if keeps else None
    return None


def _is_whole(value: Value | None) -> bool:
    """It is still a decoder's whole numbers, which alone are scaled by convert_image_dtype."""
    while isinstance(value, Call):
        if _DECODER.fullmatch(value.name):
            return True
        if value.name not in ("tensorflow.reshape", "tensorflow.identity", "tensorflow.image.resize_with_crop_or_pad"):
            return False
        value = value.argument(0)
    return False


PICTURE_RULES = [constant_reshape, scaled_twice]
