"""Rules on the parts of a PyTorch dataset: what they share, and rows that are in two of them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Object, Slice, Value
from recordsmith.doctor.lint.libraries.rows import is_alike
from recordsmith.doctor.lint.libraries.torch.data import base_dataset, split_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import dataset_of, torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SUBSET_RULES"]


@rule("P151", "subsets-of-two-orders", Severity.WARNING)
def subsets_of_two_orders(program: Program) -> Iterator[Finding]:
    """Training and validation indices are cut from two different random orders, so they overlap.

    Why it matters:
        The first 80 % of one order and the last 20 % of another one have most rows in common: the model is validated
        on rows that it was trained on.

    Example:
        `train = np.random.permutation(n)[:800]` and `val = np.random.permutation(n)[800:]`.

    Fix:
        Cut both from one order: `order = np.random.permutation(n)`, then `order[:800]` and `order[800:]`.
    """
    seeded = program.mentions(r"manual_seed\(|\.seed\(|default_rng\(\w|RandomState\(\w")
    parts: dict[int, dict[int, tuple[Call, Call]]] = {}
    for call in program.calls:
        whole, indices = call.argument(0, "dataset"), call.argument(1, "indices")
        if call.name == "torch.utils.data.DataLoader":
            sampler = call.argument(3, "sampler")
            by_sampler = isinstance(sampler, Call) and sampler.name.endswith("SubsetRandomSampler")
            indices = sampler.argument(0, "indices") if isinstance(sampler, Call) and by_sampler else None
        elif call.name != "torch.utils.data.Subset":
            continue
        order = _order_of(indices)
        if whole is not None and order is not None:
            parts.setdefault(id(whole), {}).setdefault(id(call.node), (call, order))
    yield from _split_again(program)
    for found in map(list, map(dict.values, parts.values())):
        (_, first), (call, other) = found[0], found[-1]
        if first is other or (seeded and is_alike(first.argument(0), other.argument(0))):
            continue  # the same seed before each may give the same order
        yield program.finding(
            subsets_of_two_orders,
            call.expression,
            "The indices of the subsets are cut from two different random orders: they overlap, and rows for "
            "validation or testing are trained on.",
        )


def _order_of(indices: Value | None) -> Call | None:
    """The random order that indices are cut from, or the call that draws them."""
    while isinstance(indices, Call) and indices.name in (".tolist", "builtins.list", ".numpy"):
        indices = indices.receiver if indices.name.startswith(".") else indices.argument(0)
    if isinstance(indices, Call) and indices.name in _DRAWN:
        return indices
    order = indices.base if isinstance(indices, Item) and isinstance(indices.index, Slice) else None
    while isinstance(order, Call) and order.name in (".tolist", "builtins.list", ".numpy"):
        order = order.receiver if order.name.startswith(".") else order.argument(0)
    return order if isinstance(order, Call) and order.name in _ORDERS else None


def _place(part: Item) -> object:
    return part.index.value if isinstance(part.index, Literal) else None


def _part_of_split(dataset: Value | None) -> Item | None:
    """The part of a random split that a dataset is, or that it keeps."""
    kept = list(dataset.fields.values()) if isinstance(dataset, Object) else [dataset]
    splits = ("torch.utils.data.random_split", "sklearn.model_selection.train_test_split")
    for one in kept:
        if isinstance(one, Item) and isinstance(one.base, Call) and one.base.name in splits:
            return one
    return None


def _split_again(program: Program) -> Iterator[Finding]:
    """`random_split` runs once for the training data and again for the test data, each time by another order."""
    if program.mentions(r"manual_seed\(|seed_everything\(|set_seed\("):
        return
    loaders = [(one, _part_of_split(dataset_of(one))) for one in torch_loaders(program)]
    for (train, first), (test, second) in itertools.permutations(loaders, 2):
        match first, second:
            case Item(base=Call() as one, index=Literal(value=at)), Item(base=Call() as other, index=Literal(value=to)):
                again = one is not other and one.node is other.node
            case _:
                continue
        parts = [
            {_place(part) for _, part in loaders if part is not None and part.base is split} for split in (one, other)
        ]
        if parts != [{at}, {to}]:
            continue  # each time, all parts are used
        drawn = one.argument(2, "generator") or one.argument(None, "random_state")
        if again and at == 0 and to != 0 and drawn is None and program.is_for_testing(test) and test.source.call:
            yield program.finding(
                subsets_of_two_orders,
                one.expression,
                f"This splits once for {program.name_of(train)} and again for {program.name_of(test)}, each time by "
                "another random order: they overlap, and test rows are trained on.",
                advice="Split once, or give a generator with a seed: `generator=torch.Generator().manual_seed(0)`.",
            )
            return


_DRAWN = {"numpy.random.choice", "random.sample", "numpy.random.randint", "torch.randint", ".choice", ".integers"}
_ORDERS = {"numpy.random.permutation", "torch.randperm", ".permutation"}


@rule("P146", "splits-share-a-transform", Severity.WARNING)
def splits_share_a_transform(program: Program) -> Iterator[Finding]:
    """One split of a dataset is given a transform of its own, and the other split gets it too.

    Why it matters:
        The parts of `random_split`, and `Subset`s, are views: their `.dataset` is the same object. Setting its
        transform for validation replaces that of the training data, so training loses its augmentation, or validation
        gets it.

    Example:
        `train.dataset.transform = augment`, then `val.dataset.transform = plain`.

    Fix:
        Make two datasets, one for each transform, and take a `Subset` of each with the same indices.
    """
    parts = [one for one in map(dataset_of, torch_loaders(program)) if one is not None]
    views = [(one, base_dataset(one)) for one in parts if split_of(one) is not None]
    first: dict[int, tuple[Value, Value]] = {}
    for call in program.calls:
        match call:
            case Call(
                name=".__setattr__",
                receiver=Item(base=part, index=Literal(value="dataset"), attribute=True),
                args=(Literal(value="transform" | "transforms"), given),
            ) if split_of(part) is not None and not _has_its_own_copy(program, part):
                whole = base_dataset(part)
            case _:
                continue
        before = first.setdefault(id(whole), (part, given))
        replaced = before[1] if before[0] is not part else _own_transform(whole)
        shared = before[0] is not part or any(other is whole and not _is_part(one, part) for one, other in views)
        if replaced is None or replaced is given or not shared or call.node is None:
            continue
        yield program.finding(
            splits_share_a_transform,
            call.node,
            f"`{ast.unparse(call.node).rpartition('.')[0]}` is the whole dataset, of which all splits are views: "
            "this transform replaces that of the other split as well.",
        )


def _is_part(one: Value, other: Value) -> bool:
    """They are one part: the same value, or the same place of one split."""
    if isinstance(one, Item) and isinstance(other, Item) and one.base is other.base:
        return _place(one) == _place(other)
    return one is other


def _has_its_own_copy(program: Program, part: Value) -> bool:
    """The program sets `.dataset` of the part, as `val.dataset = copy.copy(full)` does."""
    return any(
        call.name == ".__setattr__" and call.receiver is not None and _is_part(call.receiver, part)
        for call in program.calls
        if call.args and isinstance(call.args[0], Literal) and call.args[0].value == "dataset"
    )


def _own_transform(whole: Value | None) -> Value | None:
    """The transform that a dataset was made with."""
    if isinstance(whole, Object):
        return whole.fields.get("transform")
    return whole.argument(None, "transform") if isinstance(whole, Call) and whole.exact else None


SUBSET_RULES = [subsets_of_two_orders, splits_share_a_transform]
