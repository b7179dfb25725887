"""The examples of a PyTorch dataset: what each of their parts went through, by data flow and not by names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Element,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Symbol,
    Table,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.arrays import dtype_named
from recordsmith.doctor.lint.libraries.randomness import draws
from recordsmith.doctor.lint.libraries.torch.transforms import is_geometric, is_random_step, step_name, transform_steps

__all__ = [
    "as_it_is",
    "called",
    "is_class_numbers",
    "is_coordinates",
    "is_moved",
    "leaves",
    "moved_at_random",
    "random_transform",
]

_MOST_PARTS = 300
_WHOLE = ("long", "int64", "int32", "int", "int16")
_CONVERTS = re.compile(
    r"\.(to|astype|type|float|squeeze|unsqueeze|permute|contiguous|copy|view|reshape|clone)"
    r"|torch\.(from_numpy|tensor|as_tensor|squeeze|unsqueeze)|numpy\.(array|asarray|squeeze|expand_dims)"
)
_MOVES = re.compile(
    r"(torchvision\.transforms\.(v2\.)?functional\.|cv2\.|numpy\.|torch\.|PIL\.ImageOps\.|scipy\.ndimage\.|)\.?"
    r"(hflip|vflip|horizontal_flip|vertical_flip|flip|fliplr|flipud|rot90|rotate|warpAffine|affine|mirror|crop|resized_crop|roll)"
)


def leaves(element: Value) -> list[Value]:
    """Return the parts of an example: the members of tuples and dicts, without their batch.

    >>> [one.path for one in leaves(Group((Table({"x": Symbol("a")}), Symbol("b"))))]
    ['a', 'b']
    """
    found: list[Value] = []
    waiting = [element]
    while waiting and len(found) < _MOST_PARTS:
        one = waiting.pop(0)
        if isinstance(one, Element) and one.of is not None and one.kind in ("", "slice"):
            one = one.of if one.kind == "" else one
        if isinstance(one, Group | Table):
            waiting = [*one.parts(), *waiting]
        else:
            found.append(one)
    return found


def is_class_numbers(value: Value) -> bool:
    """Tell whether a part of an example is made of whole numbers for certain, as classes of pixels are.

    >>> is_class_numbers(Call(".long", Symbol("mask")))
    True
    """
    for _ in range(8):
        if isinstance(value, Item) and not value.attribute:
            value = value.base
            continue
        if not isinstance(value, Call):
            return isinstance(value, Operation) and value.operator == "compare"
        if value.name in (".long", ".int", "torch.LongTensor"):
            return True
        kind = value.argument(1 if value.name.startswith(("torch.", "numpy.")) else 0, "dtype")
        named = kind.path.rpartition(".")[2] if isinstance(kind, Symbol) else dtype_named(kind)
        if named in _WHOLE and _CONVERTS.fullmatch(value.name):
            return True
        inner = value.receiver if value.name.startswith(".") else value.argument(0)
        if inner is None or not _CONVERTS.fullmatch(value.name):
            return False
        value = inner
    return False


def as_it_is(value: Value) -> Iterator[Value]:
    """Yield a value and what its numbers come from, up to a comparison or rounding, after which they are others."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < _MOST_PARTS:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Operation) and one.operator == "compare":
            continue
        if isinstance(one, Call) and re.search(r"(where|round|rint|threshold|argmax|argmin|digitize)$", one.name):
            continue
        yield one
        match one:
            case Call(name=name):
                inner = one.receiver if name.startswith(".") or name == "()" else one.argument(0)
                waiting += [part for part in (one.argument(0) if name == "()" else inner,) if part is not None]
            case Item(base=base):
                waiting.append(base)
            case Element(of=Value() as of):
                waiting.append(of)
            case Operation(operands=operands):
                waiting += operands
            case Choice(options=options):
                waiting += [option for _, option in options] if draws(one.by) else []


def called(call: Call) -> str:
    """Return the name of what moves or changes an example, as `RandomCrop` or `hflip`."""
    steps = transform_steps(call.receiver)[0] if call.name == "()" else [call]
    random = [one for one in steps if is_random_step(one)] or [call]
    return step_name(random[0]) or random[0].name.rpartition(".")[2]


def is_coordinates(value: Value) -> bool:
    """Tell whether a part is a list of points or boxes, one in each row: `.reshape(-1, 2)`, 4 or 5 numbers each."""
    for one in walk(value, 60):
        sizes = one.args if isinstance(one, Call) and one.name in (".reshape", ".view") else ()
        sizes = sizes[0].members if len(sizes) == 1 and isinstance(sizes[0], Group) else sizes
        numbers = [part.value for part in sizes if isinstance(part, Literal)]
        if len(sizes) == 2 and len(numbers) == 2 and numbers[0] == -1 and numbers[1] in (2, 4, 5):
            return True
    return False


def is_moved(value: Value) -> bool:
    """Tell whether anything may have moved the pixels of a part, or something unknown was done to it."""
    for one in walk(value, _MOST_PARTS):
        if isinstance(one, Call) and (_MOVES.fullmatch(one.name) or _geometric(one)):
            return True
        if isinstance(one, Call) and one.name == "()" and not transform_steps(one.receiver)[1]:
            return True
        if isinstance(one, Item) and any(isinstance(part, Many) for part in (one.base,)):
            return True
    return False


def moved_at_random(value: Value) -> Call | None:
    """Return what moves the pixels of a part at random: a random transform, or a flip that a random number decides."""
    waiting: list[tuple[Value, bool]] = [(value, False)]
    seen: set[tuple[int, bool]] = set()
    while waiting and len(seen) < _MOST_PARTS:
        one, by_chance = waiting.pop(0)
        if (id(one), by_chance) in seen:
            continue
        seen.add((id(one), by_chance))
        if isinstance(one, Choice):
            by_chance |= draws(one.by)
            waiting += [(option, by_chance) for _, option in one.options] if draws(one.by) else []
            continue
        if isinstance(one, Call):
            drawn = by_chance or any(draws(part) for part in (*one.args[1:], *one.keywords.values()))
            if _geometric(one) or (drawn and _MOVES.fullmatch(one.name)):
                return one
        waiting += [(part, by_chance) for part in one.parts()]
    return None


def random_transform(value: Value) -> Call | None:
    """Return the random transform of a library that a value certainly went through."""
    for one in walk(value, _MOST_PARTS):
        if isinstance(one, Call) and one.name == "()" and any(map(is_random_step, transform_steps(one.receiver)[0])):
            return one
    return None


def _geometric(call: Call) -> bool:
    return call.name == "()" and any(map(is_geometric, transform_steps(call.receiver)[0]))
