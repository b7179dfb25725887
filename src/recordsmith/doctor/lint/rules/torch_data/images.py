"""Rules on the pixels, axes, masks and boxes of PyTorch datasets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Slice,
    Symbol,
    Table,
    Value,
    options_of,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import function_of
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.libraries.torch.modules import losses
from recordsmith.doctor.lint.libraries.torch.scaled_pixels import is_whole
from recordsmith.doctor.lint.libraries.torch.tensors import last_layer
from recordsmith.doctor.lint.libraries.torch.transforms import step_name, transform_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.masks import IMAGE_READERS, is_mask
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["IMAGE_DATA_RULES"]

_KEEPS_AXES = re.compile(
    r"\.(float|div|to|cuda|clone|contiguous|copy|astype|sub|mul|div_|sub_)|torch\.(from_numpy|tensor)"
)


@rule("P160", "float-pixels-not-scaled", Severity.WARNING)
def float_pixels_not_scaled(program: Program) -> Iterator[Finding]:
    """`ToTensor` is given an array of floats, which it does not divide by 255.

    Why it matters:
        `ToTensor` divides whole numbers (uint8) and PIL images by 255, and leaves floats as they are. After
        `astype(np.float32)` the pixels stay between 0 and 255, and a `Normalize` made for 0 to 1 gives inputs of up to
        1,000.

    Example:
        `transforms.ToTensor()(cv2.imread(path).astype(np.float32))`

    Fix:
        Leave out `astype`, or divide by 255 yourself.
    """
    for call in program.calls:
        if call.node is None or not call.args:
            continue
        steps = [step_name(one) for one in transform_steps(call.receiver)[0]] if call.name == "()" else []
        tensor = steps[:1] == ["ToTensor"] or call.name == "torchvision.transforms.functional.to_tensor"
        given = call.args[0]
        if not tensor or is_whole(given) is not False or is_mask(call.expression.args[0]):
            continue
        scaled = scaling_of(given)
        divided = _is_divided(call, program)
        if scaled is not None and scaled.root == "image" and scaled.factor == 1.0 and not scaled.steps and not divided:
            yield program.finding(
                float_pixels_not_scaled,
                call.expression,
                "`ToTensor` divides whole numbers by 255, but these pixels are floats already: they stay between 0 and "
                "255.",
            )
            return


def _is_divided(call: Call, program: Program) -> bool:
    """What comes out is divided by 255 afterwards."""
    function = function_of(call.expression)
    return bool(re.search(r"/ *255|/ *127|div_?\(255", ast.unparse(function or program.source.tree)))


def channels_first(value: Value | None, depth: int = 16) -> bool:
    """Tell whether an image has its channels first for certain.

    >>> channels_first(Call("torchvision.transforms.functional.to_tensor", None))
    True
    """
    match value:
        case _ if depth == 0:
            return False
        case Call(name="torchvision.transforms.functional.to_tensor" | "torchvision.io.read_image"):
            return True
        case Call(name="()"):
            names = [step_name(one) for one in transform_steps(value.receiver)[0]]
            return "ToTensor" in names and "ToPILImage" not in names[names.index("ToTensor") :]
        case Call(name=".permute" | ".transpose", args=args):
            axes = args[0].members if len(args) == 1 and isinstance(args[0], Group) else args
            numbers = [one.value for one in axes if isinstance(one, Literal)]
            return numbers == [2, 0, 1] and _is_read(value.receiver)
        case Call(name=name) if _KEEPS_AXES.fullmatch(name):
            return channels_first(value.receiver if name.startswith(".") else value.argument(0), depth - 1)
        case Operation(operands=(first, _)):
            return channels_first(first, depth - 1)
        case Many(member=member):
            return channels_first(member, depth - 1)
    return False


def _is_read(value: Value | None) -> bool:
    return any(isinstance(one, Call) and one.name in IMAGE_READERS for one in walk(value, 60))


@rule("P162", "columns-taken-for-channels", Severity.ERROR)
def columns_taken_for_channels(program: Program) -> Iterator[Finding]:
    """A tensor with the channels first is indexed as if they came last.

    Why it matters:
        `ToTensor` and `permute(2, 0, 1)` put the channels first. `image[:, :, 0]` is then the first column of pixels:
        a normalisation changes three columns and leaves the rest of the image as it was.

    Example:
        `image = to_tensor(image)`, then `image[:, :, i] -= mean[i]`.

    Fix:
        Index the first axis: `image[i] -= mean[i]`.
    """
    for item in program.items:
        if not isinstance(item, Item) or item.attribute or item.node is None or not isinstance(item.index, Group):
            continue
        match item.index.members:
            case (Slice(lower=None, upper=None), Slice(lower=None, upper=None), last):
                channel = isinstance(last, Literal) and last.value in (0, 1, 2) and type(last.value) is int
                channel |= _counts_to_three(item.node)
            case _:
                continue
        parent = getattr(item.node, "parent", None)
        changed = isinstance(parent, ast.AugAssign | ast.BinOp | ast.Assign)
        if channel and changed and channels_first(item.base):
            yield program.finding(
                columns_taken_for_channels,
                item.node,
                f"`{program.text(item.node)}` is a column of pixels: the channels of this image come first.",
            )
            return


def _counts_to_three(node: ast.AST) -> bool:
    """The last index is the counter of a loop over `range(3)`."""
    last = node.slice.elts[-1] if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else None
    outer = getattr(node, "parent", None)
    while outer is not None and not isinstance(outer, ast.FunctionDef | ast.Module):
        if isinstance(outer, ast.For) and ast.unparse(outer.iter) == "range(3)":
            return isinstance(last, ast.Name) and ast.unparse(outer.target) == last.id
        outer = getattr(outer, "parent", None)
    return False


@rule("P165", "mask-as-it-is-stored", Severity.INFO)
def mask_as_it_is_stored(program: Program) -> Iterator[Finding]:
    """A mask goes to the loss as its file stores it, where a model with one or two outputs expects 0 and 1.

    Why it matters:
        Black and white masks are mostly stored as 0 and 255. `CrossEntropyLoss` then asks for class 255 and stops, or
        the binary loss becomes negative and the model learns to answer with ever larger numbers.

    Example:
        `mask = torch.from_numpy(cv2.imread(path, 0)).long()` for a model with two outputs.

    Fix:
        Compare once: `mask = (mask > 127).astype("int64")`.
    """
    for call, loss, prediction, target, _ in losses(program.calls):
        layer = last_layer(prediction)
        units = layer[1].argument(1, "out_features", "out_channels") if layer else None
        few = isinstance(units, Literal) and units.value in (1, 2)
        stored = _stored_mask(target)
        classes = loss in ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
        if few and classes and stored is not None:
            yield program.finding(
                mask_as_it_is_stored,
                stored.expression,
                "The mask goes to the loss as it is stored. If the file holds 0 and 255, as most masks do, compare it "
                f"first, `mask > 127`: the model has {units.value if isinstance(units, Literal) else 2} outputs.",
                evidence={"loss": program.text(call.expression)},
            )
            return


def _stored_mask(value: Value | None) -> Call | None:
    """The call that read a grey image whose numbers nothing has changed."""
    for _ in range(20):
        match value:
            case Element(of=inner) if inner is not None:
                value = inner
            case Call(name=name) if name in IMAGE_READERS:
                return value if _is_grey(value) else None
            case Call(name=".convert", receiver=inner, args=(Literal(value="L"),)):
                return inner if isinstance(inner, Call) and inner.name in IMAGE_READERS else None
            case Call(name=name) if re.fullmatch(
                r"\.(long|float|to|cuda|astype|unsqueeze|squeeze|copy|resize|int)", name
            ):
                value = value.receiver
            case Call(name=name) if re.fullmatch(
                r"torch\.(from_numpy|tensor|as_tensor)|numpy\.(array|asarray)|cv2\.resize", name
            ):
                value = value.argument(0)
            case Item(base=base, index=Literal(value=None)):
                value = base
            case _:
                return None
    return None


def _is_grey(call: Call) -> bool:
    flag = call.argument(1, "flags")
    if isinstance(flag, Literal) and flag.value == 0:
        return True
    grey = call.argument(None, "as_gray")
    return (isinstance(flag, Symbol) and "GRAY" in flag.path) or (isinstance(grey, Literal) and grey.value is True)


_PIXEL_BOXES = re.compile(r"^(xmin|ymin|xmax|ymax|bndbox|bbox|x1|y1)$")
_RESIZES = {"cv2.resize", ".resize", "torchvision.transforms.functional.resize", "skimage.transform.resize"}


@rule("P167", "boxes-not-resized", Severity.WARNING)
def boxes_not_resized(program: Program) -> Iterator[Finding]:
    """An image is resized, and its boxes stay in pixels of the original image.

    Why it matters:
        A box of 400 to 800 pixels lies outside of an image of 512 pixels. The boxes mark other places than the
        objects, and the detector learns nothing.

    Example:
        `image = cv2.resize(image, (512, 512))`, and the boxes of the annotation file as they were read.

    Fix:
        Multiply the boxes by the same factors: `boxes[:, [0, 2]] *= 512 / width`, `boxes[:, [1, 3]] *= 512 / height`.
    """
    sequences = [one for one in program.finished if one.source.kind == "sequence"]  # of Keras
    for pipeline in (*torch_loaders(program), *sequences):
        call = pipeline.source.call
        dataset = call.argument(0, "dataset", "x", "generator") if call is not None else None
        member = getattr(getattr(dataset, "program_class", None), "members", {}).get("__getitem__")
        text = ast.unparse(member.definition) if member is not None and hasattr(member, "definition") else ""
        resized = [one for one in pipeline.source.steps if one.name in _RESIZES or _is_resizing(one)]
        boxes = _boxes(pipeline.element) or _boxes_of_steps(pipeline.source.steps)
        if pipeline in sequences and isinstance(pipeline.element, Group) and len(pipeline.element.members) == 2:
            boxes = pipeline.element.members[1]
        if not resized or boxes is None or not text:
            continue
        parts = list(walk(boxes, 300))
        pixels = any(
            isinstance(one, Literal) and isinstance(one.value, str) and _PIXEL_BOXES.match(one.value) for one in parts
        )
        scaled = any(isinstance(one, Operation) and one.operator in ("*", "/") for one in parts)
        changed = re.search(
            r"box\w*(\[[^\n=]*\])? *(\*|/)=|scale|ratio|/ *(w|h|width|height|img_?w|img_?h)\b|bboxes=", text
        )
        if pixels and not scaled and not changed:
            yield program.finding(
                boxes_not_resized,
                resized[0].expression,
                "The image is resized here, and its boxes stay in pixels of the original image: they mark other places "
                "than the objects.",
            )
            return


def _is_resizing(call: Call) -> bool:
    steps, _ = transform_steps(call.receiver) if call.name == "()" else ([], False)
    return any(step_name(one) == "Resize" for one in steps) and len(call.args) == 1 and not call.keywords


def _boxes(element: Value) -> Value | None:
    """What a detection dataset gives as boxes."""
    for one in options_of(element):
        for part in walk(one, 60):
            if isinstance(part, Table) and "boxes" in part.entries:
                return part.entries["boxes"]
    return None


def _boxes_of_steps(steps: tuple[Call, ...]) -> Value | None:
    """Boxes that are made into a tensor under this name."""
    for one in steps:
        parent = getattr(one.node, "parent", None)
        if isinstance(parent, ast.Assign) and re.fullmatch(r"b?box(es)?", ast.unparse(parent.targets[0])):
            return one
    return None


@rule("P181", "normalised-by-one-example", Severity.INFO)
def normalised_by_one_example(program: Program) -> Iterator[Finding]:
    """A model with batch normalisation is trained on batches of one example.

    Why it matters:
        Each example is normalised by its own mean and deviation in training, and by the running averages afterwards,
        which jump with every example. Training looks well, and the same model fails in `eval()`.

    Example:
        `nn.BatchNorm3d(32)` and `DataLoader(volumes, batch_size=1)`.

    Fix:
        Use larger batches, or `nn.GroupNorm` or `nn.InstanceNorm`, which do not depend on the batch.
    """
    norms = [
        one for one in program.calls if re.fullmatch(r"torch\.nn\.BatchNorm[123]d", one.name) and one.node is not None
    ]
    for pipeline in torch_loaders(program):
        call = pipeline.source.call
        size = (call.argument(1, "batch_size") or Literal(1)) if call is not None else None
        one = isinstance(size, Literal) and size.value == 1 and not size.default
        if call is not None and norms and one and "training" in program.roles(pipeline) and call.exact:
            yield program.finding(
                normalised_by_one_example,
                norms[0].expression,
                f"{program.name_of(pipeline)} gives batches of one example, and this normalises by the batch: each "
                "example is normalised separately.",
            )
            return


IMAGE_DATA_RULES = [
    float_pixels_not_scaled,
    columns_taken_for_channels,
    mask_as_it_is_stored,
    boxes_not_resized,
    normalised_by_one_example,
]
