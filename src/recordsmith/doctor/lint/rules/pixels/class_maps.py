"""The rule on masks of class numbers that are resized like photos."""

from __future__ import annotations

import ast
import collections
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import after_arguments
from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Literal, Operation, Symbol, Value, walk
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["CLASS_MAP_RULES"]

_MASK = re.compile(r"(^|_)(masks?|seg|segmentation|annotations?|label_?map|trimap)(_|$|\d)|mask$", re.IGNORECASE)
_CLASS_IMAGE = re.compile(r"(^|_)(masks?|seg|segmentation|annotations?|labels?|label_?map|gt)(_|$|\d)", re.IGNORECASE)
_CLASSES = r"sparse_categorical|SparseCategorical|to_categorical|one_hot|num_classes|n_classes|NUM_CLASSES"
_ONE_HOT = ("keras.utils.to_categorical", "tensorflow.one_hot", "keras.ops.one_hot")
_PLACE_OF_METHOD = 6  # of `interpolation` among the arguments of cv2.resize
_TORCH = re.compile(r"^\s*(import|from) torch\b", re.MULTILINE)
_SCORES = re.compile(r"logit|prob|pred|score|soft|heat", re.IGNORECASE)
_ROUNDS = re.compile(
    r"tensorflow\.(round|math\.round|greater\w*|one_hot|(math\.)?(multiply|divide\w*|reciprocal\w*))|numpy\.(round|rint|where)|cv2\.threshold|\.round"
)


@rule("P243", "class-map-interpolated", Severity.WARNING)
def class_map_interpolated(program: Program) -> Iterator[Finding]:
    """A mask of class numbers is resized with interpolation between its values.

    Why it matters:
        Bilinear interpolation between class 0 and class 2 gives 1, another class, or a fraction. Along every border the
        mask then has classes that are not there.

    Example:
        `mask = tf.image.resize(mask, (128, 128))`

    Fix:
        Take the nearest value: `tf.image.resize(mask, (128, 128), method="nearest")`.
    """
    resized = [one for one in program.calls if _interpolates(one) and one.node is not None]
    scaled = _scaled_later(program) if resized else set()
    targets = _class_targets(program) if resized else set()
    for call in resized:
        if id(call) in scaled:
            continue
        if any(_is_computed(one) for one in _values_of(call)):
            continue
        if call.name == "cv2.resize" and (_TORCH.search(program.source.text) or not _has_classes(program)):
            continue  # P123 is about PyTorch; a mask of two values may have soft edges
        if id(call) in targets or _is_called_mask(call.expression) or _is_class_image(call):
            source = getattr(call.expression, "source", program.source)
            nearest = "interpolation=cv2.INTER_NEAREST" if call.name == "cv2.resize" else 'method="nearest"'
            edits = None if call.name in ("()", ".resize") else after_arguments(source, call.expression, nearest)
            yield program.finding(
                class_map_interpolated,
                call.expression,
                "A mask is resized with interpolation, which makes values between the class numbers: use the nearest "
                "value instead.",
                edits=edits,
                certain=edits is not None,
            )


def _is_computed(value: Value) -> bool:
    """A division or a comparison."""
    return isinstance(value, Operation) and value.operator in ("/", "compare") and not _is_path(value)


def _is_path(value: Value) -> bool:
    """`folder / "mask" / name`."""
    if isinstance(value, Literal):
        return isinstance(value.value, str)
    return isinstance(value, Operation) and value.operator == "/" and any(_is_path(one) for one in value.operands)


def _values_of(call: Call) -> Iterator[Value]:
    """What is resized and what it was made of, without the conditions that only choose among class numbers."""
    resized = call.receiver if call.name == ".resize" else call.argument(0, "images", "src")
    waiting = collections.deque(one for one in (resized,) if one is not None)
    for _ in range(40):
        if not waiting:
            return
        one = waiting.popleft()
        yield one
        chooses = isinstance(one, Call) and one.name in ("tensorflow.where", "numpy.where") and len(one.args) == 3
        waiting.extend(one.args[1:] if chooses and isinstance(one, Call) else one.parts())


def _has_classes(program: Program) -> bool:
    """Something is said of classes: a mask of two values may have soft edges."""
    return program.mentions(_CLASSES) or any(model.loss in ("sparse", "categorical") for model in program.models)


def _interpolates(call: Call) -> bool:
    """It resizes by the default, which is bilinear; a method that is given was chosen."""
    if call.name == "cv2.resize":
        return call.argument(None, "interpolation") is None and len(call.args) < _PLACE_OF_METHOD
    if call.name == ".resize":  # of Pillow, which takes the nearest value of an image with a palette by itself
        mode = call.receiver.argument(0, "mode") if isinstance(call.receiver, Call) else None
        converted = isinstance(call.receiver, Call) and call.receiver.name == ".convert"
        grey = converted and isinstance(mode, Literal) and mode.value in ("L", "I", "F")
        return grey and call.exact and len(call.args) == 1 and not call.keywords
    layer = call.receiver if call.name == "()" else None
    if isinstance(layer, Call) and layer.name == "keras.layers.Resizing":
        return layer.argument(2, "interpolation") is None and bool(call.args)
    return call.name == "tensorflow.image.resize" and call.argument(2, "method") is None


def _is_class_image(call: Call) -> bool:
    """An image file that is read as one channel, called a label or a mask, and resized by OpenCV."""
    given = call.expression.args[0] if call.expression.args else None
    read = call.argument(0, "src")
    words = [one.id for one in ast.walk(given) if isinstance(one, ast.Name)] if given is not None else []
    words += [
        str(one.value)
        for part in walk(read, 20)
        if isinstance(part, Call) and part.name in ("cv2.imread", "os.path.join")
        for one in part.args
        if isinstance(one, Literal)
    ]
    grey = any(isinstance(one, Symbol) and "GRAY" in one.path for one in walk(read, 20)) or any(
        isinstance(one, Call)
        and one.name == "cv2.imread"
        and isinstance(flag := one.argument(1, "flags"), Literal)
        and flag.value in (0, -1)
        for one in walk(read, 20)
    )
    return call.name == "cv2.resize" and grey and any(_CLASS_IMAGE.search(word) for word in words)


def _is_called_mask(node: ast.Call) -> bool:
    """What is resized is called a mask, and so is the result."""
    given = node.args[0] if node.args else None
    parent = getattr(node, "parent", None)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    names = [one.id if isinstance(one, ast.Name) else "" for one in (given, target)]
    return all(_MASK.search(name) and not _SCORES.search(name) for name in names)


def _scaled_later(program: Program) -> set[int]:
    """Masks that a division, a comparison or a rounding makes 0 and 1 later, and weights: soft edges do no harm."""
    found: set[int] = set()
    for value in (*program.operations, *program.calls):
        soft = isinstance(value, Operation) and value.operator in ("/", "compare")
        weighs = isinstance(value, Operation) and value.operator == "*"
        weighs = weighs and not any(isinstance(one, Literal) for one in value.parts())
        if soft or weighs or (isinstance(value, Call) and _ROUNDS.fullmatch(value.name)):
            found |= {id(one) for part in value.parts() for one in walk(part, 40)}
    return found


def _class_targets(program: Program) -> set[int]:
    """What is the target of a loss for class numbers, or is made one-hot."""
    found: set[int] = set()
    for call in program.calls:
        if call.name in _ONE_HOT and call.args:
            found |= {id(one) for one in walk(call.args[0], 20)}
    for model in program.models:
        for fit in model.fits if model.loss == "sparse" else ():
            found |= {id(one) for one in walk(fit.argument(1, "y"), 60)}
        for pipeline in model.trained_on if model.loss == "sparse" else ():
            element = pipeline.element
            inner = element.of if isinstance(element, Element) and element.of is not None else element
            if isinstance(inner, Group) and len(inner.members) >= 2:
                found |= {id(one) for one in walk(inner.members[1], 60)}
    return found


CLASS_MAP_RULES = [class_map_interpolated]
