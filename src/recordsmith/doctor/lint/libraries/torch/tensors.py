"""What the source says about PyTorch tensors: the last operation, and the shape of one example."""

from __future__ import annotations

import re

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Element,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Slice,
    Table,
    Value,
)
from recordsmith.doctor.lint.libraries.arrays import shape_of

__all__ = ["Layer", "example_shape", "last_layer", "sequence_of", "tensor_shape"]

_ACTIVATIONS = {
    "softmax": "softmax",
    "softmax2d": "softmax",
    "log_softmax": "log_softmax",
    "logsoftmax": "log_softmax",
    "sigmoid": "sigmoid",
    "logsigmoid": "logsigmoid",
    "relu": "relu",
    "tanh": "tanh",
}
_KEEPS = {
    ".squeeze", ".unsqueeze", ".view", ".reshape", ".flatten", ".to", ".float", ".double", ".half", ".contiguous",
    ".permute", ".transpose", ".cuda", ".cpu", ".type", ".clone", ".requires_grad_", ".view_as", ".t",
    "torch.squeeze", "torch.unsqueeze", "torch.flatten", "torch.reshape", "torch.transpose", "torch.permute",
}  # fmt: skip
_SAME_SHAPE = {
    ".to", ".float", ".double", ".half", ".cuda", ".cpu", ".type", ".clone", ".contiguous", ".long", ".int", ".bool",
    ".astype", ".copy", ".detach", ".requires_grad_", ".numpy", ".relu", ".sigmoid", ".tanh", ".abs", ".exp", ".log",
    ".pow", ".square", ".sqrt", ".sin", ".cos", ".clip", ".clamp",
    "torch.from_numpy", "torch.as_tensor", "torch.tensor", "torch.FloatTensor", "torch.LongTensor", "torch.Tensor",
    "numpy.array", "numpy.asarray", "torch.sin", "torch.cos", "torch.exp", "torch.sigmoid", "torch.relu", "torch.tanh",
    "numpy.sin", "numpy.cos", "numpy.exp", "torch.autograd.Variable", "torch.log", "torch.square", "torch.sqrt",
}  # fmt: skip
_FROM_SIZE = {"torch.randn": 0, "torch.rand": 0, "torch.zeros": 0, "torch.ones": 0, "torch.empty": 0}
_RAW = re.compile(r"torch\.nn\.(Linear|LazyLinear|Bilinear|Conv[123]d|ConvTranspose[123]d|Embedding)")
_ONLY_SHAPES = re.compile(r"torch\.nn\.(Flatten|Unflatten|Identity)")
_SAME_LAYERS = re.compile(
    r"torch\.nn\.(\w*ReLU\w*|Sigmoid|Tanh|\w*Dropout\w*|\w*Norm\w*|Identity|GELU|SiLU|ELU|Softplus)"
)

Layer = tuple[str, Call]


def last_layer(value: Value | None, depth: int = 30) -> Layer | None:
    """Return what gave a tensor its values, and its call: an activation, or "" for raw scores; None if it is not known.

    >>> last_layer(Call("torch.nn.functional.softmax", None))[0]
    'softmax'
    """
    if depth == 0:
        return None
    match value:
        case Call(name="()", receiver=Call() as module):
            return _of_module(module, depth)
        case Call(name=name) if name in _KEEPS:
            inner = value.receiver if name.startswith(".") else value.argument(0, "input")
            return last_layer(inner, depth - 1)
        case Call(name=name):
            short = name.rpartition(".")[2]
            library = name.startswith(("torch.nn.functional.", "torch.special.")) or name in (
                f"torch.{short}",
                f".{short}",
            )
            if library and short in _ACTIVATIONS:
                return _ACTIVATIONS[short], value
            return ("", value) if name in ("torch.nn.functional.linear", "torch.nn.functional.conv2d") else None
        case Item(base=base, index=Slice() | Group(), attribute=False):
            return last_layer(base, depth - 1)
        case Choice(options=options):
            found = [last_layer(one, depth - 1) for _, one in options]
            return found[0] if found and all(one and found[0] and one[0] == found[0][0] for one in found) else None
    return None


def _of_module(module: Call, depth: int) -> Layer | None:
    if _RAW.fullmatch(module.name):
        return "", module
    short = module.name.rpartition(".")[2].lower()
    if module.name.startswith("torch.nn.") and short in _ACTIVATIONS:
        return _ACTIVATIONS[short], module
    if module.name.startswith(("torchvision.models.", "timm.")):
        heads = [module.replaced[name] for name in ("fc", "classifier", "head", "heads") if name in module.replaced]
        return _of_module(heads[0], depth - 1) if heads and isinstance(heads[0], Call) and depth else None
    if module.name.startswith("segmentation_models_pytorch."):
        given = module.argument(None, "activation")
        named = given.value if isinstance(given, Literal) else None
        return (_ACTIVATIONS[named], module) if named in _ACTIVATIONS else None
    layers = sequence_of(module) or []
    while len(layers) > 1 and _ONLY_SHAPES.fullmatch(layers[-1].name):
        layers = layers[:-1]
    return _of_module(layers[-1], depth - 1) if layers and depth else None


def sequence_of(module: Value | None) -> list[Call] | None:
    """Return the layers of an nn.Sequential; None if it is none, or they are not all known."""
    if not isinstance(module, Call) or module.name != "torch.nn.Sequential" or not module.exact:
        return None
    layers = module.args
    if len(layers) == 1 and isinstance(layers[0], Call) and layers[0].name == "collections.OrderedDict":
        pairs = layers[0].argument(0)
        if not isinstance(pairs, Group) or pairs.grown:
            return None
        layers = tuple(one.members[1] for one in pairs.members if isinstance(one, Group) and len(one.members) == 2)
    if len(layers) == 1 and isinstance(layers[0], Table):  # an OrderedDict that the program filled
        if not layers[0].complete:
            return None
        layers = tuple(layers[0].entries.values())
    found = [one for one in layers if isinstance(one, Call)]
    return found if found and len(found) == len(layers) else None


Shape = tuple[int | None, ...]


def tensor_shape(value: Value | None, depth: int = 30) -> Shape | None:  # noqa: C901, PLR0911, PLR0912 - one for each operation
    """Return the shape of a tensor; a size that is not known is None.

    >>> tensor_shape(Call("torch.randn", None, (Literal(640), Literal(10))))
    (640, 10)
    """
    if depth == 0 or value is None:
        return None
    known = shape_of(value)
    if known is not None:
        return known
    match value:
        case Literal(value=int() | float()):
            return ()
        case Element(of=of, batched=batched) if of is not None:
            shape = tensor_shape(of, depth - 1)
            if shape is None:
                return None
            one = shape[1:] if value.kind == "slice" else shape
            return (None, *one) if batched else one
        case Many():
            return None
        case Operation(operator="@", operands=(left, right)):
            return _product(tensor_shape(left, depth - 1), tensor_shape(right, depth - 1))
        case Operation(operator="+" | "-" | "*" | "/" | "**" | "%" | "compare", operands=operands):
            return _broadcast([tensor_shape(one, depth - 1) for one in operands])
        case Item(
            base=Call(name="sklearn.model_selection.train_test_split", args=args), index=Literal(value=int() as at)
        ):
            whole = tensor_shape(args[at // 2], depth - 1) if at // 2 < len(args) else None
            return None if whole is None else (None, *whole[1:])
        case Item(base=base, index=index, attribute=False):
            return _indexed(base, index, depth)
        case Item(base=base, index=Literal(value="values" | "data"), attribute=True):
            return tensor_shape(base, depth - 1)
        case Call(name="()", receiver=Call() as module, args=(inner, *_)):
            return _layer_shape(module, tensor_shape(inner, depth - 1), depth)
        case Call(name=name) if name in _FROM_SIZE:
            sizes = value.args[0] if len(value.args) == 1 and isinstance(value.args[0], Group) else Group(value.args)
            return tuple(_number(one) for one in sizes.members) if isinstance(sizes, Group) and sizes.members else None
        case Call(name="torch.randint"):
            size = value.argument(None, "size") or (value.args[-1] if value.args else None)
            return tuple(_number(one) for one in size.members) if isinstance(size, Group) else None
        case Call(name="torch.linspace" | "numpy.linspace"):
            return (_number(value.argument(2, "steps", "num")),)
        case Group(members=members) if members and value.is_list:
            shapes = [tensor_shape(one, depth - 1) for one in members]
            first = shapes[0]
            count = None if value.grown else len(members)
            return (count, *first) if first is not None and all(one == first for one in shapes) else None
        case Call(name="torch.matmul" | "torch.mm" | ".matmul" | ".mm"):
            pair = (
                (value.receiver, value.argument(0)) if name_is_method(value) else (value.argument(0), value.argument(1))
            )
            return _product(tensor_shape(pair[0], depth - 1), tensor_shape(pair[1], depth - 1))
        case Call(name=".unsqueeze" | "torch.unsqueeze"):
            return _unsqueezed(value, depth)
        case Call(name=".view" | ".reshape", args=(Item(attribute=True, index=Literal(value="shape"), base=like),)):
            return tensor_shape(like, depth - 1)
        case Call(name=".view" | ".reshape"):
            sizes = value.args[0] if len(value.args) == 1 and isinstance(value.args[0], Group) else Group(value.args)
            if not value.exact or (len(sizes.members) == 1 and not isinstance(sizes.members[0], Literal)):
                return None  # `y.view(shape)`, of any number of sizes
            return tuple(_number(one) for one in sizes.members)
        case Call(name=".flatten") if not value.args:
            return (None,)
        case Call(name=".squeeze" | "torch.squeeze"):
            return _squeezed(value, depth)
        case Call(name=".sum" | ".mean" | "torch.sum" | "torch.mean"):
            return _reduced(value, depth)
        case Call(name=".to_numpy" | ".tolist"):
            return tensor_shape(value.receiver, depth - 1)
        case Call(name="builtins.float" | "builtins.int"):
            return ()
        case Call(name=".pop", receiver=table, args=(Literal(value=str()),)) if _is_table(table):
            return (None,)
        case Call(name=".randn" | ".rand" | ".standard_normal", receiver=Call(name="numpy.random.RandomState")):
            return tuple(_number(one) for one in value.args)
        case Call(name=".fit_transform" | ".transform", receiver=Call(name=name)) if name.startswith("sklearn.preproc"):
            return (None, None)
        case Call(name=name) if name in _SAME_SHAPE:
            return tensor_shape(value.receiver if name.startswith(".") else value.argument(0), depth - 1)
    return None


def name_is_method(call: Call) -> bool:
    """Tell whether a call is one of a method."""
    return call.name.startswith(".")


def _layer_shape(module: Call, before: Shape | None, depth: int) -> Shape | None:
    if module.name == "torch.nn.Linear":
        size = _number(module.argument(1, "out_features"))
        return (*before[:-1], size) if before else None
    if module.name == "torch.nn.Flatten":
        first = module.argument(0, "start_dim")
        if first is not None:
            return (None,) if isinstance(first, Literal) and first.value == 0 else None
        return (before[0], None) if before else None
    if _SAME_LAYERS.fullmatch(module.name):
        return before
    layers = sequence_of(module)
    for layer in layers or ():
        before = _layer_shape(layer, before, depth)
    return before if layers else None


def _indexed(base: Value, index: Value, depth: int) -> Shape | None:
    if isinstance(index, Literal) and isinstance(index.value, str):  # a column of a table
        return (None,) if _is_table(base) else None
    if isinstance(index, Group) and index.is_list and _is_table(base):
        return (None, len(index.members))
    shape = tensor_shape(base, depth - 1)
    if not shape:
        return None
    parts = index.members if isinstance(index, Group) else (index,)
    rest: list[int | None] = []
    place = 0
    for part in parts:
        if isinstance(part, Literal) and part.value is None:
            rest.append(1)
            continue
        if isinstance(part, Slice):
            rest.append(None if part.lower or part.upper or part.step else shape[place] if place < len(shape) else None)
        elif not (isinstance(part, Element) or _is_place(part)):
            return None
        place += 1
    return (*rest, *shape[place:])


def _is_place(index: Value) -> bool:
    """It is one whole number: written down, of a `range`, or computed from one."""
    match index:
        case Literal(value=int()):
            return True
        case Item(base=Call(name="builtins.range"), attribute=False):
            return True
        case Operation(operator="+" | "-", operands=operands):
            return any(_is_place(one) and not isinstance(one, Literal) for one in operands)
    return False


def _is_table(value: Value | None) -> bool:
    while isinstance(value, Call) and value.name in (".dropna", ".sample", ".fillna", ".reset_index", ".copy"):
        value = value.receiver
    return isinstance(value, Call) and value.name.startswith("pandas.read_")


def _unsqueezed(call: Call, depth: int) -> Shape | None:
    method = name_is_method(call)
    shape = tensor_shape(call.receiver if method else call.argument(0), depth - 1)
    at = _number(call.argument(0 if method else 1, "dim"), negative=True)
    if shape is None or at is None:
        return None
    at += len(shape) + 1 if at < 0 else 0
    return (*shape[:at], 1, *shape[at:])


def _squeezed(call: Call, depth: int) -> Shape | None:
    method = name_is_method(call)
    shape = tensor_shape(call.receiver if method else call.argument(0), depth - 1)
    given = call.argument(0 if method else 1, "dim")
    if shape is None:
        return None
    if given is None:
        return None if None in shape[1:] else tuple(one for place, one in enumerate(shape) if one != 1 or place == 0)
    at = _number(given, negative=True)
    if at is None or not -len(shape) <= at < len(shape):
        return None
    at %= len(shape)
    return shape if shape[at] not in (1, None) else (*shape[:at], *shape[at + 1 :])


def _reduced(call: Call, depth: int) -> Shape | None:
    method = name_is_method(call)
    shape = tensor_shape(call.receiver if method else call.argument(0), depth - 1)
    given = call.argument(0 if method else 1, "dim", "axis")
    keep = call.argument(None, "keepdim", "keepdims")
    if given is None:
        return ()
    at = _number(given, negative=True)
    if shape is None or at is None or not -len(shape) <= at < len(shape) or not isinstance(keep, Literal | None):
        return None
    at %= len(shape)
    return (*shape[:at], *((1,) if keep is not None and keep.value else ()), *shape[at + 1 :])


def _number(value: Value | None, *, negative: bool = False) -> int | None:
    if isinstance(value, Literal) and isinstance(value.value, int) and (negative or value.value >= 0):
        return value.value
    return None


def _product(left: Shape | None, right: Shape | None) -> Shape | None:
    if not left or not right or len(right) > 2:
        return None
    return (*left[:-1], *right[1:])


def _broadcast(shapes: list[Shape | None]) -> Shape | None:
    if None in shapes or not shapes:
        return None
    known = [one for one in shapes if one is not None]
    longest = max(known, key=len)
    if all(one == longest or len(one) < len(longest) or one == () for one in known):
        return longest
    columns = [one for one in known if len(one) == len(longest)]  # (300, 16) and (300, 1)
    sizes = [{one[place] for one in columns} - {1} for place in range(len(longest))]
    return tuple(1 if not one else one.pop() if len(one) == 1 else None for one in sizes)


def example_shape(value: Value | None) -> Shape | None:
    """Return the shape of a batch, with None for the batch size."""
    shape = tensor_shape(value)
    return None if not shape else (None, *shape[1:])
