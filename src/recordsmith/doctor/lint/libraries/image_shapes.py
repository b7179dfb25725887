"""The shapes of images as programs resize them: OpenCV and Pillow take (width, height), arrays are height x width."""

from __future__ import annotations

import re

from recordsmith.doctor.lint.interpreter.values import Call, Group, Literal, Operation, Symbol, Value
from recordsmith.doctor.lint.libraries.arrays import shape_of

__all__ = ["array_shape"]

_KEEPS_FIRST = re.compile(
    r"numpy\.(array|asarray|ascontiguousarray|copy|uint8|float32|clip|flip|fliplr|flipud)|cv2\.(flip|GaussianBlur)"
    r"|keras\.(preprocessing\.image|utils)\.img_to_array|tensorflow\.(cast|constant|convert_to_tensor)"
)
_KEEPS_RECEIVER = re.compile(r"\.(astype|copy|numpy)")
_COLOUR_READERS = ("cv2.imread", "imageio.imread", "skimage.io.imread")


def array_shape(value: Value | None, depth: int = 24) -> tuple[int, ...] | None:
    """Return the shape of an array or image, where the source says all of it.

    >>> size = Group((Literal(640), Literal(480)))
    >>> array_shape(Call("cv2.resize", None, (Call("cv2.imread", None, (Literal("a.png"),)), size)))
    (480, 640, 3)
    """
    if value is None or depth == 0:
        return None
    match value:
        case Call(name=name) if _KEEPS_FIRST.fullmatch(name):
            return array_shape(value.argument(0), depth - 1) or shape_of(value)
        case Call(name=name) if _KEEPS_RECEIVER.fullmatch(name):
            return array_shape(value.receiver, depth - 1)
        case Call(name="cv2.resize"):
            return _resized(value.argument(1, "dsize"), _channels(value.argument(0)))
        case Call(name=".resize") if value.receiver is not None:
            return _resized(value.argument(0, "size"), _channels(value.receiver))
        case Call(name="keras.utils.load_img" | "keras.preprocessing.image.load_img"):
            size = _sizes(value.argument(None, "target_size"))
            grey = value.argument(None, "color_mode") is not None or value.argument(None, "grayscale") is not None
            return None if size is None or grey else (*size, 3)
        case Call(name="cv2.cvtColor"):
            return _recoloured(value, depth)
        case Call(name="numpy.transpose" | ".transpose"):
            inner = value.receiver if _is_method(value) else value.argument(0)
            given = value.args if _is_method(value) else value.args[1:]
            return _transposed(array_shape(inner, depth - 1), given)
        case Operation(operator="/" | "*" | "-" | "+", operands=(first, Literal())):
            return array_shape(first, depth - 1)
    return shape_of(value)


def _is_method(call: Call) -> bool:
    return call.name.startswith(".")


def _sizes(value: Value | None) -> tuple[int, int] | None:
    members = value.members if isinstance(value, Group) else ()
    sizes = [one.value for one in members if isinstance(one, Literal) and isinstance(one.value, int)]
    return (sizes[0], sizes[1]) if len(sizes) == len(members) == 2 else None


def _resized(size: Value | None, channels: int | None) -> tuple[int, ...] | None:
    wide = _sizes(size)
    if wide is None or channels is None:
        return None
    width, height = wide
    return (height, width) if channels == 1 else (height, width, channels)


def _channels(value: Value | None) -> int | None:
    """How many colour channels an image has: 3, 1, or None where the source does not say."""
    for _ in range(20):
        match value:
            case Call(name=name) if name in _COLOUR_READERS:
                mode = value.argument(1, "flags", "as_gray")
                plain = mode is None or (isinstance(mode, Symbol) and mode.path.endswith("IMREAD_COLOR"))
                grey = isinstance(mode, Symbol) and "GRAY" in mode.path
                grey |= isinstance(mode, Literal) and mode.value == 0
                return 1 if grey else 3 if plain and name == "cv2.imread" else None
            case Call(name="cv2.cvtColor"):
                code = value.argument(1, "code")
                path = code.path if isinstance(code, Symbol) else ""
                return 1 if path.endswith("GRAY") else 3 if path.endswith(("2RGB", "2BGR")) else None
            case Call(name=".convert"):
                mode = value.argument(0, "mode")
                name = mode.value if isinstance(mode, Literal) else ""
                return {"RGB": 3, "L": 1, "RGBA": 4}.get(str(name))
            case Call(name=name) if _KEEPS_FIRST.fullmatch(name) or name in ("cv2.resize", "PIL.Image.fromarray"):
                value = value.argument(0)
            case Call(name=".resize" | ".astype" | ".copy" | ".crop"):
                value = value.receiver
            case _:
                return None
    return None


def _recoloured(call: Call, depth: int) -> tuple[int, ...] | None:
    inner, channels = array_shape(call.argument(0), depth - 1), _channels(call)
    if inner is None or channels is None or len(inner) not in (2, 3):
        return None
    return inner[:2] if channels == 1 else (*inner[:2], channels)


def _transposed(shape: tuple[int, ...] | None, given: tuple[Value, ...]) -> tuple[int, ...] | None:
    axes = given[0].members if len(given) == 1 and isinstance(given[0], Group) else given
    order = [one.value for one in axes if isinstance(one, Literal) and isinstance(one.value, int)]
    if shape is None or len(order) != len(shape) or len(order) != len(axes) or sorted(order) != list(range(len(shape))):
        return None
    return tuple(shape[axis] for axis in order)
