"""Which numbers a tensor of labels may have: their range, and whether they are integers."""

from __future__ import annotations

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Item,
    Literal,
    Many,
    Operation,
    Slice,
    Symbol,
    Table,
    Value,
)
from recordsmith.doctor.lint.libraries.labels import stored_column

__all__ = ["number_kind", "number_range"]

_CLASSES = {"MNIST": 10, "FashionMNIST": 10, "KMNIST": 10, "CIFAR10": 10, "CIFAR100": 100, "SVHN": 10, "STL10": 10}
_KEEPS = {
    ".long", ".to", ".cuda", ".int", ".astype", ".squeeze", ".view", ".flatten", ".clone", ".float", ".unsqueeze",
    ".reshape", ".to_numpy", ".type", ".tolist", ".repeat", ".repeat_interleave", ".expand",
}  # fmt: skip


def _labels_of(dataset: Call) -> tuple[int, int] | None:
    """The class numbers of a dataset of torchvision."""
    split = dataset.argument(1, "split")
    if dataset.name.endswith(".EMNIST") and isinstance(split, Literal) and split.value == "letters":
        return 1, 26
    classes = _CLASSES.get(dataset.name.rpartition(".")[2])
    return None if classes is None or dataset.argument(3, "target_transform") is not None else (0, classes - 1)


def number_range(value: Value | None, depth: int = 20) -> tuple[int, int] | None:  # noqa: C901, PLR0911, PLR0912 - one for each
    """Return the smallest and the largest integer that a tensor of labels may have, where the source says it.

    >>> number_range(Call("torch.randint", None, (Literal(1), Literal(6))))
    (1, 5)
    """
    if depth == 0:
        return None
    match value:
        case Element(kind="label", of=Call(name=name) as dataset) if name.startswith("torchvision.datasets."):
            return _labels_of(dataset)
        case Element(of=of) if of is not None:
            return number_range(of, depth - 1)
        case Call(name="torch.randint" | "numpy.random.randint" | ".integers" | "random.randint", args=args):
            numbers = [one.value for one in args if isinstance(one, Literal) and isinstance(one.value, int)]
            bounds = args[:2] if len(args) >= 2 and isinstance(args[1], Literal) else args[:1]
            if len(numbers) < len(bounds) or not bounds or value.argument(None, "low", "high") is not None:
                return None
            low, high = (numbers[0], numbers[1]) if len(bounds) == 2 else (0, numbers[0])
            by_size = len(args) == 2 and value.argument(None, "size") is None  # randint(9, (100,)) of torch has a tuple
            if value.name in ("numpy.random.randint", ".integers") and by_size:
                return None
            return (low, high if value.name == "random.randint" else high - 1)
        case Call(
            name="numpy.arange" | "torch.arange", args=(Literal(value=int() as low), Literal(value=int() as high))
        ):
            return (low, high - 1) if low < high else None
        case Call(name="numpy.repeat" | "numpy.tile" | "numpy.random.permutation" | "torch.repeat_interleave"):
            return number_range(value.argument(0), depth - 1)
        case Operation(operator="+" | "-" as sign, operands=(inner, Literal(value=int() as shift))):
            inside = number_range(inner, depth - 1)
            shift = shift if sign == "+" else -shift
            return None if inside is None else (inside[0] + shift, inside[1] + shift)
        case (
            Operation(operator="*", operands=(inner, Literal(value=int() as factor)))
            | Operation(operator="*", operands=(Literal(value=int() as factor), inner))
        ):
            inside = number_range(inner, depth - 1)
            ends = None if inside is None else sorted(one * factor for one in inside)
            return None if ends is None else (ends[0], ends[1])
        case Operation(operator="%", operands=(_, Literal(value=int() as modulus))):
            return 0, modulus - 1
        case Operation(operator="compare"):
            return 0, 1
        case Call(
            name="numpy.where" | "torch.where", args=(_, Literal(value=int() as one), Literal(value=int() as two))
        ):
            return min(one, two), max(one, two)
        case Call(name="numpy.sign" | "torch.sign" | ".sign"):
            return -1, 1
        case Item(base=Call(name="sklearn.datasets.make_classification") as made, index=Literal(value=1)):
            count = made.argument(None, "n_classes")
            return (0, 1) if count is None else (0, count.value - 1) if isinstance(count, Literal) else None
        case Item(
            base=Call(name="sklearn.model_selection.train_test_split", args=args), index=Literal(value=int() as at)
        ):
            return number_range(args[at // 2], depth - 1) if at // 2 < len(args) else None
        case Item(base=Table(entries=entries, complete=True), attribute=False) if entries:
            numbers = [one.value for one in entries.values() if isinstance(one, Literal)]
            whole = len(numbers) == len(entries) and all(type(one) is int for one in numbers)
            return (min(numbers), max(numbers)) if whole else None
        case Item() if (stored := stored_column(value)) is not None:
            return number_range(stored, depth - 1)
        case Item(base=base, index=Literal(value="values"), attribute=True):
            return number_range(base, depth - 1)
        case Item(base=base, index=Element() | Call() | Slice()) if not value.attribute:
            return number_range(base, depth - 1)
        case Many(member=member):
            return number_range(member, depth - 1)
        case Call(name=".map" | ".replace", args=(Table() as mapping,)):
            return number_range(Item(mapping, Element()), depth - 1)
        case Call(name=name) if name in _KEEPS:
            return number_range(value.receiver, depth - 1)
        case Call(name="torch.from_numpy" | "torch.tensor" | "torch.as_tensor" | "torch.LongTensor" | "builtins.int"):
            return number_range(value.argument(0), depth - 1)
    return None


_FLOATS = {".float", ".double", ".half", "torch.FloatTensor", "torch.randn", "torch.rand", "torch.sigmoid", ".sigmoid"}
_INTEGERS = {".long", ".int", "torch.LongTensor", "torch.IntTensor", "torch.randint", ".argmax", "torch.argmax"}
_SAME_KIND = {
    ".cuda", ".cpu", ".view", ".reshape", ".flatten", ".squeeze", ".unsqueeze", ".clone", ".contiguous", ".copy",
    ".to_numpy", "torch.from_numpy", "torch.squeeze", "torch.unsqueeze",
}  # fmt: skip
_CONVERTS = {".to", ".astype", ".type", "torch.tensor", "torch.as_tensor", "numpy.array", "numpy.asarray"}


def number_kind(value: Value | None, depth: int = 20) -> str | None:  # noqa: PLR0911 - one for each
    """Return "float", "integer" or "bool" for the numbers of a tensor, where the source says it.

    >>> number_kind(Call(".float", Call("torch.randint", None)))
    'float'
    """
    if depth == 0:
        return None
    match value:
        case Element(kind="label", of=Call(name=name) as dataset) if name.startswith("torchvision.datasets."):
            return None if _labels_of(dataset) is None else "integer"
        case Element(of=of) if of is not None:
            return number_kind(of, depth - 1)
        case Call(name=name) if name in _FLOATS:
            return "float"
        case Call(name=name) if name in _INTEGERS:
            return "integer" if value.argument(None, "dtype") is None else None
        case Call(name=name) if name in _CONVERTS:
            method = name.startswith(".")
            kind = value.argument(None, "dtype") or (value.argument(0) if method else value.argument(1))
            if isinstance(kind, Symbol | Literal) and (method or kind is value.argument(None, "dtype")):
                named = str(kind.path if isinstance(kind, Symbol) else kind.value).rpartition(".")[2]
                found = _KINDS.get(named.rstrip("0123456789"))
                if found is not None or name != ".to":
                    return found
            return number_kind(value.receiver if method else value.argument(0), depth - 1)
        case Call(name=name) if name in _SAME_KIND:
            return number_kind(value.receiver if name.startswith(".") else value.argument(0), depth - 1)
        case Operation(operator="compare"):
            return "bool"
        case Item() if (stored := stored_column(value)) is not None:
            return number_kind(stored, depth - 1)
        case Item(base=base, index=Element() | Slice() | Literal(value=int()), attribute=False):
            return number_kind(base, depth - 1)
    return None


_KINDS = dict.fromkeys(("float", "double", "half", "FloatTensor"), "float")
_KINDS |= dict.fromkeys(("int", "long", "short", "uint", "LongTensor"), "integer")
