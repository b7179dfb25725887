"""What the source says about arrays: their dtype, their shape, and how many rows they have."""

from __future__ import annotations

import math
import re

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Group,
    Item,
    Literal,
    Operation,
    Slice,
    Symbol,
    Unknown,
    Value,
)

__all__ = ["dtype_named", "dtype_of", "shape_of", "size_of"]

_KEEPS_DTYPE = {
    ".copy", ".flatten", ".ravel", ".reshape", ".squeeze", ".transpose", ".swapaxes", ".numpy", ".repeat", ".clip",
    "numpy.squeeze", "numpy.expand_dims", "numpy.reshape", "numpy.transpose", "numpy.ravel", "numpy.ascontiguousarray",
    "numpy.flip", "numpy.fliplr", "numpy.rot90", "numpy.concatenate", "numpy.stack", "numpy.clip", "numpy.abs",
    "tensorflow.reshape", "tensorflow.squeeze", "tensorflow.expand_dims", "tensorflow.transpose", "cv2.resize",
    "cv2.cvtColor", "cv2.flip",
}  # fmt: skip
_FLOAT64 = {
    "numpy.random.rand", "numpy.random.randn", "numpy.random.random", "numpy.random.uniform", "numpy.random.normal",
    "numpy.random.random_sample", "numpy.random.standard_normal", "numpy.linspace", "numpy.zeros", "numpy.ones",
    "numpy.empty", "numpy.eye", "numpy.logspace",
}  # fmt: skip
_FLOAT_FUNCTION = re.compile(
    r"numpy\.(sin|cos|tan|tanh|exp|log|log2|log10|log1p|sqrt|mean|std|hypot|arctan2?|sinh|cosh|hanning|interp)"
)
_UINT8 = {"cv2.imread", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread", "skimage.io.imread", "cv2.imdecode",
          "tensorflow.io.decode_jpeg", "tensorflow.io.decode_image", "tensorflow.io.decode_png"}  # fmt: skip
_SHAPED = {"numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full", "tensorflow.zeros", "tensorflow.ones"}
_SIZED_BY_ARGUMENTS = {"numpy.random.rand", "numpy.random.randn"}
_SIZED_BY_SIZE = {
    "numpy.random.random": 0, "numpy.random.uniform": 2, "numpy.random.normal": 2, "numpy.random.randint": 2,
    "numpy.random.standard_normal": 0, "numpy.random.random_sample": 0, "numpy.random.choice": 1,
    ".integers": 2, ".normal": 2, ".uniform": 2, ".random": 0, ".standard_normal": 0,
    "tensorflow.random.uniform": 0, "tensorflow.random.normal": 0,
}  # fmt: skip
_GENERATOR = {".normal", ".uniform", ".random", ".standard_normal"}
_NAMES = {"float": "float64", "int": "int64", "bytes": "string", "float_": "float64", "double": "float64",
          "single": "float32", "half": "float16", "bool_": "bool", "int_": "int64", "str": "string"}  # fmt: skip
_KNOWN = {"float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
          "uint64", "bool", "string", "complex64", "complex128"}  # fmt: skip


_IMAGES_OF_KERAS = re.compile(r"keras\.datasets\.(mnist|fashion_mnist|cifar10|cifar100)\.load_data")


def dtype_named(value: Value | None) -> str | None:
    """Return the dtype that a value names: np.float32, tf.float32 and "float32" are all "float32".

    >>> dtype_named(Symbol("tensorflow.float32")), dtype_named(Literal("uint8"))
    ('float32', 'uint8')
    """
    if isinstance(value, Symbol):
        name = value.path.rpartition(".")[2]
    elif isinstance(value, Literal) and isinstance(value.value, str):
        name = value.value
    elif isinstance(value, Call) and value.name == "numpy.dtype" and value.args:
        return dtype_named(value.args[0])
    else:
        return None
    name = _NAMES.get(name, name)
    return name if name in _KNOWN else None


def dtype_of(value: Value | None, depth: int = 20) -> str | None:
    """Return the dtype of an array, where the source says it.

    >>> image = Call("cv2.imread", None)
    >>> dtype_of(image), dtype_of(Operation("/", (image, Literal(255.0))))
    ('uint8', 'float64')
    """
    if depth == 0:
        return None
    if isinstance(value, Operation):
        return _result_dtype(value, depth)
    if isinstance(value, Item):
        if value.attribute:
            return (
                dtype_of(value.base, depth - 1)
                if isinstance(value.index, Literal) and value.index.value == "T"
                else None
            )
        match value:
            case Item(
                base=Item(base=Call(name="builtins.zip", args=members), index=Unknown()),
                index=Literal(value=int() as place),
            ):
                return dtype_of(members[place], depth - 1) if place < len(members) else None  # of a loop over pairs
            case Item(base=Item(base=Call(name=name)), index=Literal(value=0)) if _IMAGES_OF_KERAS.fullmatch(name):
                return "uint8"
        if isinstance(value.base, Call) and value.base.gives is not None:
            return dtype_of(value.base.gives, depth - 1)
        plain = isinstance(value.index, Slice | Literal | Group | Call | Operation | Item)
        return dtype_of(value.base, depth - 1) if plain else None
    if not isinstance(value, Call):
        return None
    return _call_dtype(value, depth)


def _call_dtype(call: Call, depth: int) -> str | None:  # noqa: PLR0911 - one for each way to make an array
    name = call.name
    if name in (".astype", "tensorflow.cast", "tensorflow.image.convert_image_dtype"):
        return dtype_named(call.argument(0 if name == ".astype" else 1, "dtype"))
    if name in ("tensorflow.io.decode_raw", "tensorflow.io.parse_tensor"):
        return dtype_named(call.argument(1, "out_type"))
    if name == "tensorflow.image.resize":
        return None if call.argument(2, "method") is not None else "float32"
    explicit = call.argument(None, "dtype")
    if explicit is not None:
        return dtype_named(explicit)
    if name in ("numpy.array", "numpy.asarray", "numpy.asanyarray"):
        return dtype_named(call.argument(1)) if len(call.args) > 1 else _array_dtype(call.argument(0), depth)
    if name in ("numpy.zeros", "numpy.ones", "numpy.empty") and len(call.args) > 1:
        return dtype_named(call.args[1])
    if name in _FLOAT64:
        return "float64"
    if name in _GENERATOR and isinstance(call.receiver, Call) and call.receiver.name == "numpy.random.default_rng":
        return "float64"
    if name in _UINT8:
        return "uint8"
    if name == "numpy.random.randint":
        return "int64"
    if _FLOAT_FUNCTION.fullmatch(name):
        inner = dtype_of(call.argument(0), depth - 1)
        return inner if inner in ("float32", "float64") else "float64" if inner is not None else None
    if name in _KEEPS_DTYPE:
        return dtype_of(call.receiver if name.startswith(".") else call.argument(0), depth - 1)
    return dtype_named(Symbol(name)) if name.startswith("numpy.") else None


def _array_dtype(value: Value | None, depth: int) -> str | None:
    if isinstance(value, Call) and value.name in ("PIL.Image.open", ".convert", ".resize", ".crop"):
        return "uint8" if _is_pillow(value) else None
    if isinstance(value, Group) and value.members:
        flat = [one for member in value.members for one in (member.members if isinstance(member, Group) else (member,))]
        constants = [one.value for one in flat if isinstance(one, Literal)]
        if len(constants) == len(flat) and all(isinstance(one, int | float) for one in constants):
            return "float64" if any(isinstance(one, float) for one in constants) else "int64"
        return None
    return dtype_of(value, depth - 1)


def _is_pillow(value: Value | None) -> bool:
    while isinstance(value, Call) and value.name in (".convert", ".resize", ".crop"):
        mode = value.argument(0) if value.name == ".convert" else None
        if isinstance(mode, Literal) and mode.value in ("F", "I", "1"):
            return False
        value = value.receiver
    return isinstance(value, Call) and value.name == "PIL.Image.open"


def _result_dtype(value: Operation, depth: int) -> str | None:
    """As numpy 2 promotes: a Python number does not widen an array, but a division makes integers floats."""
    if value.operator not in ("+", "-", "*", "/") or len(value.operands) != 2:
        return None
    found = [dtype_of(one, depth - 1) for one in value.operands]
    numbers = [one.value if isinstance(one, Literal) else None for one in value.operands]
    if "float64" in found:
        return "float64"
    known = next((one for one in found if one is not None), None)
    if known is None:
        return None
    if None in found and not any(isinstance(one, int | float) for one in numbers):
        return None
    if known.startswith("float"):
        return known if found[0] in (None, known) and found[1] in (None, known) else None
    if value.operator == "/" or any(isinstance(one, float) for one in numbers):
        return "float64"
    return known if None in found or found[0] == found[1] else None


def shape_of(value: Value | None, depth: int = 20) -> tuple[int, ...] | None:  # noqa: PLR0911 - one for each way to make an array
    """Return the shape of an array or a list of numbers, where the source says all of it.

    >>> shape_of(Call("numpy.zeros", None, (Group((Literal(8), Literal(3))),)))
    (8, 3)
    """
    if depth == 0 or value is None:
        return None
    if isinstance(value, Group):
        if value.grown:
            return None
        inner = {shape_of(member, depth - 1) if isinstance(member, Group) else () for member in value.members}
        first = inner.pop() if len(inner) == 1 else None
        return (len(value.members), *first) if first is not None else None
    if (
        isinstance(value, Item)
        and not value.attribute
        and not isinstance(value.index, Slice | Group | Operation | Call)
    ):
        whole = shape_of(value.base, depth - 1)  # one row of it
        named = isinstance(value.index, Literal) and not isinstance(value.index.value, int)
        return whole[1:] if whole is not None and len(whole) > 1 and not named else None
    if not isinstance(value, Call):
        return None
    name = value.name
    if name in _SHAPED:
        return _shape_from(value.argument(0, "shape"))
    if name in _SIZED_BY_ARGUMENTS:
        return _shape_from(Group(value.args))
    if name in _SIZED_BY_SIZE:
        return _shape_from(value.argument(_SIZED_BY_SIZE[name], "size", "shape"))
    if name in ("numpy.arange", "builtins.range") and len(value.args) == 1:
        return _shape_from(value.args[0])
    if name in ("numpy.array", "numpy.asarray"):
        return shape_of(value.argument(0), depth - 1)
    if name in (".astype", ".copy", ".tolist"):
        return shape_of(value.receiver, depth - 1)
    if name in (".flatten", ".ravel"):
        inner_shape = shape_of(value.receiver, depth - 1)
        return None if inner_shape is None else (math.prod(inner_shape),)
    if name == ".reshape":
        given = value.args[0] if len(value.args) == 1 else Group(value.args)
        return _shape_from(given)
    return None


def size_of(value: Value | None) -> int | None:
    """Return how many values an array or list has, where the source says it.

    >>> size_of(Group((Literal(1), Literal(2))))
    2
    """
    shape = shape_of(value)
    return None if shape is None else math.prod(shape)


def _shape_from(value: Value | None) -> tuple[int, ...] | None:
    if isinstance(value, Literal) and isinstance(value.value, int) and value.value >= 0:
        return (value.value,)
    if isinstance(value, Group):
        sizes = [member.value for member in value.members if isinstance(member, Literal)]
        if len(sizes) == len(value.members) and all(isinstance(size, int) and size >= 0 for size in sizes):
            return tuple(sizes)
    return None
