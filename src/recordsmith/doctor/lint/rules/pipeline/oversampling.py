"""The rule on rare classes that are copied before the data is split."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Many, Operation, Value, walk
from recordsmith.doctor.lint.libraries.rows import is_copy_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["CROSS_VALIDATES", "JOINS", "OVERSAMPLING_RULES"]

_SPLITS = re.compile(
    r"sklearn\.model_selection\.train_test_split|\.train_test_split|\.split|torch\.utils\.data\.random_split"
)
_RESAMPLERS = re.compile(r"imblearn\.\w+.*|sklearn\.utils\.resample")
CROSS_VALIDATES = re.compile(r"sklearn\.model_selection\.cross_val(_score|idate|_predict)")
_TURNS = re.compile(
    r"cv2\.(flip|rotate|GaussianBlur|warpAffine)|numpy\.(fliplr|flipud|flip|rot90)|tensorflow\.image\.flip\w+"
)
_ROW_NUMBERS = {
    "numpy.where", "numpy.flatnonzero", "torch.where", "numpy.argwhere", "numpy.nonzero", "numpy.repeat", "numpy.tile",
    "numpy.random.choice", ".choice",
}  # fmt: skip
JOINS = re.compile(
    r"numpy\.(concatenate|vstack|hstack|append|r_)|pandas\.concat|builtins\.list|itertools\.chain|tensorflow\.concat"
    r"|scipy\.sparse\.vstack|\.concatenate|\.append"
)


@rule("P045", "oversampled-before-split", Severity.ERROR)
def oversampled_before_split(program: Program) -> Iterator[Finding]:
    """Rare classes are oversampled before the data is split.

    Why it matters:
        Oversampling copies examples or interpolates between them. After a later split, copies of the same example are
        in both the training and the test data: the model is tested on what it has memorised, and the score is too good.

    Example:
        `x, y = RandomOverSampler().fit_resample(x, y)`, then `train_test_split(x, y)`.

    Fix:
        Split first, then oversample the training part only; or use class weights.
    """
    yield from _mixed_before_split(program)
    split_seen = False
    for call in program.calls:
        if not _SPLITS.fullmatch(call.name) and not CROSS_VALIDATES.fullmatch(call.name):
            continue
        split_seen |= call.name.endswith("train_test_split")
        resampled = next((one for argument in call.args for one in walk(argument) if _is_resampling(one)), None)
        if (
            resampled is not None
            and resampled.node is not None
            and (_derives_directly(call) or CROSS_VALIDATES.fullmatch(call.name))
        ):
            yield program.finding(
                oversampled_before_split,
                resampled.node,
                "The data is oversampled before it is split: copies of the same example land in training and in test "
                "data, and the score is too good to be true.",
            )
            return
    if not split_seen:
        yield from _written_copies(program)


def _mixed_before_split(program: Program) -> Iterator[Finding]:
    """Classes that repeat without end are mixed by `sample_from_datasets`, and the mixture is cut by take and skip."""
    cut: dict[int, set[str]] = {}
    for pipeline in program.pipelines:
        stage, parent = pipeline.stage, pipeline.parent
        if stage is None or parent is None or stage.name not in ("take", "skip") or not program.roles(pipeline):
            continue
        mixed = next((one for one in parent.origins() if one.source.kind == "mixed"), None)
        if mixed is None or mixed.source.call is None:
            continue
        if any(step.name == "repeat" for one in mixed.source.of for step in one.stages):
            sides = cut.setdefault(id(mixed.source), set())
            sides.add(stage.name)
            if sides == {"take", "skip"}:
                yield program.finding(
                    oversampled_before_split,
                    mixed.source.call.expression,
                    "Classes are repeated and mixed before the data is split: copies of the same example land in "
                    "training and in test data, and the score is too good to be true.",
                )


def _written_copies(program: Program) -> Iterator[Finding]:
    for call in program.calls:
        if call.name not in ("tensorflow.train.Features", ".write"):
            continue
        resampled = next((one for one in walk(call) if _is_resampling(one)), None)
        if isinstance(resampled, Call):
            yield program.finding(
                oversampled_before_split,
                resampled.expression,
                "The copies that oversampling makes are written out: if these records are split later, copies of the "
                "same example land in training and in test data.",
                severity=Severity.INFO,
            )
            return


def _is_resampling(value: Value) -> bool:
    if isinstance(value, Group):
        return value.grown and _holds_turned_copies(value)
    if not isinstance(value, Call):
        return False
    if JOINS.fullmatch(value.name) and _adds_copies(value):
        return True
    if value.name in (".fit_resample", ".fit_sample"):
        return isinstance(value.receiver, Call) and bool(_RESAMPLERS.fullmatch(value.receiver.name))
    if value.name == ".sample":
        drawn = value.argument(None, "replace")
        return isinstance(drawn, Literal) and drawn.value is True
    if value.name == "sklearn.utils.resample":
        drawn = value.argument(None, "replace")
        return drawn is None or (isinstance(drawn, Literal) and drawn.value is True)
    return False


def _holds_turned_copies(group: Group) -> bool:
    """A list to which every example is appended, and then the same one flipped or rotated."""
    whole = {id(one) for one in group.members}
    return any(
        isinstance(one, Call) and _TURNS.fullmatch(one.name) and one.args and id(one.args[0]) in whole
        for one in group.members
    )


def _adds_copies(join: Call) -> bool:
    """`np.concatenate([x, x[y == 1]])`: all rows, and some of them again, or all, as they are or changed."""
    first = join.argument(0)
    axis = join.argument(1 if join.name != "numpy.append" else 2, "axis")
    if join.name == "numpy.hstack" or (isinstance(axis, Literal) and axis.value not in (0, "index", "rows")):
        return False
    if isinstance(first, Operation) and first.operator == "*":  # pd.concat([df] * 5)
        return any(isinstance(one, Literal) and isinstance(one.value, int) and one.value > 1 for one in first.operands)
    members = list(_flat(first))
    if join.name in (".append", "numpy.append", ".concatenate"):
        members += [one for one in (join.receiver, *join.args[1:2]) if one is not None]
    if any(
        isinstance(one, Item) and _is_condition(one.index) and any(one.base is other for other in members)
        for one in members
    ):
        return True
    rows = [one for one in members if isinstance(one, Call | Item | Operation | Many)]
    same = len({id(one) for one in rows}) < len(rows)
    return same or any(is_copy_of(one, other) for one in rows for other in rows if one is not other)


def _is_condition(index: Value) -> bool:
    """It picks rows by a condition, or repeatedly: `x[y == 1]`, `x[np.where(y == 1)[0]]`, `x[np.repeat(rare, 9)]`."""
    if isinstance(index, Item):
        index = index.base
    return isinstance(index, Operation) or (isinstance(index, Call) and index.name in _ROW_NUMBERS)


def _flat(value: Value | None) -> Iterator[Value]:
    if isinstance(value, Group):
        for member in value.members:
            yield from _flat(member)
    elif isinstance(value, Operation) and _is_of_lists(value):
        for operand in value.operands:
            yield from _flat(operand)
    elif value is not None:
        yield value


def _is_of_lists(value: Operation) -> bool:
    """`[rows] * 3`, or `[one] + [other]`: numbers would be multiplied and added, and lists are repeated and joined."""
    lists = any(isinstance(one, Group | Many) or _is_nested_list(one) for one in value.operands)
    return value.operator in ("+", "*") and lists


def _is_nested_list(value: Value) -> bool:
    return isinstance(value, Operation) and _is_of_lists(value)


def _derives_directly(call: Call) -> bool:
    """It splits rows: by `train_test_split`, or by the folds of scikit-learn."""
    of_folds = call.name == ".split" and isinstance(call.receiver, Call)
    return call.name.endswith(("train_test_split", "random_split")) or (
        of_folds and _receiver(call).startswith("sklearn.model_selection.")
    )


def _receiver(call: Call) -> str:
    return call.receiver.name if isinstance(call.receiver, Call) else ""


OVERSAMPLING_RULES = [oversampled_before_split]
