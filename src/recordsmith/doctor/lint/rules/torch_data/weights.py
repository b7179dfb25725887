"""Rules on weights: those of the classes in a loss, those of the examples in a sampler."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Many, Operation, Table, Value, walk
from recordsmith.doctor.lint.libraries.torch.data import base_dataset, split_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import dataset_of, torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["WEIGHT_RULES"]

_LOSSES = re.compile(r"torch\.nn\.(CrossEntropyLoss|NLLLoss)|torch\.nn\.functional\.(cross_entropy|nll_loss)")
_SAME = re.compile(
    r"torch\.(tensor|as_tensor|from_numpy|FloatTensor|Tensor)|numpy\.(array|asarray)|builtins\.(list|tuple)"
    r"|\.(to|cuda|float|astype|to_numpy|tolist|numpy|values|double|to_list)"
)
_COUNTS = re.compile(r"numpy\.bincount|torch\.bincount|\.value_counts|\.bincount|collections\.Counter")


@rule("P168", "frequent-classes-weigh-more", Severity.WARNING)
def frequent_classes_weigh_more(program: Program) -> Iterator[Finding]:
    """The weights of a loss grow with the classes, or are in another order than the classes.

    Why it matters:
        Weights are meant to make rare classes count more. The number or the share of the examples does the opposite:
        the model ignores rare classes even more than without weights. And `value_counts` sorts by frequency, so that
        its values in this order belong to other class numbers.

    Example:
        `CrossEntropyLoss(weight=torch.tensor(counts / counts.sum()))`; `1 / labels.value_counts().values`.

    Fix:
        Divide by the counts, in the order of the class numbers: `counts.sum() / counts`, with
        `labels.value_counts().sort_index()`.
    """
    for fit in program.calls:
        if fit.name == ".fit" and _counts_by_class(fit.argument(None, "class_weight")):
            yield program.finding(
                frequent_classes_weigh_more,
                fit.expression,
                "`class_weight` has the numbers or shares of the examples of each class: frequent classes count more, "
                "and rare ones even less than without weights.",
                advice="Divide by them instead: `{0: total / (2 * negatives), 1: total / (2 * positives)}`.",
            )
    for call in program.calls:
        place = 0 if call.name.startswith("torch.nn.C") or call.name.endswith("NLLLoss") else 2
        weight = call.argument(place, "weight") if _LOSSES.fullmatch(call.name) else None
        if weight is None or call.node is None:
            continue
        if _grows(weight):
            yield program.finding(
                frequent_classes_weigh_more,
                call.expression,
                "The weights are the numbers or shares of the examples of each class: frequent classes count more, and "
                "rare ones even less than without weights.",
                advice="Divide by them instead: `counts.sum() / counts`.",
            )
        elif (order := _sorted_by_count(weight)) is not None:
            yield program.finding(
                frequent_classes_weigh_more,
                call.expression,
                f"The weights are in the order of `{order}`, not in that of the class numbers: classes get the weights "
                "of others.",
                advice="Sort the counts by class first: `.value_counts().sort_index()`.",
            )


def _counts_by_class(weights: Value | None) -> bool:
    """A dict of Keras whose entries are the counts of their own classes, or shares."""
    if isinstance(weights, Call) and weights.name == "builtins.dict" and weights.args:
        pairs = weights.args[0]
        known = isinstance(pairs, Call) and pairs.name in ("builtins.enumerate", "builtins.zip") and bool(pairs.args)
        return known and isinstance(pairs, Call) and _grows(pairs.args[-1])
    entries = weights.entries if isinstance(weights, Table) else {}
    return len(entries) > 1 and all(_is_count_of(key, entry) for key, entry in entries.items())


def _is_count_of(key: object, value: Value) -> bool:
    if isinstance(value, Operation) and value.operator == "/" and len(value.operands) == 2:
        counted, other = value.operands
        return _is_count_of(key, counted) and not (isinstance(other, Item) and _is_count(other.base))
    return isinstance(value, Item) and _is_count(value.base) and getattr(value.index, "value", None) == key


def _core(value: Value | None) -> Value | None:
    """What weights are apart from their type."""
    for _ in range(20):
        if isinstance(value, Call) and _SAME.fullmatch(value.name):
            value = value.receiver if value.name.startswith(".") else value.argument(0, "data")
        elif isinstance(value, Item) and value.attribute and getattr(value.index, "value", "") == "values":
            value = value.base
        else:
            return value
    return value


def _is_count(value: Value | None) -> bool:
    core = _core(value)
    match core:
        case Call(name=".sort_index", receiver=inner):
            return _is_count(inner)
        case Call(name=".value_counts"):
            share = core.argument(0, "normalize")
            return share is None or isinstance(share, Literal)
        case Call(name=name):
            return bool(_COUNTS.fullmatch(name))
        case Item(base=Call(name="numpy.unique" | "torch.unique") as unique, index=Literal(value=1)):
            return unique.argument(None, "return_counts") is not None
        case Many(member=member):
            return (
                isinstance(member, Call) and member.name in (".sum", ".count", "builtins.sum") and _is_compared(member)
            )
    return False


def _is_compared(call: Call) -> bool:
    given = call.receiver if call.receiver is not None else call.argument(0)
    return call.name == ".count" or (isinstance(given, Operation) and given.operator == "compare")


def _grows(weight: Value) -> bool:
    """It is the counts themselves, or the counts divided by their sum."""
    core = _core(weight)
    if isinstance(core, Many) and isinstance(core.member, Operation):
        inner = core.member
        return inner.operator == "/" and isinstance(inner.operands[0], Call) and _is_compared(inner.operands[0])
    if isinstance(core, Operation) and core.operator == "/" and len(core.operands) == 2:
        return _is_count(core.operands[0]) and not _is_count(core.operands[1])
    return _is_count(core)


def _sorted_by_count(weight: Value) -> str | None:
    """The call whose order the weights have: `value_counts` sorts by frequency, a Counter by first appearance."""
    parts = list(walk(weight, 80))
    for one in parts:
        over = one.over[0] if isinstance(one, Many) and len(one.over) == 1 else None
        counter = over.receiver if isinstance(over, Call) and over.name == ".values" else None
        if isinstance(counter, Call) and counter.name == "collections.Counter":
            return "Counter.values()"
    if any(isinstance(one, Call) and one.name in (".sort_index", ".reindex", ".get", ".loc") for one in parts):
        return None
    if any(isinstance(one, Many) for one in parts) or any(isinstance(one, Item) and _is_lookup(one) for one in parts):
        return None
    for one in parts:
        if isinstance(one, Call) and one.name == ".value_counts":
            return "value_counts()"
        counter = one.receiver if isinstance(one, Call) and one.name == ".values" else None
        if isinstance(counter, Call) and counter.name == "collections.Counter":
            return "Counter.values()"
    return None


def _is_lookup(item: Item) -> bool:
    """`counts[i]`, or `counts.loc[classes]`: by the class."""
    return not item.attribute and _is_count(item.base)


@rule("P136", "sampler-weights-of-classes", Severity.ERROR)
def sampler_weights_of_classes(program: Program) -> Iterator[Finding]:
    """`WeightedRandomSampler` is given one weight per class, or those of other examples than it draws.

    Why it matters:
        The sampler draws a number below the length of the weights, and the number is that of an example. With weights
        for 10 classes, training sees the first 10 examples of the dataset, and no others. With the weights of a whole
        dataset, and a part of it to draw from, examples get the weights of others.

    Example:
        `WeightedRandomSampler(1 / torch.bincount(labels), len(labels))`

    Fix:
        Take the weight of each example's class: `WeightedRandomSampler(class_weights[labels], len(labels))`.
    """
    drawn = [pipeline.source.call.argument(3, "sampler") for pipeline in torch_loaders(program) if pipeline.source.call]
    for sampler in drawn:
        if not isinstance(sampler, Call) or not sampler.name.endswith("WeightedRandomSampler") or sampler.node is None:
            continue
        if _is_per_class(sampler.argument(0, "weights")):
            yield program.finding(
                sampler_weights_of_classes,
                sampler.expression,
                "The weights are those of the classes, but the sampler takes one weight per example: it draws the "
                "first examples only, as many as there are classes.",
            )
    for pipeline in torch_loaders(program):
        part = dataset_of(pipeline)
        sampler = pipeline.source.call.argument(3, "sampler") if pipeline.source.call else None
        if not isinstance(sampler, Call) or not sampler.name.endswith("WeightedRandomSampler") or sampler.node is None:
            continue
        if split_of(part) is not None and _is_of_all_examples(sampler.argument(0, "weights"), base_dataset(part)):
            yield program.finding(
                sampler_weights_of_classes,
                sampler.expression,
                f"The weights are those of the whole dataset, and {program.name_of(pipeline)} reads a part of it: "
                "number 5 of the part is drawn with the weight of number 5 of the whole.",
                advice="Take the weights of the part: `[weights[i] for i in part.indices]`.",
            )
            return


def _is_of_all_examples(weights: Value | None, whole: Value | None) -> bool:
    """There is one weight for each label of the whole dataset: `[w[label] for label in whole.targets]`."""
    while isinstance(weights, Call) and weights.name in _SAME_LENGTH:
        weights = weights.receiver if weights.name.startswith(".") else weights.argument(0)
    rows: Value | None = None
    match weights:
        case Many(over=(rows,)):
            pass
        case Item(index=rows, attribute=False):
            pass
    while isinstance(rows, Call) and rows.name in _SAME_LENGTH:
        rows = rows.receiver if rows.name.startswith(".") else rows.argument(0)
    if isinstance(rows, Item) and rows.attribute:
        rows = rows.base
    return whole is not None and rows is whole


_SAME_LENGTH = {
    ".float", ".double", ".to", ".numpy", ".tolist", ".cpu", ".values", ".astype", "torch.tensor", "torch.as_tensor",
    "torch.from_numpy", "torch.FloatTensor", "torch.DoubleTensor", "torch.Tensor", "numpy.array", "numpy.asarray",
    "builtins.list", "torch.sqrt", "numpy.sqrt", "torch.reciprocal", ".reciprocal",
}  # fmt: skip
_COUNTED = {
    "torch.bincount",
    "numpy.bincount",
    ".bincount",
    "sklearn.utils.class_weight.compute_class_weight",
}


def _is_per_class(value: Value | None, depth: int = 12) -> bool:
    """It has one number for each class for certain: counts of classes, and what is computed from them."""
    if depth == 0:
        return False
    match value:
        case Call(name=name) if name in _COUNTED:
            return True
        case Call(name=name) if name in _SAME_LENGTH:
            return _is_per_class(value.receiver if name.startswith(".") else value.argument(0), depth - 1)
        case Operation(operator="+" | "-" | "*" | "/" | "**", operands=operands):
            parts = [one for one in operands if not isinstance(one, Literal)]
            scalars = [one for one in parts if isinstance(one, Call) and one.name in (".sum", ".max", "builtins.len")]
            rest = [one for one in parts if all(one is not scalar for scalar in scalars)]
            return bool(rest) and all(_is_per_class(one, depth - 1) for one in rest)
        case Item(base=Call(name="numpy.unique") as counted, index=Literal(value=1), attribute=False):
            return counted.argument(None, "return_counts") is not None and len(counted.keywords) == 1
    return False


WEIGHT_RULES = [frequent_classes_weigh_more, sampler_weights_of_classes]
