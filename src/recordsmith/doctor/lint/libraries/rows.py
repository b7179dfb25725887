"""Where the rows of an input come from, in which order they are, and which part of them is taken."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Parameter,
    Slice,
    Symbol,
    Unknown,
    Value,
    walk,
)

__all__ = [
    "PERMUTES",
    "Rows",
    "bound_key",
    "is_alike",
    "is_copy_of",
    "is_same_part",
    "own_statistics",
    "rows_of",
    "slice_range",
]

PERMUTES = {
    "numpy.random.permutation",
    "torch.randperm",
    "tensorflow.random.shuffle",
    "sklearn.utils.shuffle",
    ".permutation",
}
_KEEPS_FIRST = re.compile(
    r"numpy\.(array|asarray|stack|expand_dims|squeeze|float32|abs|log|log1p|nan_to_num|ascontiguousarray)"
    r"|tensorflow\.(cast|constant|convert_to_tensor|expand_dims|squeeze|one_hot)|builtins\.(list|tuple)"
    r"|keras\.utils\.to_categorical|keras\.(preprocessing\.sequence|utils)\.pad_sequences"
    r"|\.(transform|fit_transform|inverse_transform|texts_to_sequences)"
    r"|torch\.(from_numpy|tensor|as_tensor|FloatTensor|LongTensor|Tensor|stack|unsqueeze|squeeze)"
    r"|numpy\.(flip|fliplr|flipud|rot90|roll|clip|copy)|tensorflow\.image\.(flip|rot90|random|adjust)\w*"
)
_KEEPS_RECEIVER = re.compile(
    r"\.(astype|copy|to_numpy|reshape|fillna|toarray|tolist|map|apply|replace|ravel|flatten|squeeze|reset_index|clip"
    r"|to|float|double|long|int|cuda|cpu|clone|contiguous|view|unsqueeze|numpy|detach)"
)
_STATISTIC = re.compile(r"(numpy)?\.(mean|std|min|max|var|amin|amax)")
_RANDOM = re.compile(r"random|sample|shuffle|choice|permut|integers|normal|uniform")
_COLUMNS = {"values", "data", "target", "iloc", "loc", "to_numpy"}
_MOST_STEPS = 60


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of an input.

    Attributes:
        origin: what they were read from or made by.
        orders: the random orders that they were put into, first to last: ("index", its identity) or ("seed", its seed);
            and how they were copied: ("repeat", count) for a, a, b, b and ("tile", count) for a, b, a, b.
        cuts: the slices that were taken of them, first to last; columns do not count.
    """

    origin: Value
    orders: tuple[tuple[str, object], ...] = ()
    cuts: tuple[Slice, ...] = ()


def rows_of(value: Value, *, through_lists: bool = True) -> Rows:
    """Return where the rows of an input come from, as far as the source says it; not `through_lists` stops at a list.

    >>> table = Call("pandas.read_csv", None)
    >>> column = Item(table, Literal("age"))
    >>> rows_of(Operation("/", (column, Literal(100)))).origin is table
    True
    """
    orders: list[tuple[str, object]] = []
    cuts: list[Slice] = []
    for _ in range(_MOST_STEPS):
        inner = _order(value, orders) or _copied(value, orders) or _kept(value, cuts)
        if inner is None or (isinstance(value, Many) and not through_lists):
            break
        value = inner
    return Rows(value, tuple(reversed(orders)), tuple(reversed(cuts)))


def _order(value: Value, orders: list[tuple[str, object]]) -> Value | None:
    """What a value was before it was put into a random order, if it was."""
    call: Value = value.index if isinstance(value, Item) and isinstance(value.index, Call) else value
    position = 0
    if isinstance(value, Item) and isinstance(value.base, Call) and isinstance(value.index, Literal):
        call, position = value.base, value.index.value
    if not isinstance(call, Call):
        return None
    if call.name == ".sample" and isinstance(share := call.argument(1, "frac"), Literal) and share.value == 1:
        inner = call.receiver
    elif call.name not in PERMUTES:
        return None
    elif call is getattr(value, "index", None) and isinstance(value, Item):
        inner = value.base
    else:
        inner = call.args[position] if isinstance(position, int) and position < len(call.args) else None
    seed = call.argument(None, "seed", "random_state")
    orders.append(("index", id(call)) if seed is None else ("seed", bound_key(seed)))
    return inner


def _copied(value: Value, orders: list[tuple[str, object]]) -> Value | None:
    """What a value was before each of its rows, or all of them in turn, were copied, if they were."""
    match value:
        case Call(name="numpy.repeat", args=(inner, count)) | Call(name="numpy.repeat", args=(inner, count, _)):
            axis = value.argument(2, "axis")
            if axis is None or (isinstance(axis, Literal) and axis.value == 0):
                orders.append(("repeat", bound_key(count)))
                return inner
        case Call(name="numpy.tile", args=(inner, count)):
            first = count.members[0] if isinstance(count, Group) and count.members else count
            orders.append(("tile", bound_key(first)))
            return inner
        case Operation(operator="*", operands=(Many() | Group(is_list=True) as inner, Literal(value=int() as times))):
            orders.append(("tile", times))
            return inner
        case Many(over=(inner, Call(name="builtins.range", args=(count,)))):
            orders.append(("repeat", bound_key(count)))
            return inner
    return None


def is_copy_of(value: Value, whole: Value) -> bool:
    """Tell whether a value has a changed copy of every row of another one, as its mirror image has.

    >>> images = Call("numpy.load", None)
    >>> is_copy_of(Call("numpy.fliplr", None, (images,)), images)
    True
    """
    for _ in range(_MOST_STEPS):
        cuts: list[Slice] = []
        column = isinstance(value, Item) and isinstance(value.index, Literal | Group) and not cuts
        inner = _kept(value, cuts)
        if inner is None or cuts or (column and isinstance(value, Item) and not _is_whole(value.index)):
            return False
        value = inner
        if value is whole:
            return True
    return False


def _is_whole(index: Value) -> bool:
    """All rows, in their order, as of `images[:, :, ::-1]`."""
    members = index.members if isinstance(index, Group) and not index.is_list else ()
    return bool(members) and isinstance(members[0], Slice)


def _kept(value: Value, cuts: list[Slice]) -> Value | None:  # noqa: PLR0911 - one for each way
    """What a value was made from row by row."""
    match value:
        case Call(name=".pop" | ".set_index" | ".sort_values" | ".drop" | ".dropna" | ".rename", receiver=inner):
            return inner if value.name != ".pop" else None
        case Call(name=name) if _KEEPS_FIRST.fullmatch(name):
            return value.argument(0)
        case Call(name=".permute" | ".transpose", args=(Literal(value=0), *_)):
            return value.receiver
        case Call(name=name) if _KEEPS_RECEIVER.fullmatch(name):
            return value.receiver
        case Operation(operands=(first, second)):
            return second if isinstance(first, Literal) else first
        case Many(over=(one,)):
            return one
        case Item(attribute=True, index=Literal(value=name)):
            return value.base if name in _COLUMNS else None
        case Item(index=Slice() as cut):
            cuts.append(cut)
            return value.base
        case Item(index=Group(members=(Slice() as cut, *_))):
            if cut.lower is not None or cut.upper is not None:
                cuts.append(cut)
            return value.base
        case Item(index=Literal(value=str())) | Item(index=Group(is_list=True)):
            return value.base
    return None


def own_statistics(value: Value) -> Operation | None:
    """Return `(x - x.mean()) / x.std()`, if a value is that: scaled by statistics of the very same rows.

    >>> x = Call("numpy.load", None)
    >>> own_statistics(Operation("/", (x, Call(".max", x)))) is not None
    True
    """
    if not isinstance(value, Operation) or value.operator not in ("/", "-") or len(value.operands) != 2:
        return None
    left, right = value.operands
    inner = left.operands[0] if isinstance(left, Operation) and left.operator == "-" else left
    statistics = [one for one in walk(right, 40) if isinstance(one, Call) and _STATISTIC.fullmatch(one.name)]
    if not statistics or isinstance(inner, Literal):
        return None
    measured = [one.receiver or one.argument(0) for one in statistics]
    of_itself = all(is_same_part(one, inner) or is_alike(one, inner) for one in measured)
    return value if of_itself else None


def is_same_part(first: Value | None, second: Value) -> bool:
    """Tell whether two values are one value, or the same rows or columns of it.

    >>> table = Call("pandas.read_csv", None)
    >>> is_same_part(Item(table, Literal("age")), Item(table, Literal("age")))
    True
    """
    if first is second:
        return True
    if not isinstance(first, Item) or not isinstance(second, Item) or first.attribute != second.attribute:
        return False
    same_index = first.index is second.index or is_alike(first.index, second.index)
    return same_index and is_same_part(first.base, second.base)


def bound_key(value: Value | None) -> object:
    """Return what two bounds have in common that are written alike; their identity, if they are not written down."""
    if value is None or isinstance(value, Literal):
        return None if value is None else value.value
    return id(value) if value.node is None else ast.unparse(value.node)


def is_alike(first: Value | None, second: Value | None, depth: int = 12) -> bool:
    """Tell whether two values are made in the same way from the same constants; what is not known differs.

    >>> is_alike(Call("pandas.read_csv", None, (Literal("a"),)), Call("pandas.read_csv", None, (Literal("b"),)))
    False
    """
    if first is second or first is None or second is None or depth == 0:
        return first is second
    if isinstance(first, Literal) and isinstance(second, Literal):
        return bool(first.value == second.value)
    if isinstance(first, Symbol) and isinstance(second, Symbol):
        return first.path == second.path
    if isinstance(first, Parameter):
        return False  # another option, or the parameter of another call
    if isinstance(first, Call) and isinstance(second, Call) and first.name != second.name:
        return False
    if isinstance(first, Call) and _RANDOM.search(first.name):
        return False  # drawn twice
    if isinstance(first, Item) and isinstance(second, Item) and _is_any(first) and _is_any(second):
        return is_alike(first.base, second.base, depth - 1)
    if isinstance(first, Slice) and isinstance(second, Slice):
        return all(is_alike(getattr(first, end), getattr(second, end), depth - 1) for end in ("lower", "upper"))
    parts = [list(one.parts()) for one in (first, second)]
    same = type(first) is type(second) and len(parts[0]) == len(parts[1]) and not isinstance(first, Unknown)
    return same and all(is_alike(one, other, depth - 1) for one, other in zip(*parts, strict=True))


def _is_any(value: Item) -> bool:
    """It stands for any one member of a collection that a loop goes over; it is written nowhere."""
    return value.node is None and isinstance(value.index, Unknown) and value.index.node is None


def slice_range(cut: Slice | None) -> tuple[float, float] | None:
    """Return the first row of a slice and the one after its last, where both are plain numbers.

    >>> slice_range(Slice(Literal(10), None, None))
    (10, inf)
    """
    if cut is None:
        return (0, float("inf"))
    lower, upper = bound_key(cut.lower or Literal(0)), bound_key(cut.upper or Literal(float("inf")))
    whole = [one for one in (lower, upper) if isinstance(one, int | float) and one >= 0]
    return (whole[0], whole[1]) if len(whole) == 2 and cut.step is None else None
