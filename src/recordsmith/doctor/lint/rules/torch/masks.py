"""Rules on images and the masks that belong to them, in PyTorch datasets."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Operation, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import function_of, statement_of
from recordsmith.doctor.lint.libraries.torch.examples import (
    called,
    is_class_numbers,
    is_coordinates,
    is_moved,
    leaves,
    moved_at_random,
)
from recordsmith.doctor.lint.libraries.torch.moved_alone import moved_alone
from recordsmith.doctor.lint.libraries.torch.transforms import (
    is_geometric,
    step_name,
    sure_parts,
    transform_steps,
)
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["IMAGE_READERS", "MASK_RULES", "argument_node", "is_mask", "names_in"]

_MASK = re.compile(r"mask|(^|_)seg|label_?map|annot|ground_?truth|(^|_)gt(_|$)", re.IGNORECASE)
IMAGE_READERS = {
    "cv2.imread", "cv2.imdecode", "PIL.Image.open", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread",
    "skimage.io.imread", "matplotlib.pyplot.imread", "matplotlib.image.imread", "torchvision.io.read_image",
    "torchvision.io.decode_image",
}  # fmt: skip
_SEEDS = {
    "torch.manual_seed",
    "random.seed",
    "numpy.random.seed",
    "torch.random.set_rng_state",
    "torch.set_rng_state",
    "random.setstate",
}


def names_in(node: ast.AST | None) -> list[str]:
    """Return the names of variables and attributes in a piece of source."""
    found = [] if node is None else [one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)]
    return [one.id if isinstance(one, ast.Name) else one.attr for one in found]


def is_mask(node: ast.AST | None) -> bool:
    """Tell whether the source calls something a mask."""
    return any(_MASK.search(word) for word in names_in(node))


def argument_node(call: Call) -> ast.expr | None:
    """Return what a transform is applied to."""
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
        if not moves or not is_mask(argument_node(mask)) or len(mask.expression.args) > 1 or id(owner) in seen:
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
            and not is_mask(argument_node(one))
        ]
        reset = any(
            one.name in _SEEDS for one in program.calls if one.node is not None and function_of(one.expression) is owner
        )
        if others and not reset:
            seen.add(id(owner))
            yield program.finding(
                image_and_mask_apart,
                mask.expression,
                f"The image and its mask go through `{step_name(moves[0])}` in two calls, each with its own random "
                "numbers: the mask no longer fits the image.",
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
        alone = len(call.args) + len(call.keywords) == 1 and set(call.keywords) <= {"image"}
        if owner is None or not moves or id(owner) in seen or not alone:
            continue
        reads = [
            one for one in sure_parts(call.argument(0, "image")) if isinstance(one, Call) and one.name in IMAGE_READERS
        ]
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
                    f"Two images that belong together go through `{step_name(step)}` in two calls, each with its "
                    "own random numbers: they no longer fit each other.",
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
    """Only the image is moved at random: by a transform, or where a random number decides."""
    stored = {id(one.receiver) for one in program.calls if one.name == ".__setitem__"}
    for pipeline in torch_loaders(program):
        members = [one for one in leaves(pipeline.element) if _reads(one)]
        moved_image = next((one for part in members if (one := moved_at_random(part)) is not None), None)
        for part in leaves(pipeline.element) if moved_image is not None and len(members) == 1 else ():
            changed = any(id(one) in stored or isinstance(one, Operation) for one in walk(part, 60))
            if part is not members[0] and is_coordinates(part) and not changed and moved_image is not None:
                yield program.finding(
                    image_and_mask_apart,
                    moved_image.expression,
                    f"`{called(moved_image)}` moves the pixels of the image, but not its points or boxes: they no "
                    "longer fit the image.",
                )
                return
        for image, mask in itertools.permutations(members, 2):
            moved = None if is_class_numbers(image) else moved_at_random(image)
            if (
                moved is None
                or is_moved(mask)
                or {id(one) for one in _reads(image)} & {id(one) for one in _reads(mask)}
            ):
                continue
            if is_class_numbers(mask) or is_mask(statement_of(_reads(mask)[0].expression)):
                yield program.finding(
                    image_and_mask_apart,
                    moved.expression,
                    f"`{called(moved)}` moves the pixels of the image, but not those of its mask: the mask no longer "
                    "fits the image.",
                )
                return


def _reads(value: Value) -> list[Call]:
    return [one for one in walk(value, 200) if isinstance(one, Call) and one.name in IMAGE_READERS]


_MOVES = re.compile(r"(^|\.)(hflip|vflip|rotate|crop|resized_crop|affine|fliplr|flipud|flip|rot90|mirror|FLIP_\w+)\b")
_DRAW = re.compile(r"random|rand\(|np\.random|\.uniform\(|\.random\(")


def _drawn_apart(program: Program) -> Iterator[Finding]:
    """By hand: `if random.random() < 0.5` around the image alone, and not around what belongs to it."""
    for function in program.source.nodes:
        if not isinstance(function, ast.FunctionDef):
            continue
        moved = [
            (node, _moved(node))
            for node in ast.walk(function)
            if isinstance(node, ast.If) and _DRAW.search(ast.unparse(node.test))
        ]
        returned = {
            name for node in ast.walk(function) if moved for given in _given_on(node) for name in names_in(given)
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


def _given_on(node: ast.AST) -> list[ast.expr | None]:
    """What a function returns, yields, or puts into a list."""
    match node:
        case ast.Return(value=value) | ast.Yield(value=value):
            return [value]
        case ast.Call(func=ast.Attribute(attr="append"), args=args):
            return list(args)
    return []


_BOXES = re.compile(r"box|keypoint|landmark", re.IGNORECASE)


def _moved(node: ast.If) -> set[str]:
    found = [
        one
        for one in node.body
        if isinstance(one, ast.Assign)
        and (_MOVES.search(ast.unparse(one.value)) or _MIRRORS.search(ast.unparse(one.value)))
    ]
    return {name for one in found for name in _assigned(one)}


_MIRRORS = re.compile(r"\[(:, )?::-1(, :)?\]")  # rows or columns, and not the channels, which come last


def _assigned(node: ast.AST) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return [name for target in targets for name in names_in(target)]


MASK_RULES = [image_and_mask_apart]
