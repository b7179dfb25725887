"""How PyTorch and torchvision scale the numbers of an image: `div`, `ToTensor`, `Normalize`, `ToDtype`."""

from __future__ import annotations

import re
from collections.abc import Callable

from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Item, Literal, Operation, Symbol, Value
from recordsmith.doctor.lint.libraries.arrays import dtype_named
from recordsmith.doctor.lint.libraries.scaled_numbers import Scaling
from recordsmith.doctor.lint.libraries.torch.transforms import UNKNOWN, normalisation, step_name, transform_steps

__all__ = ["KEEPS_NUMBERS", "is_whole", "torch_scaling"]

KEEPS_NUMBERS = re.compile(
    r"torch\.(from_numpy|tensor|as_tensor|FloatTensor|Tensor|stack|unsqueeze|squeeze|flip|permute)|PIL\.Image\.fromarray"
    r"|\.(float|double|half|permute|to|cuda|cpu|contiguous|unsqueeze|view|clone|detach|type|repeat|flip|expand|moveaxis)"
    r"|numpy\.(transpose|moveaxis|flip|fliplr|flipud|rot90)|torchvision\.transforms\.functional\."
    r"(resize|crop|hflip|vflip|rotate|center_crop|pad|resized_crop|affine)"
)
_KEEPS_WHOLE = re.compile(
    r"numpy\.(array|asarray|ascontiguousarray|transpose|expand_dims|flip|fliplr|flipud|rot90)|torch\.(from_numpy|stack)"
    r"|cv2\.(resize|cvtColor|flip|rotate)|\.(transpose|convert|resize|copy|crop|permute|reshape|numpy|unsqueeze|contiguous)"
    r"|PIL\.Image\.fromarray|torchvision\.transforms\.functional\.\w+"
)
_READERS = re.compile(
    r"PIL\.Image\.open|cv2\.imread|cv2\.imdecode|imageio\.(v2\.|v3\.)?imread|skimage\.io\.imread|torchvision\.io\.\w+"
)
_COLOURS = re.compile(r"Random\w*|ColorJitter|Resize|CenterCrop|Pad|FiveCrop|ToPILImage|ToImage|PILToTensor|\w*Flip")


def is_whole(value: Value | None, depth: int = 20) -> bool | None:
    """Tell whether pixels are still the whole numbers from 0 to 255 of a file; None if that is not known.

    >>> is_whole(Call("cv2.imread", None))
    True
    """
    if depth == 0:
        return None
    match value:
        case Operation(operator="/" | "*" | "-" | "+"):
            return False
        case Element(kind="image") | Item(base=Call(name=".read", receiver=Call(name="cv2.VideoCapture"))):
            return True
        case Call(name=".astype" | ".to" | ".type"):
            named = dtype_named(value.argument(0, "dtype"))
            return None if named is None else named.startswith("uint8") and is_whole(value.receiver, depth - 1)
        case Call(name=".float" | ".double" | ".half" | ".div"):
            return False
        case Call(name=name) if _READERS.fullmatch(name):
            return True
        case Call(name=name) if _KEEPS_WHOLE.fullmatch(name):
            given = value.argument(1 if name.startswith("numpy.") else None, "dtype")
            if given is not None and (name.startswith("numpy.a") or value.argument(None, "dtype") is not None):
                named = dtype_named(given)
                return None if named is None else named == "uint8"
            return is_whole(value.receiver if name.startswith(".") else value.argument(0), depth - 1)
    return None


def torch_scaling(call: Call, inner: Callable[[Value | None], Scaling | None]) -> Scaling | None:
    """Return the scaling of what a call of PyTorch or torchvision gives; None if it says nothing about it."""
    name = call.name
    if name in (".div", ".div_", "torch.div", ".mul", ".mul_", "torch.mul"):
        method = name.startswith(".")
        by = call.argument(0 if method else 1, "other")
        found = inner(call.receiver if method else call.argument(0))
        number = by.value if isinstance(by, Literal) and isinstance(by.value, int | float) else None
        if found is None or not number:
            return None
        return found.times(number if "mul" in name else 1 / number)
    if name == "torchvision.transforms.functional.to_tensor":
        return _as_tensor(inner(call.argument(0)), call.argument(0))
    if name == "torchvision.transforms.functional.normalize":
        return _normalised(inner(call.argument(0)), call)
    if name == "()":
        return _transformed(call, inner)
    if KEEPS_NUMBERS.fullmatch(name):
        return inner(call.receiver if name.startswith(".") else call.argument(0))
    return None


def _as_tensor(found: Scaling | None, given: Value | None) -> Scaling | None:
    whole = is_whole(given)
    return None if found is None or whole is None else found.times(1 / 255) if whole else found


def _normalised(found: Scaling | None, call: Call) -> Scaling | None:
    numbers = tuple(call.argument(place, name) for place, name in ((1, "mean"), (2, "std")))
    known = [
        [one.value for one in value.members if isinstance(one, Literal)]
        for value in numbers
        if isinstance(value, Group)
    ]
    return None if found is None or len(known) != 2 else found.normalised(*known)


def _transformed(call: Call, inner: Callable[[Value | None], Scaling | None]) -> Scaling | None:
    steps, known = transform_steps(call.receiver)
    given = call.argument(0, "image", "img")
    found = inner(given)
    if not steps or not known or found is None:
        return None
    whole = is_whole(given)
    for step in steps:
        name = step_name(step)
        if step.name.startswith("albumentations."):
            return None
        if name == "ToTensor":
            found = None if whole is None else found.times(1 / 255) if whole else found
            whole = False
        elif name == "ToPILImage":
            whole = True if whole else None
        elif name in ("ConvertImageDtype", "ToDtype"):
            scale = step.argument(1, "scale")
            dtype = step.argument(0, "dtype")
            scales = name == "ConvertImageDtype" or (isinstance(scale, Literal) and bool(scale.value))
            to_float = isinstance(dtype, Symbol) and "float" in dtype.path
            if whole is None or not to_float:
                return None
            found = found.times(1 / 255) if scales and whole else found
            whole = False
        elif name == "Normalize":
            constants = normalisation([step])
            if constants is None or UNKNOWN in constants:
                return None
            if all(isinstance(one, tuple) and all(isinstance(part, int | float) for part in one) for one in constants):
                found = found.normalised(*constants)  # type: ignore[arg-type]
            else:
                found = found.after(f"Normalize{constants}")
        elif not _COLOURS.fullmatch(name):
            return None
        if found is None:
            return None
    return found
