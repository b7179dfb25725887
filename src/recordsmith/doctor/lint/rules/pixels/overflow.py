"""The rule on 8-bit numbers that wrap around."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Slice,
    Value,
    options_of,
    walk,
)
from recordsmith.doctor.lint.libraries.arrays import dtype_named, dtype_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["OVERFLOW_RULES"]

_PIXELS = re.compile(
    r"cv2\.(imread|imdecode|cvtColor|resize|flip|GaussianBlur|medianBlur)|PIL\.Image\.open|numpy\.(array|asarray)"
    r"|\.(convert|resize|crop|copy|reshape)|imageio\.(v2\.|v3\.)?imread|tensorflow\.io\.decode_(jpeg|png|image|bmp)"
    r"|torchvision\.io\.(read_image|decode_image)|numpy\.(flip|fliplr|flipud|rot90|squeeze|expand_dims)"
)
_IMAGES = re.compile(r"keras\.datasets\.\w+\.load_data|tensorflow\.io\.decode_raw|numpy\.frombuffer")
_LARGEST = 255
_FAR = 16  # what is added to bytes that are pixels, not class numbers
_READS = re.compile(
    r"torchvision\.io\.(read_image|decode_image)|cv2\.(imread|imdecode)|PIL\.Image\.open|imageio\..*imread|tensorflow\.io\.decode_\w+"
)


@rule("P244", "pixels-wrap-around", Severity.WARNING)
def pixels_wrap_around(program: Program) -> Iterator[Finding]:
    """Arithmetic on 8-bit pixels goes beyond 0 to 255 and wraps around.

    Why it matters:
        Images are read as `uint8`. There, 250 + 10 is 4 and 3 - 5 is 254: bright places become black and small
        differences become large ones, without an error.

    Example:
        `cv2.imread(path) + 60`, or `frame - background`.

    Fix:
        Convert first, `image.astype("int16")` or `image.astype("float32")`; limit before converting back:
        `np.clip(image * 1.5, 0, 255).astype("uint8")`. `cv2.add` and `cv2.absdiff` do so by themselves.
    """
    seen: set[int] = set()
    for value in (*program.operations, *program.calls):
        found = _wraps(value)
        if found is not None and value.node is not None and id(value.node) not in seen:
            seen.add(id(value.node))
            yield program.finding(
                pixels_wrap_around,
                value.node,
                f"{found} These are 8-bit pixels: beyond 0 to 255 they wrap around, so that 256 becomes 0 and -1 "
                "becomes 255.",
            )


def _wraps(value: Value) -> str | None:
    if isinstance(value, Call):
        return _cast_back(value)
    if not isinstance(value, Operation) or len(value.operands) != 2:
        return None
    left, right = (_present(one) for one in value.operands)
    pixels = [_is_pixels(one) for one in (left, right)]
    if any(pixels):
        pixels = [
            one or (isinstance(part, Call) and dtype_of(part) == "uint8")
            for one, part in zip(pixels, (left, right), strict=True)
        ]
    if value.operator in ("-", "+") and all(pixels) and (left is not right or _are_two(value)):
        return f"Two images are {'added' if value.operator == '+' else 'subtracted'}."
    if isinstance(right, Call) and right.name == "numpy.uint8" and right.args:
        right = right.args[0]
    number = right.value if isinstance(right, Literal) else None
    large = isinstance(number, int) and abs(number) >= _FAR and value.operator in ("+", "-")
    pixels[0] |= large and isinstance(left, Call) and left.name == ".astype" and dtype_of(left) == "uint8"
    if not pixels[0] or not isinstance(number, int) or isinstance(number, bool):
        return None
    if number > _LARGEST:  # numpy takes a wider type then, or refuses
        return None
    if value.operator == "*" and number > 1:
        return f"Pixels are multiplied by {number}."
    if value.operator in ("+", "-") and abs(number) > 1:
        return (
            f"{abs(number)} is {'added to' if (value.operator == '+') == (number > 0) else 'subtracted from'} pixels."
        )
    return None


def _present(value: Value) -> Value:
    """What a value is that is None in the first turn of a loop, as the frame before the first one."""
    known = [one for one in options_of(value) if not (isinstance(one, Literal) and one.value is None)]
    return known[0] if len(known) == 1 else value


def _are_two(value: Operation) -> bool:
    """Two members of one collection, as of `before, after = (read(path) for path in pair)`."""
    node = value.node
    return isinstance(node, ast.BinOp) and ast.unparse(node.left) != ast.unparse(node.right)


def _cast_back(call: Call) -> str | None:
    """`(image * 1.5).astype("uint8")` without a limit in between."""
    if call.name not in (".astype", "numpy.uint8") or (
        call.name == ".astype" and dtype_named(call.argument(0, "dtype")) != "uint8"
    ):
        return None
    value = call.receiver if call.name == ".astype" else call.argument(0)
    if not isinstance(value, Operation) or len(value.operands) != 2 or value.operator not in ("*", "+"):
        return None
    inner, factor = value.operands
    if isinstance(inner, Call) and inner.name == ".astype":
        inner = inner.receiver or inner
    number = factor.value if isinstance(factor, Literal) else None
    if not _is_pixels(inner) or not isinstance(number, int | float) or number <= 1:
        return None
    return "Pixels are made brighter and cast back to `uint8` without a limit."


def _is_pixels(value: Value | None) -> bool:
    """It is an image as it was read, at most resized, flipped or cut."""
    for _ in range(20):
        if isinstance(value, Call) and _READS.fullmatch(value.name):
            return (
                value.name.startswith(("PIL.Image.open", "torchvision.io"))
                or dtype_of(value) == "uint8"
                or value.name.startswith("tensorflow.")
            )
        if isinstance(value, Call) and _PIXELS.fullmatch(value.name) and value.argument(None, "dtype") is None:
            if value.name == "numpy.array" and len(value.args) > 1:
                return False
            if dtype_of(value) == "uint8":
                return True
            mode = value.argument(0, "mode") if value.name == ".convert" else None
            if isinstance(mode, Literal) and mode.value in ("1", "F", "I"):
                return False
            value = value.receiver if value.name.startswith(".") else value.argument(0)
        elif isinstance(value, Item) and not value.attribute and isinstance(value.index, Slice | Group):
            value = value.base
        elif isinstance(value, Many):
            value = value.member
        elif isinstance(value, Item) and isinstance(value.base, Call) and value.base.name == ".read":
            camera = value.base.receiver
            return isinstance(camera, Call) and camera.name == "cv2.VideoCapture"
        else:
            return dtype_of(value) == "uint8" and _are_images(value)
    return False


def _are_images(value: Value | None) -> bool:
    """Arrays of a set of images, or bytes that were decoded to pixels: more than a few small numbers."""
    parts = list(walk(value, 30))
    compared = any(isinstance(one, Operation) and one.operator == "compare" for one in parts)  # 0 and 1
    return not compared and any(_IMAGES.fullmatch(one.name) for one in parts if isinstance(one, Call))


OVERFLOW_RULES = [pixels_wrap_around]
