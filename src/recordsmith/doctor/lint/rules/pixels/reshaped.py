"""Rules on arrays whose values end up in other places: axes moved by `reshape`, images "resized" by numpy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Many, Operation, Value
from recordsmith.doctor.lint.libraries.image_shapes import array_shape
from recordsmith.doctor.lint.libraries.rows import bound_key
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["RESHAPE_RULES"]

_IMAGE_NAME = re.compile(r"(^|_)(img|image|im|frame|photo|picture|pixels)s?\d*(_|$)", re.IGNORECASE)
_KEEPS_SHAPE = {".astype", ".copy", "numpy.array", "numpy.asarray", "numpy.float32"}


@rule("P265", "axes-moved-by-reshape", Severity.ERROR)
def axes_moved_by_reshape(program: Program) -> Iterator[Finding]:
    """Axes of an array are swapped with `reshape`, which does not move values.

    Why it matters:
        `reshape` keeps the order of the values and cuts it into new rows. From (n, 3, 32, 32) to (n, 32, 32, 3) it
        gives the right shape with colours and positions mixed up; from (n, features, time) to (n, time, features),
        features of different times. No error is raised.

    Example:
        `x.reshape(-1, 3, 32, 32).reshape(-1, 32, 32, 3)`, `x.reshape(x.shape[0], x.shape[2], x.shape[1])`

    Fix:
        Move the axes: `x.transpose(0, 2, 3, 1)`, `x.transpose(0, 2, 1)`.
    """
    for call in program.calls:
        array, sizes = _reshape(call)
        if array is None:
            continue
        yield from _rows_multiplied(program, call, array, sizes)
        order = _own_axes(array, sizes) or _known_axes(array, sizes)
        if order is not None:
            yield program.finding(
                axes_moved_by_reshape,
                call.expression,
                f"`reshape` does not move axes: the values stay in their order and are mixed up. To swap the axes, use "
                f"`transpose({', '.join(map(str, order))})`.",
            )


def _rows_multiplied(program: Program, call: Call, array: Value, sizes: tuple[Value, ...]) -> Iterator[Finding]:
    """Images in colour that are reshaped to grey ones: each becomes several rows of mixed pixels."""
    while isinstance(array, Call) and array.name in _KEEPS_SHAPE:
        array = (array.receiver if array.name.startswith(".") else array.argument(0)) or array
    image = array_shape(array.member) if isinstance(array, Many) else None
    after = [one.value if isinstance(one, Literal) else None for one in sizes]
    if image is None or len(image) != 3 or len(after) != 4 or after[0] != -1 or None in after[1:]:
        return
    if image[2] != after[3] and [*image[:2], after[3]] == after[1:]:
        yield program.finding(
            axes_moved_by_reshape,
            call.expression,
            f"Each image has {image[2]} channels and is reshaped to {after[3]}: `reshape` makes {image[2]} rows of "
            "mixed pixels out of each image, and labels no longer fit.",
            advice='Convert to grey: `image.convert("L")`, `cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)`.',
        )


def _reshape(call: Call) -> tuple[Value | None, tuple[Value, ...]]:
    """The array and the new sizes of a reshape."""
    if call.name in (".reshape", ".view"):
        array, sizes = call.receiver, call.args
    elif call.name in ("numpy.reshape", "tensorflow.reshape", "torch.reshape") and len(call.args) > 1:
        array, sizes = call.args[0], call.args[1:]
    else:
        return None, ()
    if len(sizes) == 1 and isinstance(sizes[0], Group):
        sizes = sizes[0].members
    return array, sizes


def _own_axes(array: Value, sizes: tuple[Value, ...]) -> list[int] | None:
    """The new order, where every new size is a size of the array itself: `(x.shape[0], x.shape[2], x.shape[1])`."""
    known: list[int] = []
    for size in sizes:
        product = size.operands if isinstance(size, Operation) and size.operator == "*" else (size,)
        axes = [_own_axis(one, array) for one in product]
        if None in axes:
            return None
        known += sorted(one for one in axes if one is not None)
    moved = len(known) > 2 and sorted(known) == list(range(len(known))) and known != sorted(known)
    return known if moved else None


def _own_axis(size: Value, array: Value) -> int | None:
    """The number of the axis whose size it is, for a size of the array itself: `x.shape[1]`, `x.size(1)`."""
    match size:
        case Call(name=".size", receiver=of, args=(axis,)):
            pass
        case Item(base=Item(base=of, index=Literal(value="shape"), attribute=True), index=axis):
            pass
        case Item(base=Call(name=".size", receiver=of, args=()), index=axis):
            pass
        case _:
            return None
    number = bound_key(axis)
    return number if of is array and isinstance(number, int) and number >= 0 else None


def _known_axes(array: Value, sizes: tuple[Value, ...]) -> list[int] | None:
    """The new order, where the old shape is known and has 3 or 1 channels on the other side."""
    while isinstance(array, Call) and array.name in _KEEPS_SHAPE:
        inner = array.receiver if array.name.startswith(".") else array.argument(0)
        if inner is None:
            return None
        array = inner
    old = _reshape(array)[1] if isinstance(array, Call) else ()
    before, after = ([one.value if isinstance(one, Literal) else None for one in side] for side in (old, sizes))
    if len(before) != 4 or len(after) != 4 or None in before[1:] or None in after[1:] or before[0] != after[0]:
        return None
    if after[1:] == [*before[2:], before[1]] and before[1] == 3 != after[1]:
        return [0, 2, 3, 1]
    return [0, 3, 1, 2] if after[1:] == [before[3], *before[1:3]] and before[3] == 3 != after[3] else None


@rule("P266", "image-resized-by-numpy", Severity.ERROR)
def image_resized_by_numpy(program: Program) -> Iterator[Finding]:
    """An image is "resized" with `np.resize`, which repeats or cuts off values.

    Why it matters:
        `np.resize` takes the values in their order until the new array is full: a larger image becomes its first rows,
        cut into lines of another length. What the model sees is noise.

    Example:
        `np.resize(cv2.imread(path), (64, 64, 3))`

    Fix:
        Resize with a library for images: `cv2.resize(image, (64, 64))`, `tf.image.resize`, `Image.resize`.
    """
    for call in program.calls:
        if call.name != "numpy.resize" or len(call.args) < 2:
            continue
        size = call.args[1]
        scaling = scaling_of(call.args[0])
        is_image = scaling is not None and scaling.root == "image"
        named = bool(_IMAGE_NAME.search(getattr(call.expression.args[0], "id", "")))
        if (is_image or named) and isinstance(size, Group) and len(size.members) in (2, 3):
            yield program.finding(
                image_resized_by_numpy,
                call.expression,
                "`np.resize` does not scale an image: it takes its first values, or repeats them, until the new size "
                "is full.",
                severity=None if is_image else Severity.WARNING,
            )


RESHAPE_RULES = [axes_moved_by_reshape, image_resized_by_numpy]
