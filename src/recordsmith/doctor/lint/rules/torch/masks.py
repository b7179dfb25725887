"""Rules on images and the masks that belong to them, in PyTorch datasets."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Literal, Operation, Symbol, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import function_of, statement_of
from recordsmith.doctor.lint.libraries.torch.moved_alone import moved_alone
from recordsmith.doctor.lint.libraries.torch.transforms import (
    applied_transforms,
    is_geometric,
    step_name,
    sure_parts,
    transform_steps,
)
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["IMAGE_READERS", "MASK_RULES", "is_mask"]

_MASK = re.compile(r"mask|(^|_)seg|label_?map|annot|ground_?truth|(^|_)gt(_|$)", re.IGNORECASE)
IMAGE_READERS = {
    "cv2.imread", "cv2.imdecode", "PIL.Image.open", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread",
    "skimage.io.imread", "matplotlib.pyplot.imread", "matplotlib.image.imread",
}  # fmt: skip
_SEEDS = {
    "torch.manual_seed",
    "random.seed",
    "numpy.random.seed",
    "torch.random.set_rng_state",
    "torch.set_rng_state",
    "random.setstate",
}


def _names_in(node: ast.AST | None) -> list[str]:
    found = [] if node is None else [one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)]
    return [one.id if isinstance(one, ast.Name) else one.attr for one in found]


def is_mask(node: ast.AST | None) -> bool:
    """Tell whether the source calls something a mask."""
    return any(_MASK.search(word) for word in _names_in(node))


def _argument_node(call: Call) -> ast.expr | None:
    """What a transform is applied to."""
    node = call.expression
    image = next((one.value for one in node.keywords if one.arg == "image"), None)
    return image or (node.args[0] if node.args else None)


@rule("P122", "image-and-mask-apart", Severity.ERROR)
def image_and_mask_apart(program: Program) -> Iterator[Finding]:
    """An image and its mask go through random transforms separately.

    Why it matters:
        Each call of a random transform draws anew: the image is flipped and the mask is not, or both are cropped in
        different places. The mask then belongs to other pixels, and the model learns noise.

    Example:
        `image = self.transform(image); mask = self.transform(mask)` with `RandomHorizontalFlip` in it.

    Fix:
        Transform both in one call: `transforms.v2` and albumentations take image and mask together. Or draw the random
        numbers once and apply `torchvision.transforms.functional` with them to both.
    """
    seen: set[int] = set()
    calls = [one for one in program.calls if one.name == "()" and one.node is not None]
    for mask in calls:
        steps, _ = transform_steps(mask.receiver)
        moves = [step for step in steps if is_geometric(step)]
        owner = function_of(mask.expression)
        if not moves or not is_mask(_argument_node(mask)) or len(mask.expression.args) > 1 or id(owner) in seen:
            continue
        if any(one.arg in ("mask", "masks", "bboxes", "keypoints") for one in mask.expression.keywords):
            continue
        others = [
            one
            for one in calls
            if one is not mask
            and function_of(one.expression) is owner
            and one.node is not mask.node
            and any(map(is_geometric, transform_steps(one.receiver)[0]))
            and not is_mask(_argument_node(one))
        ]
        reset = any(
            one.name in _SEEDS for one in program.calls if one.node is not None and function_of(one.expression) is owner
        )
        if others and not reset:
            seen.add(id(owner))
            yield program.finding(
                image_and_mask_apart,
                mask.expression,
                f"The image and its mask go through `{step_name(moves[0])}` in two calls, each with random numbers of "
                "its own: the mask no longer fits the image.",
            )
    yield from _pair_apart(program, seen)
    yield from _mask_left_behind(program)
    yield from _drawn_apart(program)
    for place, name, call, other in moved_alone(program.source.nodes):
        yield program.finding(
            image_and_mask_apart,
            place,
            f"`{name}` goes through `{call}` and `{other}` does not, though another branch moves both: they no longer "
            "fit each other.",
            severity=Severity.WARNING,
        )


def _pair_apart(program: Program, seen: set[int]) -> Iterator[Finding]:
    """Two files of the same number go through one random transform, one after the other."""
    by_function: dict[int, list[tuple[Call, Call]]] = {}
    for call in program.calls:
        owner = function_of(call.expression) if call.name == "()" and isinstance(call.node, ast.Call) else None
        moves = [step for step in transform_steps(call.receiver)[0] if is_geometric(step)]
        if owner is None or not moves or id(owner) in seen or len(call.args) != 1 or call.expression.keywords:
            continue
        reads = [one for one in sure_parts(call.args[0]) if isinstance(one, Call) and one.name in IMAGE_READERS]
        same_index = reads and any(isinstance(one, Element) and one.kind == "index" for one in walk(reads[0], 60))
        if len(reads) == 1 and same_index:
            by_function.setdefault(id(owner), []).append((call, reads[0]))
    for calls in by_function.values():
        for (first, one), (second, other) in itertools.combinations(calls, 2):
            apart = one is not other and one.node is not other.node and first.node is not second.node
            owner = function_of(first.expression)
            reset = any(
                made.name in _SEEDS and made.node is not None and function_of(made.expression) is owner
                for made in program.calls
            )
            if (
                apart
                and first.receiver is second.receiver
                and not reset
                and not _is_drawn(one)
                and not _is_drawn(other)
            ):
                step = next(step for step in transform_steps(first.receiver)[0] if is_geometric(step))
                yield program.finding(
                    image_and_mask_apart,
                    second.expression,
                    f"Two images that belong together go through `{step_name(step)}` in two calls, each with random "
                    "numbers of its own: they no longer fit each other.",
                    severity=Severity.WARNING,
                )
                return


def _is_drawn(read: Call) -> bool:
    """Which file it reads is drawn at random, as of a second example for comparison."""
    return any(
        isinstance(one, Call) and re.search(r"random|choice|randint|sample|negative", one.name)
        for one in walk(read, 60)
    )


def _mask_left_behind(program: Program) -> Iterator[Finding]:
    """Only the image goes through a random transform that moves its pixels."""
    for pipeline in torch_loaders(program):
        element = pipeline.element
        members = element.members if isinstance(element, Group) else ()
        if len(members) != 2 or pipeline.source.call is None:
            continue
        image, mask = (getattr(one, "of", one) for one in members)
        moved = [step for _, steps, _ in applied_transforms(image) for step in steps if is_geometric(step)]
        still = not any(is_geometric(step) for _, steps, _ in applied_transforms(mask) for step in steps)
        reads = [one for one in sure_parts(mask) if isinstance(one, Call) and one.name in IMAGE_READERS]
        others = [one for one in sure_parts(image) if isinstance(one, Call) and one.name in IMAGE_READERS]
        if (
            moved
            and still
            and reads
            and others
            and not any(one is other for one in reads for other in others)
            and is_mask(statement_of(reads[0].expression))
        ):
            yield program.finding(
                image_and_mask_apart,
                moved[0].expression,
                f"`{step_name(moved[0])}` moves the pixels of the image, but not those of its mask: the mask no longer "
                "fits the image.",
            )
            return


_MOVES = re.compile(r"(^|\.)(hflip|vflip|rotate|crop|resized_crop|affine|fliplr|flipud|flip|rot90|mirror|FLIP_\w+)\b")
_DRAW = re.compile(r"random|rand\(|np\.random|\.uniform\(|\.random\(")


def _drawn_apart(program: Program) -> Iterator[Finding]:
    """By hand: `if random.random() < 0.5` around the image alone, and not around what belongs to it."""
    for function in program.source.nodes:
        if not isinstance(function, ast.FunctionDef) or function.name not in ("__getitem__", "__call__", "transform"):
            continue
        moved = [
            (node, _moved(node))
            for node in function.body
            if isinstance(node, ast.If) and _DRAW.search(ast.unparse(node.test))
        ]
        moved += [
            (inner, _moved(inner))
            for outer in function.body
            if isinstance(outer, ast.If)
            for inner in outer.body
            if isinstance(inner, ast.If) and _DRAW.search(ast.unparse(inner.test))
        ]
        returned = {
            name for node in ast.walk(function) if isinstance(node, ast.Return) for name in _names_in(node.value)
        }
        companions = {name for name in returned if _MASK.search(name) or _BOXES.search(name)}
        for node, names in moved:
            alone = {name for name in names if not _MASK.search(name) and not _BOXES.search(name)}
            together = names | {target for one in ast.walk(node) for target in _assigned(one)}
            left = companions - together
            if alone and left and companions and not companions & together and alone & returned:
                yield program.finding(
                    image_and_mask_apart,
                    node.body[0],
                    f"`{min(alone)}` is moved at random here, and `{min(left)}` is not moved with it: they no longer "
                    "fit.",
                )
                return


_BOXES = re.compile(r"box|keypoint|landmark", re.IGNORECASE)


def _moved(node: ast.If) -> set[str]:
    found = [
        one
        for one in node.body
        if isinstance(one, ast.Assign) and _MOVES.search(ast.unparse(one.value).split("(")[0] + ast.unparse(one.value))
    ]
    return {name for one in found for name in _assigned(one)}


def _assigned(node: ast.AST) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return [name for target in targets for name in _names_in(target)]


@rule("P123", "mask-interpolated", Severity.WARNING)
def mask_interpolated(program: Program) -> Iterator[Finding]:
    """A mask of class numbers is resized with an interpolation that mixes neighbouring values.

    Why it matters:
        Between class 2 and class 4, a bilinear interpolation writes 3, which is another class. Masks get a border of
        wrong classes around every object.

    Example:
        `mask = cv2.resize(mask, (256, 256))`, which is bilinear by default.

    Fix:
        Use the nearest value: `interpolation=cv2.INTER_NEAREST`, `Image.NEAREST`, `InterpolationMode.NEAREST`, or
        `mode="nearest"`.
    """
    seen: set[int] = set()
    for call in program.calls:
        if call.node is None or id(call.node) in seen or not isinstance(call.node, ast.Call):
            continue
        subject = _resized(call)
        owner = function_of(call.expression)
        prepares = isinstance(owner, ast.FunctionDef) and re.search(_PREPARES, owner.name)
        if not prepares or subject is None or not is_mask(subject) or _is_thresholded(call, subject):
            continue
        if call.name == "cv2.resize" and _is_yes_or_no(call.argument(0, "src")):
            continue
        seen.add(id(call.node))
        yield program.finding(
            mask_interpolated,
            call.expression,
            f"`{ast.unparse(subject)}` is resized with interpolation, which mixes the class numbers of neighbouring "
            "pixels: use the nearest value.",
        )


_PREPARES = r"^__(getitem|call|iter)__$|load|read|prepar|preproc|transform|augment|dataset|resize|collate|get_|parse"


_RESIZES = {
    "cv2.resize",
    ".resize",
    "torchvision.transforms.functional.resize",
    "torch.nn.functional.interpolate",
    "()",  # of a transform
}


def _resized(call: Call) -> ast.expr | None:
    """What a call resizes with interpolation for certain; None otherwise."""
    node = call.expression
    first = node.args[0] if node.args else None
    if call.name not in _RESIZES or "NEAREST" in ast.unparse(node).upper():
        return None
    if call.name == "cv2.resize":
        return first if not _is_nearest(call.argument(5, "interpolation"), default=False) else None
    if call.name == ".resize" and isinstance(node.func, ast.Attribute) and _is_pillow(call.receiver):
        return node.func.value if not _is_nearest(call.argument(1, "resample"), default=False) else None
    if call.name == "torchvision.transforms.functional.resize":
        return first if not _is_nearest(call.argument(2, "interpolation"), default=False) else None
    if call.name == "torch.nn.functional.interpolate":
        mode = call.argument(3, "mode")
        mixes = isinstance(mode, Literal) and mode.value in ("bilinear", "bicubic", "linear", "trilinear")
        owner = function_of(node)
        example = isinstance(owner, ast.FunctionDef) and owner.name in ("__getitem__", "__call__")
        return first if mixes and example else None
    if call.name == "()":
        steps, _ = transform_steps(call.receiver)
        resizes = [one for one in steps if one.name == "torchvision.transforms.Resize"]
        if resizes and not _is_nearest(resizes[0].argument(1, "interpolation"), default=False):
            return _argument_node(call) if len(node.args) == 1 and not node.keywords else None
    return None


def _is_nearest(value: Value | None, *, default: bool) -> bool:
    if value is None:
        return default
    if isinstance(value, Symbol):
        return "NEAREST" in value.path.upper()
    return not (isinstance(value, Literal) and value.value not in (0, "nearest"))


def _is_pillow(value: Value | None) -> bool:
    while isinstance(value, Call) and value.name in (".convert", ".crop", ".rotate", ".transpose"):
        value = value.receiver
    return isinstance(value, Call) and value.name in ("PIL.Image.open", "PIL.Image.fromarray")


def _is_yes_or_no(value: Value | None) -> bool:
    """A mask that a comparison made has two values: between them there is no other class, and OpenCV rounds."""
    while isinstance(value, Call) and value.name == ".astype":
        value = value.receiver
    if isinstance(value, Call) and value.name == "numpy.where":
        return len(value.args) == 3 and all(isinstance(one, Literal) for one in value.args[1:])
    return isinstance(value, Operation) and value.operator == "compare"


def _is_thresholded(call: Call, subject: ast.expr) -> bool:
    """What comes out is compared or rounded, so that mixed values do no harm; or it is no map of classes."""
    area = function_of(call.expression)
    text = ast.unparse(area) if area is not None else ""
    names = {one for one in _names_in(subject) if _MASK.search(one)}
    target = getattr(statement_of(call.expression), "targets", [])
    names |= {ast.unparse(one) for one in target}
    compared = any(
        re.search(
            rf"\b{re.escape(name)}\b[^\n]{{0,12}}(>|<|==)|round\([^\n]*{re.escape(name)}|where\([^\n]*{re.escape(name)}",
            text,
        )
        for name in names
    )
    inside = getattr(call.node, "parent", None)
    return (
        compared
        or isinstance(inside, ast.Compare)
        or bool(
            re.search(
                r"soft|alpha|output|result|prob|logit|pred|heat|visual|show|saliency|attention", ast.unparse(subject)
            )
        )
    )


MASK_RULES = [image_and_mask_apart, mask_interpolated]
