"""Rules on decoded images: their shape, and the masks that belong to them."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Element,
    Group,
    Item,
    Literal,
    Operation,
    Slice,
    Table,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.image_generators import paired_flows
from recordsmith.doctor.lint.libraries.randomness import drawn_argument, drawn_in, draws
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Stage
from recordsmith.doctor.lint.program import Program
from recordsmith.facts.value_facts import ImageFacts
from recordsmith.rules import Finding, Severity, rule

__all__ = ["IMAGE_RULES"]

_DECODER = re.compile(r"tensorflow\.io\.decode_(jpeg|png|image|bmp|gif|webp)")
_READS_IMAGE = re.compile(_DECODER.pattern + r"|numpy\.load|cv2\.imread|PIL\.Image\.open")
_PASSES = {
    "tensorflow.cast",
    "tensorflow.image.convert_image_dtype",
    "tensorflow.identity",
    "tensorflow.image.per_image_standardization",
}
_MOVES = re.compile(r"tensorflow\.image\.(stateless_)?random_(flip_\w+|crop)")
_TURNS = re.compile(
    r"tensorflow\.image\.(flip_\w+|rot90|transpose|crop_to_bounding_box|central_crop)|cv2\.flip|numpy\.(flip\w*|rot90)"
)
_COLOURS = re.compile(r"tensorflow\.image\.adjust_\w+")
_MOVING_LAYER = re.compile(r"keras\.layers\.Random(Flip|Rotation|Crop|Translation|Zoom)")
_MASK = re.compile(r"mask|segment|annot|truth|(^|_)seg(_|$)|label_?map", re.IGNORECASE)
_BOXES = re.compile(r"^[xy](min|max)|(^|[_/])(bbox\w*|box(es)?|[xy](min|max)|keypoints?)($|[_/])", re.IGNORECASE)
_AXES = (r"(^|_)x\d?$", r"(^|_)y\d?$")  # columns of points, such as "left_eye_x" and "left_eye_y"
_SAME_SIZE = re.compile(
    r"tensorflow\.image\.(random_flip_\w+|random_(brightness|contrast|hue|saturation)|adjust_\w+)|tensorflow\.clip_by_value"
)


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
        size = "×".join(str(dimension) for dimension in shape)
        yield program.finding(
            constant_reshape,
            call.expression,
            f"A decoded image is reshaped to {size}: an image of another size raises, or comes out scrambled if it "
            f"happens to have {math.prod(shape):,} values too.{_sizes(known)}",
            severity=Severity.ERROR if known is not None else Severity.INFO,  # most images have this size
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
    """An image is flipped, rotated or cropped at random, but its mask or boxes are not, or by another draw.

    Why it matters:
        Masks and boxes then no longer fit the image, and many labels are wrong. Two random calls, one for the image and
        one for the mask, draw two different numbers.

    Example:
        `return tf.image.random_flip_left_right(image), mask`

    Fix:
        Decide once and do the same to both: draw a seed, and give it to `tf.image.stateless_random_flip_left_right` for
        the image and for the mask; or join them, flip, and split again. Boxes are flipped by `1 - x`. Layers and
        generators take a `seed`.
    """
    for pipeline in program.finished:
        image, *others = _members(pipeline.element)
        moves = _moves(image)
        if not moves or not others:
            continue
        for other in others:
            found = _apart(moves[0], image, other) or _race(pipeline, moves[0], other)
            if found is not None and moves[0].node is not None:
                yield program.finding(mask_left_behind, moves[0].node, found)
                break
    yield from _generators_apart(program)


def _race(pipeline: Pipeline, moved: Call, other: Value) -> str | None:
    """Two draws by the same seed, in a map that runs on several elements at once: they come in no certain order."""
    again = [one for one in _moves(other) if one.name == moved.name and one is not moved]
    stateful = moved.name.startswith("tensorflow.image.random_")
    if not again or not stateful or not _same_draw(moved, again[0]) or not _is_mask(again[0], other):
        return None
    stage = next((one for one in pipeline.stages if one.name == "map" and _runs(one, moved)), None)
    calls = None if stage is None else stage.call.argument(1, "num_parallel_calls")
    if calls is None or (isinstance(calls, Literal) and calls.value in (None, 1)):
        return None
    name = moved.name.rpartition(".")[2]
    return (
        f"`{name}` is drawn twice by the same seed, for the image and for its mask, in a map with "
        "`num_parallel_calls`: which element gets which number is not certain, and the two are moved differently."
    )


def _runs(stage: Stage, call: Call) -> bool:
    function = stage.function
    return function is not None and f"map:{getattr(function, 'name', '')}" in call.within


def _members(element: Value) -> list[Value]:
    """The parts of an element, the image first."""
    if isinstance(element, Element) and isinstance(element.of, Group | Table):
        element = element.of
    if isinstance(element, Table):
        names = sorted(element.entries, key=lambda key: "image" not in str(key))
        return [element.entries[name] for name in names] or [element]
    return list(element.members) if isinstance(element, Group) and element.members else [element]


def _moves(value: Value) -> list[Call]:
    """The random flips, crops and rotations that a value went through."""
    found: list[Call] = []
    for one in walk(value):
        if isinstance(one, Call) and one.node is not None:
            by_number = not _COLOURS.fullmatch(one.name) and drawn_argument(one) is not None
            found += [one] if by_number or _MOVES.fullmatch(one.name) or _moving_layer(one) is not None else []
            sides = one.args[1:] if _chooses_at_random(one) else ()
            found += [side for side in sides if isinstance(side, Call) and _TURNS.fullmatch(side.name)]
        elif isinstance(one, Item) and _drawn_bounds(one):
            found.append(Call("numpy.crop", None, (one.base,), node=one.node))
        elif isinstance(one, Choice) and _decides_at_random(one):
            turned = [_mirrored(side) or side for _, side in one.options]
            found += [side for side in turned if isinstance(side, Call) and _TURNS.fullmatch(side.name)]
    return found


def _drawn_bounds(item: Item) -> set[int]:
    """The random numbers that decide which part of an image `image[i:i + n, j:j + n]` is."""
    members = item.index.members if isinstance(item.index, Group) else (item.index,)
    bounds = [one.lower for one in members if isinstance(one, Slice) and not item.attribute]
    return {id(call) for call in map(drawn_in, bounds) if call is not None}


def _mirrored(value: Value) -> Call | None:
    """`image[:, ::-1]`, as the call that does the same."""
    index = value.index if isinstance(value, Item) else None
    members = index.members if isinstance(index, Group) and not index.is_list else (index,)
    steps = [one.step for one in members[:2] if isinstance(one, Slice)]
    turned = any(isinstance(one, Literal) and one.value == -1 for one in steps)
    return Call("numpy.flip", None, (value.base,), node=value.node) if turned and isinstance(value, Item) else None


def _shared_draws(image: Value, other: Value) -> bool:
    """One random number decides about both."""
    drawn = [
        {id(drawn_in(choice.by)) for choice in walk(value) if isinstance(choice, Choice) and _decides_at_random(choice)}
        | {id(drawn_argument(call)) for call in walk(value) if drawn_argument(call) is not None}
        | {drawn for item in walk(value) if isinstance(item, Item) for drawn in _drawn_bounds(item)}
        | {id(drawn_in(call.args[0])) for call in walk(value) if isinstance(call, Call) and _chooses_at_random(call)}
        for value in (image, other)
    ]
    return bool(drawn[0] & drawn[1])


def _chooses_at_random(call: Call) -> bool:
    """`tf.where(drawn, flipped, image)`."""
    return call.name == "tensorflow.where" and len(call.args) == 3 and draws(call.args[0])


def _decides_at_random(choice: Choice) -> bool:
    return choice.by is not None and draws(choice.by)


def _moving_layer(call: Call) -> Call | None:
    layer = call.receiver if call.name == "()" else None
    if isinstance(layer, Call) and layer.name in ("keras.Sequential", "keras.models.Sequential"):
        inner = layer.argument(0, "layers")
        members = inner.members if isinstance(inner, Group) else ()
        layer = next((one for one in members if isinstance(one, Call) and _MOVING_LAYER.fullmatch(one.name)), None)
    return layer if isinstance(layer, Call) and _MOVING_LAYER.fullmatch(layer.name) else None


def _apart(moved: Call, image: Value, other: Value) -> str | None:
    """What is wrong with what belongs to an image that was moved; None if nothing is, or nobody knows."""
    layer = _moving_layer(moved)
    name = (layer or moved).name.rpartition(".")[2]
    if any(one is moved for one in walk(other)) or _shared_draws(image, other):
        return None
    again = _moves(other)
    if again and (_same_draw(moved, again[0]) or not (_is_mask(again[0], other) or _is_other_file(again[0], moved))):
        return None
    if again:
        return f"`{name}` is drawn twice, once for the image and once for its mask: they are moved differently."
    parts = list(walk(other))
    if any(isinstance(one, Call) and _DECODER.fullmatch(one.name) for one in parts) and image is not other:
        return f"`{name}` moves the image and not the mask that belongs to it: they no longer fit together."
    places = [one for one in parts if isinstance(one, Item) and isinstance(one.index, Literal)]
    names = [one.index.value for one in places if isinstance(one.index, Literal)]
    lists = [one.index.members for one in parts if isinstance(one, Item) and isinstance(one.index, Group)]
    columns = [[str(one.value) for one in members if isinstance(one, Literal)] for members in lists]
    boxes = any(_BOXES.search(str(name)) for name in (*names, *itertools.chain(*columns)))
    boxes |= any(all(any(re.search(axis, name) for name in each) for axis in _AXES) for each in columns)
    return f"`{name}` moves the image and not its boxes: they no longer fit together." if boxes else None


def _is_other_file(moved: Call, image: Call) -> bool:
    """One function moves two images that were decoded from two files: a pair, and not two views of one image."""
    decoded = [
        {id(one) for one in walk(call) if isinstance(one, Call) and _READS_IMAGE.fullmatch(one.name)}
        for call in (moved, image)
    ]
    return moved.within == image.within and all(decoded) and not decoded[0] & decoded[1]


def _is_mask(moved: Call, value: Value) -> bool:
    """A name or a key says that it belongs to the image: two views of one image may be drawn separately."""
    names = [str(one.index.value) for one in walk(value) if isinstance(one, Item) and isinstance(one.index, Literal)]
    node = moved.node.args[0] if isinstance(moved.node, ast.Call) and moved.node.args else None
    names += [one.id for one in ast.walk(node) if isinstance(one, ast.Name)] if node is not None else []
    return any(_MASK.search(name) for name in names)


def _same_draw(first: Call, second: Call) -> bool:
    """Both draw the same random numbers: by one seed. What is not known counts as the same."""
    seeds = []
    for call in (first, second):
        layer = _moving_layer(call)
        stateless = "stateless" in call.name
        seed = layer.argument(None, "seed") if layer is not None else call.argument(None, "seed")
        seeds.append(call.argument(1, "seed") if stateless and seed is None else seed)
    one, other = seeds
    if one is None or other is None:
        return False
    if isinstance(one, Literal) and isinstance(other, Literal):
        one_layer = _moving_layer(first) is not None and _moving_layer(first) is _moving_layer(second)
        return bool(one.value == other.value) and not one_layer
    return True


def _generators_apart(program: Program) -> Iterator[Finding]:
    """Images and masks from two ImageDataGenerators without one seed for both."""
    for call, *flows in paired_flows(program.calls):
        named = [program.text(flow.call.expression) for flow in flows] + [program.text(call.expression)]
        if call.name != "builtins.zip" and not any(_MASK.search(text) for text in named):
            continue
        seeds = [flow.option("seed") for flow in flows]
        draws = any(flow.augments_by or flow.shuffles for flow in flows)
        known = [one.value for one in seeds if isinstance(one, Literal)]
        if draws and (None in seeds or (len(known) == 2 and known[0] != known[1])):
            yield program.finding(
                mask_left_behind,
                call.expression,
                "Images and masks come from two generators, each with its own random numbers: they no longer fit "
                "together.",
                advice="Give both `flow` calls the same `seed`.",
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
    for model in program.models:
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
    """The resize that decides an image's size: what comes after it leaves the size as it is."""
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
