"""The rule on class numbers that are resized with interpolation, in PyTorch programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Literal, Operation, Symbol, Value
from recordsmith.doctor.lint.libraries.control_flow import function_of, statement_of
from recordsmith.doctor.lint.libraries.torch.examples import as_it_is, is_class_numbers, leaves
from recordsmith.doctor.lint.libraries.torch.modules import losses
from recordsmith.doctor.lint.libraries.torch.transforms import transform_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.masks import argument_node, is_mask, names_in
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["INTERPOLATION_RULES"]


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
    for call in _resized_class_numbers(program):
        if id(call.node) not in seen:
            seen.add(id(call.node))
            yield program.finding(
                mask_interpolated,
                call.expression,
                "Class numbers are resized here with interpolation, which mixes those of neighbouring pixels: use the "
                "nearest value.",
            )
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


def _resized_class_numbers(program: Program) -> Iterator[Call]:
    """What resizes a part of an example that is whole numbers in the end, or the target of a classifying loss."""
    targets = [target for _, name, _, target, _ in losses(program.calls) if name in ("cross_entropy", "nll_loss")]
    parts = [one for pipeline in torch_loaders(program) for one in leaves(pipeline.element)]
    for value in (*targets, *(one for one in parts if is_class_numbers(one))):
        for one in as_it_is(value):
            if not isinstance(one, Call) or not isinstance(one.node, ast.Call) or _resized(one, in_loss=True) is None:
                continue
            if not (one.name == "cv2.resize" and _is_yes_or_no(one.argument(0, "src"))):
                yield one


_PREPARES = r"^__(getitem|call|iter)__$|load|read|prepar|preproc|transform|augment|dataset|resize|collate|get_|parse"


_BY_ORDER = {"skimage.transform.resize", "skimage.transform.rescale", "scipy.ndimage.zoom"}
_RESIZES = {
    *_BY_ORDER,
    "cv2.resize",
    ".resize",
    "torchvision.transforms.functional.resize",
    "torch.nn.functional.interpolate",
    "()",  # of a transform
}


def _resized(call: Call, *, in_loss: bool = False) -> ast.expr | None:
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
        return first if mixes and (example or in_loss) else None
    if call.name in _BY_ORDER:
        order = call.argument(2, "order")
        mixes = order is None or (isinstance(order, Literal) and order.value != 0)
        return first if mixes else None
    if call.name == "()":
        steps, _ = transform_steps(call.receiver)
        resizes = [one for one in steps if one.name == "torchvision.transforms.Resize"]
        if resizes and not _is_nearest(resizes[0].argument(1, "interpolation"), default=False):
            return argument_node(call) if len(node.args) == 1 and not node.keywords else None
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
    names = {one for one in names_in(subject) if is_mask(ast.Name(one))}
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


INTERPOLATION_RULES = [mask_interpolated]
