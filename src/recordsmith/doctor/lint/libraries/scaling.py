"""How the numbers of an input were scaled on their way to a model, and the order of its colour channels."""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Item,
    Literal,
    Many,
    Object,
    Operation,
    Slice,
    Symbol,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.arrays import dtype_named
from recordsmith.doctor.lint.libraries.fitting import split_part
from recordsmith.doctor.lint.libraries.image_generators import Flow, flow_of
from recordsmith.doctor.lint.libraries.keras_sequences import BATCHES
from recordsmith.doctor.lint.libraries.rows import bound_key
from recordsmith.doctor.lint.libraries.scaled_numbers import Scaling
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.scaled_pixels import torch_scaling

__all__ = ["Scaling", "is_decoder", "scaling_of"]

_DECODER = re.compile(r"tensorflow\.io\.decode_(jpeg|png|image|bmp|gif|webp)")
_KEEPS_FIRST = re.compile(
    r"tensorflow\.(cast|reshape|ensure_shape|identity|squeeze|expand_dims|transpose|convert_to_tensor|constant|stack)"
    r"|tensorflow\.clip_by_value|numpy\.clip"
    r"|tensorflow\.image\.(resize\w*|(stateless_)?random_\w+|flip\w*|rot90|central_crop|crop\w*|pad\w*|adjust_\w+"
    r"|transpose|grayscale_to_rgb|rgb_to_grayscale)"
    r"|numpy\.(array|asarray|expand_dims|squeeze|reshape|stack|vstack|float32|float64|ascontiguousarray|copy)"
    r"|cv2\.(resize|flip|rotate|GaussianBlur|medianBlur)|builtins\.(list|tuple)|pandas\.DataFrame"
    r"|keras\.(preprocessing\.image|utils)\.(img_to_array|smart_resize)|keras\.layers\.Lambda"
)
_KEEPS_RECEIVER = re.compile(
    r"\.(astype|reshape|copy|numpy|squeeze|resize|convert|values|to_numpy|flatten|toarray|tolist|transpose"
    r"|reset_index|head|crop|ravel)"
)
_RGB_READERS = re.compile(
    r"PIL\.Image\.open|torchvision\.io\.(read|decode)_image|keras\.(preprocessing\.image|utils)\.load_img|imageio\.(v2\.|v3\.)?imread|skimage\.io\.imread"
)
_ARRAY_READERS = re.compile(r"keras\.datasets\.\w+\.load_data|sklearn\.datasets\.(load|fetch)_\w+")
_PREPROCESS = re.compile(r"keras\.applications\.(\w+)\.preprocess_input")
_TO_ONE = re.compile(r"mobilenet(_v2)?|inception\w*|xception|resnet_v2|nasnet")
_AS_IT_IS = re.compile(r"efficientnet\w*|convnext|mobilenet_v3|regnet|resnet_rs")
# What scikit-image makes of bytes: numbers from 0 to 1, unless it is told to keep the range.
_TO_SHARES = re.compile(r"skimage\.(transform\.(resize|rescale|rotate)|color\.rgb2gray|(util\.)?img_as_float(32)?)")
_STATISTIC = re.compile(r"(numpy|tensorflow(\.math)?|\.)\.?(reduce_)?(mean|std|var|variance|max|min|amax|moments)")
_MOST_STEPS = 60


def is_decoder(value: Value | None) -> bool:
    """Tell whether a value is the pixels that TensorFlow decodes from a file's bytes."""
    return isinstance(value, Call) and bool(_DECODER.fullmatch(value.name))


def scaling_of(value: Value | None, depth: int = _MOST_STEPS) -> Scaling | None:  # noqa: PLR0911 - one for each kind of value
    """Return how an input was scaled, if the source says all of it."""
    if value is None or depth == 0:
        return None
    flow = flow_of(value)
    if flow is not None:
        return _of_flow(flow)
    batches = value.fields.get(BATCHES) if isinstance(value, Object) else None
    pipelines = pipelines_in(value if batches is None else batches)
    if pipelines:
        return _of_pipeline(pipelines[0], depth) if len(pipelines) == 1 else None
    match value:
        case Call():
            return scaling_of(value.filled[0], depth - 1) if _is_filled(value) else _of_call(value, depth)
        case Operation():
            return _of_operation(value, depth)
        case Element(kind="image", of=Call(name=name)) if name.startswith("torchvision.datasets."):
            return Scaling("image", channels="RGB" if name.endswith("ImageFolder") else "")
        case Element(of=inner) if inner is not None:
            return scaling_of(inner, depth - 1)
        case Many(member=Group(members=(inputs, _), is_list=False)):  # the batches of a generator
            return scaling_of(inputs, depth - 1)
        case Many(member=member):
            return scaling_of(member, depth - 1)
        case Group(members=members) if members and not any(isinstance(one, Literal) for one in members):
            found = [scaling_of(one, depth - 1) for one in members]
            first = found[0]
            return first if first is not None and all(one == first for one in found) else None
        case Item():
            return _of_item(value, depth)
    return None


def _of_flow(flow: Flow) -> Scaling | None:
    if flow.directory is None:
        found = scaling_of(flow.call.argument(0, "x"), _MOST_STEPS // 2)
    else:
        mode = flow.constant("color_mode", "rgb")
        found = Scaling("image", channels="RGB" if mode == "rgb" else "")
    rescale = flow.generator.argument(None, "rescale")
    function = flow.generator.argument(None, "preprocessing_function")
    if found is None or not flow.generator.exact:
        return None
    if isinstance(function, Symbol):
        found = _preprocessed(found, function.path)
    elif function is not None and not (isinstance(function, Literal) and function.value is None):
        return None
    for option in ("samplewise_center", "samplewise_std_normalization", "featurewise_center", "zca_whitening"):
        given = flow.generator.argument(None, option)
        if isinstance(given, Literal) and given.value and found is not None:
            found = found.after(option) if option.startswith("samplewise") else None  # of others, `fit` decides
    if rescale is not None and found is not None:
        number = _number(rescale)
        return None if number is None else found.times(number)
    return found


def _of_pipeline(pipeline: Pipeline, depth: int) -> Scaling | None:
    element = pipeline.element
    if isinstance(element, Element) and isinstance(element.of, Group):
        element = element.of
    if isinstance(element, Group) and element.members:
        element = element.members[0]
    inner: Value | None = element
    if pipeline.source.kind == "directory" and pipeline.source.call is not None:
        mode = pipeline.source.call.argument(None, "color_mode")
        known = mode is None or (isinstance(mode, Literal) and mode.value == "rgb")
        root = Scaling("image", channels="RGB" if known else "")
        if "image_dataset" not in pipeline.source.call.name:
            return None
        return _from_root(inner, root, depth)
    return scaling_of(inner, depth - 1)


def _from_root(value: Value | None, root: Scaling, depth: int) -> Scaling | None:
    """The scaling of a value that begins at an element of a dataset about which nothing more is said."""
    if isinstance(value, Element) and value.of is None:
        return root
    if isinstance(value, Element):
        return _from_root(value.of, root, depth - 1)
    if depth == 0 or value is None:
        return None
    if isinstance(value, Operation):
        return _of_operation(value, depth, root)
    if isinstance(value, Call):
        return _of_call(value, depth, root)
    return None


def _inner(value: Value | None, depth: int, root: Scaling | None) -> Scaling | None:
    return scaling_of(value, depth - 1) if root is None else _from_root(value, root, depth - 1)


def _of_call(call: Call, depth: int, root: Scaling | None = None) -> Scaling | None:  # noqa: C901, PLR0911, PLR0912 - one for each library
    name = call.name
    if _DECODER.fullmatch(name):
        channels = call.argument(1, "channels")
        grey = isinstance(channels, Literal) and channels.value == 1
        return Scaling("image", channels="" if grey else "RGB")
    if name in ("numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "pandas.read_csv"):
        return Scaling(("array", name, id(call)))
    if name in ("cv2.imread", "cv2.imdecode"):
        mode = call.argument(1, "flags")
        grey = isinstance(mode, Symbol) and "GRAY" in mode.path
        grey |= isinstance(mode, Literal) and mode.value == 0
        return Scaling("image", channels="" if grey else "BGR")
    if _RGB_READERS.fullmatch(name):
        grey_mode = call.argument(None, "color_mode", "mode")
        flag = call.argument(None, "grayscale", "as_gray")
        return Scaling("image", channels="RGB" if grey_mode is None and flag is None else "")
    if name == "cv2.cvtColor":
        return _converted(call, _inner(call.argument(0), depth, root))
    if name == "tensorflow.image.convert_image_dtype":
        inner = _inner(call.argument(0), depth, root)
        to_float = (dtype_named(call.argument(1, "dtype")) or "").startswith("float")
        if inner is None or not to_float:
            return None
        return inner.times(1 / 255) if _is_whole(call.argument(0)) else inner
    if _PREPROCESS.fullmatch(name) or name == "tensorflow.image.per_image_standardization":
        found = _inner(call.argument(0, "x", "image"), depth, root)
        return None if found is None else _preprocessed(found, name)
    if name in (".transform", ".fit_transform"):
        return _transformed(call, depth, root)
    inside = functools.cache(lambda value: _inner(value, depth, root))  # twice at each of many layers takes ages
    of_torch = torch_scaling(call, inside)
    if of_torch is not None:
        return of_torch
    if _TO_SHARES.fullmatch(name):
        return _as_shares(call, _inner(call.argument(0), depth, root))
    if name == "()":
        return _layer(call.receiver, inside(call.argument(0)))
    if _KEEPS_FIRST.fullmatch(name):
        return _inner(call.argument(0), depth, root)
    if _KEEPS_RECEIVER.fullmatch(name):
        found = _inner(call.receiver, depth, root)
        mode = call.argument(0, "mode")
        if name == ".convert" and found is not None and isinstance(mode, Literal) and mode.value != "RGB":
            return replace(found, channels="")
        return found
    return None


def _is_filled(call: Call) -> bool:
    """An array whose rows are stored one by one, all made in the same way."""
    return bool(call.filled) and all(type(one) is type(call.filled[0]) for one in call.filled)


def _as_shares(call: Call, found: Scaling | None) -> Scaling | None:
    """Bytes become numbers from 0 to 1; what has been scaled already stays as it is."""
    kept = call.argument(None, "preserve_range")
    if found is None or (isinstance(kept, Literal) and kept.value):
        return found
    return found.times(1 / 255) if found.root == "image" and found.factor == 1 else found


def _converted(call: Call, found: Scaling | None) -> Scaling | None:
    code = call.argument(1, "code")
    path = code.path if isinstance(code, Symbol) else ""
    if found is None or not path:
        return None
    if path.endswith(("BGR2RGB", "RGB2BGR")):
        other = {"RGB": "BGR", "BGR": "RGB"}.get(found.channels, "")
        return replace(found, channels=other)
    return replace(found, channels="") if "GRAY" in path else None


def _is_whole(value: Value | None) -> bool:
    """It is still a decoder's whole numbers, which alone are scaled by convert_image_dtype."""
    while value is not None:
        if is_decoder(value):
            return True
        changed = isinstance(value, Call) and value.name in ("tensorflow.cast", "tensorflow.image.resize")
        known = isinstance(value, Call) and not changed and _KEEPS_FIRST.fullmatch(value.name)
        value = value.argument(0) if known and isinstance(value, Call) else None
    return False


def _preprocessed(found: Scaling, path: str) -> Scaling | None:
    match = _PREPROCESS.fullmatch(path)
    if match is None:
        return found.after(path.rpartition(".")[2]) if path.endswith("per_image_standardization") else None
    if _AS_IT_IS.fullmatch(match[1]):
        return found
    if _TO_ONE.fullmatch(match[1]):
        return found.times(1 / 127.5, -1.0)
    return found.after(f"{match[1]}.preprocess_input")


def _transformed(call: Call, depth: int, root: Scaling | None) -> Scaling | None:
    found = _inner(call.argument(0), depth, root)
    maker = call.receiver
    while isinstance(maker, Call) and maker.name == ".fit":
        maker = maker.receiver
    if found is None or not isinstance(maker, Call):
        return None
    return found.after(maker.name.rpartition(".")[2])


def _layer(layer: Value | None, found: Scaling | None) -> Scaling | None:
    if found is None or not isinstance(layer, Call):
        return None
    if layer.name == "keras.layers.Rescaling":
        factor, offset = _number(layer.argument(0, "scale")), _number(layer.argument(1, "offset") or Literal(0.0))
        return None if factor is None or offset is None else found.times(factor, offset)
    if layer.name in ("keras.layers.Resizing", "keras.layers.CenterCrop"):
        return found
    if layer.name.startswith("keras.layers.Random") and layer.argument(None, "value_range") is None:
        return found
    if layer.name in ("keras.Sequential", "keras.models.Sequential"):
        members = layer.argument(0, "layers")
        for member in members.members if isinstance(members, Group) else ():
            found = _layer(member, found)
        return found if isinstance(members, Group) else None
    return None


def _of_operation(value: Operation, depth: int, root: Scaling | None = None) -> Scaling | None:
    if len(value.operands) != 2 or value.operator not in ("+", "-", "*", "/"):
        return None
    left, right = value.operands
    if isinstance(left, Literal) and value.operator in ("+", "*"):
        left, right = right, left
    found = _inner(left, depth, root)
    if found is None:
        return None
    number = _number(right)
    constants = _channel_constants(right) if number is None and value.operator in ("-", "/") else None
    if constants is not None:
        if value.operator == "-" or not found.shift:
            return replace(found, shift=constants) if value.operator == "-" and not found.shift else None
        return replace(found, shift=()).normalised(found.shift, constants)
    if number is None:
        if value.operator in ("+", "*") or not any(
            isinstance(one, Call) and _STATISTIC.fullmatch(one.name) for one in walk(right, 20)
        ):
            return None
        return found if "standardised" in found.steps else found.after("standardised")
    if value.operator == "/":
        return None if number == 0 else found.times(1 / number)
    if value.operator == "*":
        return found.times(number)
    return found.times(1.0, number if value.operator == "+" else -number)


def _channel_constants(value: Value) -> tuple[float, ...] | None:
    """The constants of the three channels, written as an array or a tensor of any shape."""
    while isinstance(value, Call) and (value.name in _ARRAYS or value.name in (".view", ".reshape", ".astype", ".to")):
        inner = value.receiver if value.name.startswith(".") else value.argument(0)
        value = inner if inner is not None else Literal(None)
    while isinstance(value, Item) and not value.attribute:
        value = value.base
        if isinstance(value, Call) and value.name in _ARRAYS and value.args:
            value = value.args[0]
    numbers = [one.value for one in value.members if isinstance(one, Literal)] if isinstance(value, Group) else []
    whole = len(numbers) == 3 and all(isinstance(one, int | float) for one in numbers)
    return tuple(numbers) if whole else None


_ARRAYS = {"numpy.array", "numpy.asarray", "torch.tensor", "torch.as_tensor", "torch.FloatTensor", "numpy.float32"}


def _of_item(value: Item, depth: int) -> Scaling | None:  # noqa: C901, PLR0911 - one for each way to take a part
    if isinstance(value.index, Item) and _is_fold(value.index):
        whole = scaling_of(value.base, depth - 1)
        if whole is not None and whole.root == "image":
            return whole
        return Scaling(("split", id(value.base)), steps=whole.steps if whole is not None else ())
    if isinstance(value.base, Call) and value.base.name == ".read" and _is_camera(value.base.receiver):
        return Scaling("image", channels="BGR")
    part = split_part(value)
    if part is not None:
        whole = scaling_of(part.whole, depth - 1)
        if whole is not None and whole.root == "image":
            return whole
        steps = whole.steps if whole is not None else ()
        return Scaling(("split", id(part.split), id(part.whole)), steps=steps)
    if value.attribute:
        kept = isinstance(value.index, Literal) and value.index.value in ("values", "T")
        return scaling_of(value.base, depth - 1) if kept else None
    base = value.base
    if isinstance(base, Item) and isinstance(base.base, Call) and _ARRAY_READERS.fullmatch(base.base.name):
        return Scaling(("array", base.base.name, id(base.base)))
    if _reverses(value.index):
        found = scaling_of(base, depth - 1)
        return None if found is None else replace(found, channels={"RGB": "BGR", "BGR": "RGB"}.get(found.channels, ""))
    if isinstance(value.index, Literal) and isinstance(value.index.value, str):
        table = scaling_of(base, depth - 1)
        if table is None or not isinstance(table.root, tuple) or table.root[0] != "array":
            return None
        return replace(table, root=(*table.root, value.index.value))
    if isinstance(value.index, Group) and value.index.is_list:
        table, names = scaling_of(base, depth - 1), tuple(bound_key(one) for one in value.index.members)
        if table is None or not isinstance(table.root, tuple) or not all(isinstance(one, str) for one in names):
            return None
        return replace(table, root=(*table.root, names))
    if isinstance(value.index, Operation) and value.index.operator == "compare":
        return scaling_of(base, depth - 1)  # some of its rows
    row = isinstance(value.index, Literal) and isinstance(value.index.value, int)
    if isinstance(value.index, Slice) or _adds_axis(value.index) or row:
        return scaling_of(base, depth - 1)
    chosen = scaling_of(base, depth - 1) if isinstance(value.index, Call | Item) else None
    return chosen if chosen is not None and chosen.root == "image" else None  # rows, in an order of their own


def _is_fold(index: Item) -> bool:
    """The numbers of the rows of a fold: of `for train, test in KFold(5).split(x)`."""
    split = index.base.base if isinstance(index.base, Item) else None
    splitter = split.receiver if isinstance(split, Call) and split.name == ".split" else None
    return isinstance(splitter, Call) and splitter.name.startswith("sklearn.model_selection.")


def _is_camera(value: Value | None) -> bool:
    return isinstance(value, Call) and value.name == "cv2.VideoCapture"


def _adds_axis(index: Value) -> bool:
    members = index.members if isinstance(index, Group) else (index,)
    return all(
        isinstance(one, Slice)
        or (isinstance(one, Literal) and (one.value is None or one.value is ...))
        or (isinstance(one, Symbol) and one.path.endswith("newaxis"))
        for one in members
    )


def _reverses(index: Value) -> bool:
    last = index.members[-1] if isinstance(index, Group) and index.members else None
    return isinstance(last, Slice) and isinstance(last.step, Literal) and last.step.value == -1


def _number(value: Value | None) -> float | None:
    known = isinstance(value, Literal) and isinstance(value.value, int | float)
    return float(value.value) if known and isinstance(value, Literal) else None
