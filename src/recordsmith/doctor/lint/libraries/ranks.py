"""How many dimensions an array has, where the source says it: labels in one row of numbers, or in a column."""

from __future__ import annotations

import re

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Slice,
    Value,
)
from recordsmith.doctor.lint.libraries.arrays import shape_of
from recordsmith.doctor.lint.libraries.fitting import split_part
from recordsmith.doctor.lint.libraries.rows import PERMUTES
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parsed_feature_of

__all__ = ["is_column", "rank_of"]

_KEEPS_FIRST = re.compile(
    r"tensorflow\.(cast|identity|abs|math\.log)|numpy\.(array|asarray|round|rint|abs|log|log1p|where|clip|float32|searchsorted)"
)
_KEEPS_RECEIVER = re.compile(
    r"\.(astype|copy|round|to_numpy|fillna|replace|map|shift|diff|reset_index|clip|dropna|pct_change|apply)"
)
_REDUCES = re.compile(r"(numpy)?\.(sum|mean|max|min|argmax|argmin|prod|any|all|std|median)")
_TABLES = re.compile(
    r"pandas\.(read_\w+|DataFrame|concat|merge)|\.(drop|sort_values|set_index|merge|sample|sort_index)"
)


def rank_of(value: Value | None, depth: int = 24) -> int | None:  # noqa: C901, PLR0911, PLR0912 - one for each way to make an array
    """Return the number of dimensions of an array or a table; None if the source does not say it.

    >>> table = Call("pandas.read_csv", None)
    >>> rank_of(table), rank_of(Item(table, Literal("age")))
    (2, 1)
    """
    if value is None or depth == 0:
        return None
    part = split_part(value)
    if part is not None:
        return rank_of(part.whole, depth - 1)
    match value:
        case Call(name=".flatten" | ".ravel" | ".pop" | ".tolist"):
            return 1 if value.name != ".tolist" else rank_of(value.receiver, depth - 1)
        case Call(name=".reshape", args=args):
            sizes = args[0].members if len(args) == 1 and isinstance(args[0], Group) else args
            return len(sizes) or None
        case Call(name="keras.utils.to_categorical"):
            return 2
        case Call(name=name) if _REDUCES.fullmatch(name):
            of = rank_of(value.receiver if name.startswith(".") else value.argument(0), depth - 1)
            axis = value.argument(0 if name.startswith(".") else 1, "axis")
            one = of is not None and isinstance(axis, Literal) and isinstance(axis.value, int)
            kept = value.keywords.get("keepdims")
            if kept is not None:
                return of if isinstance(kept, Literal) and kept.value else None
            return of - 1 if one and of is not None else None
        case Call(name=".fit_transform" | ".transform", receiver=Call(name="sklearn.preprocessing.LabelEncoder")):
            return 1
        case Call(name=name) if _TABLES.fullmatch(name):
            return 2 if name.startswith("pandas.") else rank_of(value.receiver, depth - 1)
        case Call(name=name) if _KEEPS_RECEIVER.fullmatch(name):
            return rank_of(value.receiver, depth - 1)
        case Call(name=name) if _KEEPS_FIRST.fullmatch(name):
            return rank_of(value.argument(0), depth - 1) if not shape_of(value) else len(shape_of(value) or ())
        case Operation(operator="compare" | ">" | "*" | "+" | "-" | "/", operands=(first, *_)):
            return rank_of(first, depth - 1)
        case Many(member=member):
            inner = 0 if isinstance(member, Literal) else rank_of(member, depth - 1)
            return None if inner is None else inner + 1
        case Element(kind=kind, batched=batched, of=inner_value):
            of_one = rank_of(inner_value, depth - 1)
            return None if of_one is None else of_one + batched - (kind == "slice")
        case Call(name=name) if name.startswith("tensorflow."):
            return _rank_of_tensor(value, depth)
        case Item():
            return _rank_of_item(value, depth)
    shape = shape_of(value)
    return None if shape is None else len(shape)


def _rank_of_tensor(value: Call, depth: int) -> int | None:
    if value.name in ("tensorflow.expand_dims", "tensorflow.one_hot"):
        inner = rank_of(value.argument(0), depth - 1)
        return None if inner is None else inner + 1
    sizes = value.argument(1, "shape") if value.name == "tensorflow.reshape" else None
    return len(sizes.members) if isinstance(sizes, Group) else None


def _rank_of_item(value: Item, depth: int) -> int | None:
    base, index = value.base, value.index
    feature = parsed_feature_of(value, of_batches=True)
    if feature is not None:
        of_batches = isinstance(base, Call) and base.name == "tensorflow.io.parse_example"
        return len(feature.shape) + of_batches if feature.form == "fixed" and feature.shape is not None else None
    if value.attribute:
        name = index.value if isinstance(index, Literal) else ""
        return rank_of(base, depth - 1) if name in ("values", "iloc", "loc", "T", "Outcome") else None
    whole = rank_of(base, depth - 1)
    match index:
        case Literal(value=str()):
            return 1 if whole == 2 else None
        case Slice():
            return whole
        case Group(is_list=True):
            return whole
        case Group(members=(Slice(), Literal(value=int() | str()))):
            return None if whole is None else whole - 1
        case Group(members=(Slice(), *rest)) if all(isinstance(one, Slice) for one in rest):
            return whole
        case Call(name=name) if name in PERMUTES:
            return whole
        case Literal(value=int()):
            return None if not whole else whole - 1
    return None


def is_column(value: Value | None) -> bool:
    """Tell whether an array certainly has one number for each row: (n,) or (n, 1).

    >>> is_column(Call(".reshape", None, (Literal(-1), Literal(1))))
    True
    """
    while isinstance(value, Element) or (
        isinstance(value, Item) and isinstance(value.index, Slice) and not value.attribute
    ):
        value = value.of if isinstance(value, Element) else value.base
    if isinstance(value, Call) and value.name == ".reshape" and len(value.args) == 2:
        last = value.args[1]
        return isinstance(last, Literal) and last.value == 1
    return rank_of(value) == 1
