"""Rules on the weights of classes in a loss."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Many, Operation, Table, Value, walk
from recordsmith.doctor.lint.program import Program
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


WEIGHT_RULES = [frequent_classes_weigh_more]
