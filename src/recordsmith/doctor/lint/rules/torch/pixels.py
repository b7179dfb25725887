"""Rules on images as a PyTorch model gets them: axes, order of transforms, channels, range."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Function,
    Group,
    Item,
    Literal,
    Operation,
    Value,
    options_of,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import function_of, statement_of
from recordsmith.doctor.lint.libraries.torch.tensors import last_layer
from recordsmith.doctor.lint.libraries.torch.transforms import (
    normalisation,
    step_name,
    sure_parts,
    transform_steps,
)
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.masks import IMAGE_READERS, is_mask
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Rule, Severity, rule

__all__ = ["PIXEL_RULES", "scaled_twice_in_torch"]


@rule("P124", "reshaped-for-permuted", Severity.ERROR)
def reshaped_for_permuted(program: Program) -> Iterator[Finding]:
    """The axes of an image are changed with `reshape` or `view`, which does not move pixels.

    Why it matters:
        Images are read as (height, width, channels). `reshape(3, height, width)` gives the shape that PyTorch expects,
        but keeps the order of the values: colours and positions are mixed up, and the image is noise.

    Example:
        `torch.from_numpy(cv2.imread(path)).reshape(3, 224, 224)`

    Fix:
        Move the axis: `image.transpose(2, 0, 1)` for arrays, `image.permute(2, 0, 1)` for tensors.
    """
    for call in program.calls:
        if call.name in (".reshape", ".view"):
            source, sizes = call.receiver, call.args
        elif call.name in ("numpy.reshape", "torch.reshape"):
            source, sizes = call.argument(0), call.args[1:]
        else:
            continue
        if len(sizes) == 1 and isinstance(sizes[0], Group):
            sizes = sizes[0].members
        numbers = [one.value if isinstance(one, Literal) else None for one in sizes]
        channels_first = (len(numbers) == 3 and numbers[0] == 3) or (
            len(numbers) == 4 and numbers[:2] in ([1, 3], [-1, 3])
        )
        if _is_stacked_state(source) and len(sizes) in (2, 3) and not _keeps_layers(sizes):
            yield program.finding(
                reshaped_for_permuted,
                call.expression,
                "The hidden state of a recurrent layer is (layers, batch, size), also with `batch_first=True`: `view` "
                "puts states of different examples into one row. Move the batch to the front first, with "
                "`transpose(0, 1)`.",
            )
        if len(numbers) == 2 and numbers[0] == -1 and _is_scores_of(source, numbers[1]):
            yield program.finding(
                reshaped_for_permuted,
                call.expression,
                "The channels of this output are its second axis: `view` mixes the scores of different positions. Move "
                "them to the end first: `out.permute(0, 2, 3, 1).reshape(-1, classes)`.",
            )
        if channels_first and numbers[-1] != 3 and _is_read_image(source):
            yield program.finding(
                reshaped_for_permuted,
                call.expression,
                "`reshape` does not move the channels of an image to the front: it mixes pixels and colours. Use "
                "`transpose(2, 0, 1)` or `permute(2, 0, 1)`.",
            )


def _is_stacked_state(value: Value | None) -> bool:
    """The last hidden state of a recurrent layer that has several layers or two directions."""
    if isinstance(value, Item) and isinstance(value.index, Literal) and value.index.value in (0, 1):
        outer = value.base
        if isinstance(outer, Item) and isinstance(outer.index, Literal) and outer.index.value == 1:
            value = outer  # (h, c) of an LSTM
    match value:
        case Item(base=Call(name="()", receiver=Call(name=name) as layer), index=Literal(value=1)) if name in (
            "torch.nn.LSTM",
            "torch.nn.GRU",
            "torch.nn.RNN",
        ):
            layers, both = layer.argument(2, "num_layers"), layer.argument(6, "bidirectional")
            several = isinstance(layers, Literal) and isinstance(layers.value, int) and layers.value > 1
            return several or (isinstance(both, Literal) and both.value is True)
    return False


def _keeps_layers(sizes: tuple[Value, ...]) -> bool:
    """The first size is that of the layers: `h.view(num_layers, 2, ...)`."""
    first = sizes[0]
    named = first.node is not None and bool(
        re.search(r"batch|bs\b|size\(0\)|size\(1\)|shape\[[01]\]|-1", ast.unparse(first.node))
    )
    return not named


def _is_scores_of(value: Value | None, classes: object) -> bool:
    """It is the output of a convolution with as many channels as there are classes."""
    layer = last_layer(value) if isinstance(value, Call) and value.name == "()" else None
    channels = layer[1].argument(1, "out_channels") if layer and re.search(r"\.Conv[23]d$", layer[1].name) else None
    return isinstance(channels, Literal) and isinstance(classes, int) and channels.value == classes and classes > 1


_SAME_IMAGE = {
    ".astype",
    ".float",
    ".copy",
    ".to",
    "numpy.array",
    "numpy.asarray",
    "torch.from_numpy",
    "torch.tensor",
    "torch.as_tensor",
    "cv2.resize",
    "cv2.cvtColor",
    ".convert",
    ".resize",
    "torch.FloatTensor",
    "torch.Tensor",
}


def _is_read_image(value: Value | None, depth: int = 12) -> bool:
    """It is an image as it was read, with the channels last."""
    match value:
        case _ if depth == 0:
            return False
        case Call(name=name) if name in IMAGE_READERS:
            return True
        case Call(name=name) if name in _SAME_IMAGE:
            return _is_read_image(value.receiver if name.startswith(".") else value.argument(0), depth - 1)
        case Operation(operator="/" | "*" | "-", operands=(inner, _)):
            return _is_read_image(inner, depth - 1)
    return False


@rule("P125", "transform-order", Severity.ERROR)
def transform_order(program: Program) -> Iterator[Finding]:
    """`Normalize` comes before the step that makes a tensor, or after it where it must come before.

    Why it matters:
        In torchvision, `Normalize` and `RandomErasing` take tensors, so they come after `ToTensor`. In albumentations,
        `Normalize` takes arrays, so it comes before `ToTensorV2`. The other way round, the first example stops with an
        error.

    Example:
        `Compose([Normalize(mean, std), ToTensor()])`

    Fix:
        torchvision: `ToTensor()`, then `Normalize(mean, std)`. albumentations: `Normalize()`, then `ToTensorV2()`.
    """
    seen: set[int] = set()
    for call in program.calls:
        if call.name not in ("torchvision.transforms.Compose", "albumentations.Compose") or id(call.node) in seen:
            continue
        seen.add(id(call.node))
        steps, known = transform_steps(call)
        names = [step_name(one) for one in steps]
        tensor = "ToTensorV2" if call.name.startswith("alb") else "ToTensor"
        if not known or names.count(tensor) != 1 or "Normalize" not in names:
            continue
        late = names.index("Normalize") > names.index(tensor)
        if late == call.name.startswith("alb"):
            yield program.finding(
                transform_order,
                steps[names.index("Normalize")].expression,
                f"`Normalize` comes {'after' if late else 'before'} `{tensor}`, but takes "
                f"{'an array' if late else 'a tensor'}: the first example stops with an error.",
            )


@rule("P132", "normalised-on-another-scale", Severity.WARNING)
def normalised_on_another_scale(program: Program) -> Iterator[Finding]:
    """`Normalize` has the mean of pixels from 0 to 255, after `ToTensor` has brought them to 0..1.

    Why it matters:
        From pixels between 0 and 1, a mean such as 123.7 leaves nearly the same value everywhere: all images look
        alike to the model.

    Example:
        `Compose([ToTensor(), Normalize([123.7, 116.3, 103.5], [58.4, 57.1, 57.4])])`

    Fix:
        Divide the constants by 255: `Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])`.
    """
    seen: set[int] = set()
    for call in program.calls:
        steps, _ = transform_steps(call) if call.name == "torchvision.transforms.Compose" else ([], False)
        names = [step_name(one) for one in steps]
        if "ToTensor" not in names or "Normalize" not in names[names.index("ToTensor") :]:
            continue
        step = steps[names.index("Normalize", names.index("ToTensor"))]
        mean = (normalisation([step]) or (None,))[0]
        numbers = mean if isinstance(mean, tuple) else ()
        if any(isinstance(one, int | float) and one > 2 for one in numbers) and id(step.node) not in seen:
            seen.add(id(step.node))
            yield program.finding(
                normalised_on_another_scale,
                step.expression,
                f"`Normalize` subtracts {numbers[0]:g} from pixels that `ToTensor` has brought to 0..1: all images "
                "look alike afterwards.",
            )


@rule("P128", "blue-and-red-swapped", Severity.WARNING)
def blue_and_red_swapped(program: Program) -> Iterator[Finding]:
    """Images are read with OpenCV, as BGR, where the model gets RGB.

    Why it matters:
        `cv2.imread` gives blue, green, red; PIL, torchvision and all pretrained weights have red, green, blue. With
        the channels swapped, pretrained features do not fit, and a model trained on one order fails on the other.

    Example:
        `ImageFolder` for training, and `transform(Image.fromarray(cv2.imread(path)))` for prediction.

    Fix:
        `image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)` right after reading.
    """
    yield from _constants_of_bgr(program)
    if program.mentions(_TURNS_CHANNELS):
        yield from _turned_in_training_only(program)
        return
    reads = [one for one in program.calls if one.name == "cv2.imread" and one.node is not None and _is_colour(one)]
    pretrained = next(
        (one for one in program.calls if one.name.startswith("torchvision.models.") and _has_weights(one)), None
    )
    in_rgb = any(
        one.name == "PIL.Image.open" for loader in torch_loaders(program) for one in loader.source.steps
    ) or any(one.name == "torchvision.datasets.ImageFolder" for one in program.calls)
    used = {
        id(part)
        for call in program.calls
        if call.name in _FEEDS or call.in_map
        for given in (*call.args, *([call.receiver] if call.receiver is not None else []))
        for part in walk(given, 60)
    }
    for read in reads:
        if is_mask(statement_of(read.expression)) or (id(read) not in used and not read.in_map):
            continue  # it is looked at, or written elsewhere
        if pretrained is not None or in_rgb:
            why = "the pretrained weights expect red first" if pretrained is not None else "training reads red first"
            yield program.finding(
                blue_and_red_swapped,
                read.expression,
                f"`cv2.imread` gives the channels as blue, green, red (BGR), and nothing converts them: {why} (RGB).",
            )
            return


_FEEDS = {
    "()",
    "torch.from_numpy",
    "torch.tensor",
    "PIL.Image.fromarray",
    "torchvision.transforms.functional.to_tensor",
}
_TURNS_CHANNELS = r"cvtColor|COLOR_|::-1|swapaxes|IMREAD_GRAYSCALE|BGR|bgr|\.flip\(|channel_swap|torch\.flip"


_IMAGENET_BGR = ((0.406, 0.456, 0.485), (103.939, 116.779, 123.68))
_READS_RGB = r"Image\.open|imageio|ImageFolder|read_image|COLOR_BGR2RGB|skimage|pil_loader|CIFAR"


def _constants_of_bgr(program: Program) -> Iterator[Finding]:
    """`Normalize` has the mean of ImageNet from blue to red, and the images are RGB."""
    turned = program.mentions(r"RGB2BGR|BGR|::-1") and not program.mentions("BGR2RGB")
    if turned or not program.mentions(_READS_RGB):
        return
    for call in program.calls:
        mean = (normalisation([call]) or (None,))[0] if step_name(call) == "Normalize" else None
        if mean in _IMAGENET_BGR:
            yield program.finding(
                blue_and_red_swapped,
                call.expression,
                "The constants of `Normalize` are in the order blue, green, red (BGR), and the images are read as red, "
                "green, blue: each channel is scaled by those of another.",
            )
            return


def _turned_in_training_only(program: Program) -> Iterator[Finding]:
    """The dataset converts to RGB, and a function that predicts on one file does not."""
    reads = {
        id(function): (function, one)
        for one in program.calls
        if one.name == "cv2.imread" and isinstance(one.node, ast.Call) and _is_colour(one)
        for function in [function_of(one.expression)]
        if isinstance(function, ast.FunctionDef)
    }
    bodies = {key: ast.unparse(function) for key, (function, _) in reads.items()}
    trained = [key for key, (function, _) in reads.items() if function.name in ("__getitem__", "load_image")]
    in_rgb = bool(trained) and all("COLOR_BGR2RGB" in bodies[key] for key in trained)
    for key, (_, read) in reads.items():
        body = bodies[key]
        feeds = re.search(r"from_numpy|ToTensor|as_tensor|torch\.tensor", body) and re.search(
            r"model|net\b|no_grad", body
        )
        if in_rgb and key not in trained and feeds and not re.search(_TURNS_CHANNELS, body):
            yield program.finding(
                blue_and_red_swapped,
                read.expression,
                "Training converts what `cv2.imread` gives to RGB, and here it stays BGR: red and blue are swapped in "
                "the prediction.",
            )
            return


def _is_colour(call: Call) -> bool:
    flag = call.argument(1, "flags")
    return flag is None or (isinstance(flag, Literal) and flag.value == 1)


def _has_weights(call: Call) -> bool:
    given = call.argument(0, "weights", "pretrained")
    return given is not None and not (isinstance(given, Literal) and given.value in (None, False))


def scaled_twice_in_torch(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find divisions by 255 of what `ToTensor` has scaled already."""
    seen: set[int] = set()
    values = [value for call in program.calls for value in (call.receiver, *call.args) if value is not None]
    values += [part for loader in torch_loaders(program) for part in sure_parts(loader.element)]
    for value in values:
        for one in options_of(value):
            if not isinstance(one, Operation) or one.node is None or id(one.node) in seen or not _is_by_255(one):
                continue
            if any(step_name(step) == "ToTensor" for step in _steps_of_pixels(one.operands[0])):
                seen.add(id(one.node))
                yield program.finding(
                    found_by,
                    one.node,
                    "These pixels are divided by 255 although `ToTensor` has brought them to 0..1 already: the result "
                    "is almost black.",
                )
    for call in program.calls:
        inner = call.argument(0, "transforms") if call.name == "torchvision.transforms.Compose" else None
        steps = inner.members if isinstance(inner, Group) else ()
        names = [step_name(one) if isinstance(one, Call) else "" for one in steps]
        for place, step in enumerate(steps):
            function = step.argument(0, "lambd") if isinstance(step, Call) and names[place] == "Lambda" else step
            text = ast.unparse(function.definition) if isinstance(function, Function) else ""
            if "ToTensor" in names[:place] and text.startswith("lambda") and re.search(r"/ 255(\.0)?\b", text):
                assert isinstance(function, Function)  # noqa: S101 - it has a text
                if id(function.definition) not in seen:
                    seen.add(id(function.definition))
                    yield program.finding(
                        found_by,
                        function.definition,
                        "These pixels are divided by 255 although `ToTensor` has brought them to 0..1 already: the "
                        "result is almost black.",
                    )


def _steps_of_pixels(value: Value | None) -> Iterator[Call]:
    """The transforms that pixels certainly went through; of a new image of the same size, none."""
    for _ in range(40):
        match value:
            case Call(name="()", receiver=Call() as transform, args=(first, *_)):
                yield from transform_steps(transform)[0]
                value = first
            case Call(receiver=receiver) if receiver is not None and value.name.startswith("."):
                value = receiver
            case Call(args=(first, *_)):
                value = first
            case Operation(operands=(first, *_)):
                value = first
            case Item(attribute=False, base=base) | Element(of=Value() as base):
                value = base
            case _:
                return


def _is_by_255(value: Operation) -> bool:
    match value:
        case Operation(operator="/", operands=(_, Literal(value=255 | 255.0))):
            return True
    return False


PIXEL_RULES = [reshaped_for_permuted, transform_order, normalised_on_another_scale, blue_and_red_swapped]
