"""Transforms of torchvision, albumentations and kornia: their steps, which of them are random, how they normalise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Choice, Group, Literal, Symbol, Value

__all__ = [
    "UNKNOWN",
    "applied_transforms",
    "is_geometric",
    "is_random_step",
    "normalisation",
    "step_name",
    "sure_parts",
    "transform_steps",
]

_LIBRARY = re.compile(r"(torchvision\.transforms|albumentations|kornia\.augmentation)\.(\w+)")
_RANDOM = re.compile(
    r"Random\w+|ColorJitter|AutoAugment|TrivialAugmentWide|RandAugment|AugMix|ElasticTransform|ScaleJitter|CutMix|MixUp"
)
_RANDOM_ALBUMENTATIONS = re.compile(
    r"Random\w+|\w*Flip|Transpose|\w*Rotate\w*|ShiftScaleRotate|Affine|Perspective|ElasticTransform|GridDistortion"
    r"|OpticalDistortion|\w*Dropout|Cutout|HueSaturationValue|RGBShift|ColorJitter|Gauss\w+|\w*Blur|\w*Noise|OneOf|SomeOf"
    r"|CLAHE|Downscale|ImageCompression|D4|GridShuffle"
)
_GEOMETRIC = re.compile(
    r"Random(Crop|ResizedCrop|SizedCrop|HorizontalFlip|VerticalFlip|Rotation|Rotate90|Affine|Perspective|Scale|ZoomOut"
    r"|IoUCrop|Apply|Choice|Order|Rotate)|\w*Flip|Rotate|ShiftScaleRotate|Affine|Perspective|ElasticTransform|Transpose"
    r"|GridDistortion|OpticalDistortion|D4"
)
UNKNOWN = object()  # a mean or standard deviation that the source does not say
_CONTAINERS = {"Compose", "Sequential", "AugmentationSequential", "ImageOnlyTransform"}


def _name(value: Value | None) -> tuple[str, str]:
    match = _LIBRARY.fullmatch(value.name) if isinstance(value, Call) else None
    return (match[1], match[2]) if match else ("", "")


def transform_steps(value: Value | None) -> tuple[list[Call], bool]:
    """Return the steps of a transform in order, and whether all of them are known.

    >>> transform_steps(Call("torchvision.transforms.ToTensor", None))[1]
    True
    """
    if not isinstance(value, Call):
        return [], False
    library, name = _name(value)
    container = name in _CONTAINERS or value.name in ("torch.nn.Sequential", "torch.jit.script")
    if not library and not container:
        return [], False
    if not container:
        return [value], True
    inner = value.argument(0, "transforms")
    if name != "Compose" and len(value.args) != 1:
        inner = Group(value.args)
    if not isinstance(inner, Group):
        return [], False
    found = [transform_steps(one) for one in inner.members]
    return [step for steps, _ in found for step in steps], all(known for _, known in found) and not inner.grown


def is_random_step(step: Call) -> bool:
    """Tell whether a transform changes each example at random.

    >>> is_random_step(Call("torchvision.transforms.RandomCrop", None))
    True
    """
    library, name = _name(step)
    chance = step.argument(None, "p")
    if isinstance(chance, Literal) and chance.value in (0, 0.0):
        return False
    if library == "albumentations":
        return bool(_RANDOM_ALBUMENTATIONS.fullmatch(name))
    return bool(library) and bool(_RANDOM.fullmatch(name))


def is_geometric(step: Call) -> bool:
    """Tell whether a random transform moves pixels, so that masks and boxes must move with them."""
    return is_random_step(step) and bool(_GEOMETRIC.fullmatch(_name(step)[1]))


def step_name(step: Call) -> str:
    """Return the name of a transform, as `RandomCrop`."""
    return _name(step)[1]


def normalisation(steps: list[Call]) -> tuple[object, ...] | None:
    """Return the mean and the standard deviation that `Normalize` is given; None without one."""
    for step in steps:
        if _name(step)[1] == "Normalize":
            return tuple(_constant(step.argument(place, name)) for place, name in enumerate(("mean", "std")))
    return None


def _constant(value: Value | None) -> object:
    if isinstance(value, Group):
        parts = tuple(_constant(one) for one in value.members)
        return UNKNOWN if UNKNOWN in parts else parts
    if isinstance(value, Literal):
        return value.value
    if isinstance(value, Symbol):
        return value.path
    return UNKNOWN


def sure_parts(value: Value | None, limit: int = 500) -> Iterator[Value]:
    """Yield a value and what it was made of, but nothing that depends on a condition."""
    seen: set[int] = set()
    waiting = [] if value is None else [value]
    while waiting and len(seen) < limit:
        one = waiting.pop(0)
        if id(one) in seen or isinstance(one, Choice):
            continue
        seen.add(id(one))
        yield one
        waiting.extend(one.parts())


def applied_transforms(value: Value | None) -> list[tuple[Call, list[Call], bool]]:
    """Return the transforms that a value certainly went through: each application, its steps, whether all are known."""
    found: list[tuple[Call, list[Call], bool]] = []
    for one in sure_parts(value):
        if isinstance(one, Call) and one.name == "()" and isinstance(one.receiver, Call):
            steps, known = transform_steps(one.receiver)
            if steps:
                found.append((one, steps, known))
    return found
