"""Rules on the parts of a split: mixed up, drawn apart, or not used where they should be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Unknown, Value, walk
from recordsmith.doctor.lint.libraries.fitting import ModelUse, SplitPart, model_uses, split_part
from recordsmith.doctor.lint.libraries.rows import bound_key, is_alike, is_same_part, rows_of, slice_range
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["PART_RULES"]

_LABELS = re.compile(r"^(y|ys|labels?|targets?)([_\d]|$)|_(y|labels?|targets?)$", re.IGNORECASE)
_INPUTS = re.compile(r"^(x|xs|images?|features?|data|inputs?)([_\d]|$)|_(x|images?|features?|data)$", re.IGNORECASE)
_READS_ALL = re.compile(r"tensorflow_datasets\.load|tensorflow\.data\.TFRecordDataset")
_TAKES_A_PART = {"take", "skip", "shard", "filter", "enumerate", "group_by_window"}


@rule("P202", "validated-on-training-data", Severity.WARNING)
def validated_on_training_data(program: Program) -> Iterator[Finding]:
    """The validation data is the training data.

    Why it matters:
        The validation score then says how well the model has memorised, not how it does on new data: overfitting stays
        invisible, and early stopping has nothing to stop at.

    Example:
        `model.fit(train, validation_data=train)`; `x[:50_000]` for validation and `x[10_000:]` for training; the split
        "train" of a dataset loaded twice.

    Fix:
        Keep a part of the data apart before training, and validate on that.
    """
    uses = list(model_uses(program.calls))
    for use in uses:
        if use.role != "validation" or use.call.name not in (".fit", ".fit_generator"):
            continue
        trained = next(one for one in uses if one.call is use.call and one.role == "training")
        if isinstance(use.inputs, Literal):
            continue
        if what := _shared(trained.inputs, use.inputs):
            yield program.finding(
                validated_on_training_data,
                use.call.expression,
                f"The validation data {what}: the validation score cannot show overfitting.",
            )
    yield from _tested_on_training_data(program, uses)


def _tested_on_training_data(program: Program, uses: list[ModelUse]) -> Iterator[Finding]:
    """Data that is called test data, and is read from the same place as the training data."""
    for use in uses:
        node = use.call.expression.args[0] if use.call.expression.args else None
        while isinstance(node, ast.Call | ast.Attribute):
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            node = node.elts[0]
        name = node.id if isinstance(node, ast.Name) else ""
        if use.role == "training" or not re.search(r"(^|_)test(ing)?(_|$)", name, re.IGNORECASE):
            continue
        fits = [one for one in uses if one.role == "training" and one.model is use.model]
        if any(getattr(one.call.expression.args[0], "id", "") == name for one in fits if one.call.expression.args):
            continue  # trained on by this very name: made-up data, to show how something works
        trained = [one.inputs for one in fits]
        if any(is_same_part(one, use.inputs) or (_is_stored(one) and is_alike(one, use.inputs)) for one in trained):
            yield program.finding(
                validated_on_training_data,
                use.call.expression,
                f"`{name}` is the training data under another name: the test score says nothing about new data.",
            )


def _is_stored(value: Value) -> bool:
    """It was read from files as a whole, and nothing in it is drawn at random or read on from where it stopped."""
    if any(stage.name in _TAKES_A_PART for one in pipelines_in(value) for stage in one.all_stages()):
        return False
    calls = [one.name for one in walk(value, 100) if isinstance(one, Call)]
    stored = any(name in ("numpy.load", "scipy.io.loadmat") or name.startswith("pandas.read_") for name in calls)
    return stored and not any(re.search(r"random|sample|next|shuffle|_split|^\.read|\.pop", name) for name in calls)


def _is_listed(value: Value) -> bool:
    """It was read from a list of examples, a table or a listing of files, as a whole."""
    calls = [one.name for one in walk(value, 200) if isinstance(one, Call)]
    read = any(
        name in ("builtins.open", "numpy.load", "json.load") or name.startswith("pandas.read_") for name in calls
    )
    return read and not any(re.search(r"random|sample|next|shuffle|_split|\.pop", name) for name in calls)


def _shared(trained: Value, validated: Value) -> str | None:
    """What the validation data has in common with the training data, in words."""
    if trained is validated:
        return "is the training data itself"
    one, other = pipelines_in(trained), pipelines_in(validated)
    if one or other:
        return _same_source(one[0], other[0]) if len(one) == len(other) == 1 else None
    first, second = rows_of(trained), rows_of(validated)
    if first.origin is not second.origin or first.orders != second.orders or isinstance(first.origin, Unknown | Group):
        return None
    cuts = [rows.cuts[0] if rows.cuts else None for rows in (first, second)]
    if len(first.cuts) > 1 or len(second.cuts) > 1 or cuts[1] is None:
        return None
    if cuts[0] is None:
        return "is a part of the training data"
    same = all(bound_key(getattr(cuts[0], end)) == bound_key(getattr(cuts[1], end)) for end in ("lower", "upper"))
    ranges = [slice_range(cut) for cut in cuts]
    if same:
        return "is the same part of the data as the training data"
    if ranges[0] is None or ranges[1] is None:
        return None
    begin, end = max(ranges[0][0], ranges[1][0]), min(ranges[0][1], ranges[1][1])
    return f"overlaps the training data: both have the rows from {begin:,.0f} to {end:,.0f}" if begin < end else None


def _same_source(trained: Pipeline, validated: Pipeline) -> str | None:
    """Two datasets that are read from the same files, all of them."""
    if trained is validated:
        return "is the training data itself"
    if _is_part_of(trained, validated):
        return "is the whole dataset, of which the training data is a part"
    if (shared := _shared_slice(trained, validated)) is not None:
        return f"overlaps the training data: both have {shared}"
    first, second = trained.source.call, validated.source.call
    if first is None or second is None or first is second or first.name != second.name:
        return None
    if not (first.exact and second.exact):
        return None
    if any(stage.name in _TAKES_A_PART for one in (trained, validated) for stage in one.all_stages()):
        return None
    if not _READS_ALL.fullmatch(first.name):
        same = all(map(is_alike, first.args, second.args)) and len(first.args) == len(second.args) == 1
        lists = same and isinstance(first.args[0], Group) and _is_listed(first.args[0])
        return "is made of the same lists as the training data" if lists else None
    given = [[*call.args, *(call.keywords.get(name) for name in ("split", "filenames"))] for call in (first, second)]
    known = [[one.value if isinstance(one, Literal) else None for one in side] for side in given]
    plain = all(one is None or isinstance(one, Literal) for side in given for one in side)
    return (
        "is read from the same place as the training data" if plain and known[0] == known[1] and any(known[0]) else None
    )


_SPLIT = re.compile(r"(\w+)\[(\d*)(%?):(\d*)(%?)\]")


def _shared_slice(trained: Pipeline, validated: Pipeline) -> str | None:
    """What two slices of one split of TensorFlow Datasets have in common: "train[:80%]" and "train[70%:]"."""
    first, second = trained.source.call, validated.source.call
    if trained.source.kind != "tfds" or validated.source.kind != "tfds" or first is None or second is None:
        return None
    if first is not second and not (first.args and second.args and is_alike(first.args[0], second.args[0])):
        return None
    slices = []
    for one in (trained, validated):
        match = next((found for name in one.all_names if (found := _SPLIT.fullmatch(name)) is not None), None)
        if match is None or "" == match[3] == match[5]:
            return None
        slices.append((match[1], int(match[2] or 0), int(match[4] or 100)))
    begin, end = max(slices[0][1], slices[1][1]), min(slices[0][2], slices[1][2])
    return f"{begin}% to {end}% of {slices[0][0]!r}" if slices[0][0] == slices[1][0] and begin < end else None


def _is_part_of(part: Pipeline, whole: Pipeline) -> bool:
    """One dataset is a part, by `take` or `skip`, of another that is all of the same dataset."""
    if any(stage.name in _TAKES_A_PART for stage in whole.stages):
        return False
    shared = {id(one) for one in whole.ancestors()}
    cut = False
    for one in part.ancestors():
        if id(one) in shared:
            return cut
        cut |= one.stage is not None and one.stage.name in ("take", "skip")
    return False


@rule("P203", "trained-on-the-whole-set", Severity.ERROR)
def trained_on_the_whole_set(program: Program) -> Iterator[Finding]:
    """A model is trained on all the data, and then tested on a part of it.

    Why it matters:
        The data is split, but `fit` is given the whole of it. The test part has been trained on, and its score is too
        good.

    Example:
        `x_train, x_test, y_train, y_test = train_test_split(x, y)`, then `model.fit(x, y)` and
        `model.score(x_test, y_test)`.

    Fix:
        Train on the training part: `model.fit(x_train, y_train)`.
    """
    uses = list(model_uses(program.calls))
    for position, use in enumerate(uses):
        if use.role != "training":
            continue
        later = _until_next_training(uses, position)
        for other in later:
            part = split_part(other.inputs)
            of_split = part is not None and part.is_test and part.whole is use.inputs
            if of_split or _is_fold_of(other.inputs, use.inputs):
                yield program.finding(
                    trained_on_the_whole_set,
                    use.call.expression,
                    "The model is trained on the whole data, and then tested on a part that was split from it: the "
                    "test data has been trained on.",
                    evidence={"tested in line": other.call.expression.lineno},
                )
                break
            if _is_of_another_split(use.inputs, other.inputs):
                yield program.finding(
                    trained_on_the_whole_set,
                    use.call.expression,
                    "The training data and the test data are parts of two different splits of the same rows: most of "
                    "the test data has been trained on.",
                    advice="Split the training part a second time, not the whole data.",
                    evidence={"tested in line": other.call.expression.lineno},
                )
                break


def _is_of_another_split(trained: Value, tested: Value) -> bool:
    """The training part of one split, and the test part of another split of the same rows, drawn in another way."""
    first, second = split_part(trained), split_part(tested)
    if first is None or second is None or first.is_test or not second.is_test or first.split is second.split:
        return False
    if first.whole is not second.whole:
        return False
    settings = [[bound_key(one.split.argument(None, name)) for name in _DRAWN_BY] for one in (first, second)]
    return settings[0] != settings[1] or settings[0][1] is None


_DRAWN_BY = ("test_size", "random_state", "train_size", "stratify", "shuffle")


def _is_fold_of(value: Value, whole: Value) -> bool:
    """`whole[indices]` with the indices of a fold."""
    if not isinstance(value, Item) or value.base is not whole:
        return False
    return any(
        isinstance(one, Call) and one.name == ".split" and isinstance(one.receiver, Call) and _is_splitter(one.receiver)
        for one in walk(value.index, 30)
    )


def _is_splitter(value: Call) -> bool:
    return bool(re.fullmatch(r"sklearn\.model_selection\.\w*(KFold|Split|LeaveOneOut|LeaveOneGroupOut)", value.name))


@rule("P206", "model-kept-across-folds", Severity.ERROR)
def model_kept_across_folds(program: Program) -> Iterator[Finding]:
    """A Keras model is made once and trained in every fold of a cross-validation.

    Why it matters:
        `fit` continues from the weights that the model has. In the second fold, it has already been trained on the test
        data of that fold: the scores rise from fold to fold and mean nothing. (Models of scikit-learn begin anew.)

    Example:
        `model = build()` before `for train, test in KFold(5).split(x): model.fit(x[train], y[train])`

    Fix:
        Make the model inside the loop, or set the first weights again: `model.set_weights(start)`.
    """
    models = {id(model.compile.receiver) for model in program.models}
    reported: set[int] = set()
    for use in model_uses(program.calls):
        receiver = use.call.expression.func
        name = receiver.value.id if isinstance(receiver, ast.Attribute) and isinstance(receiver.value, ast.Name) else ""
        loop = _fold_loop(program, use.call.expression)
        if use.role != "training" or id(use.model) not in models or loop is None or not name or id(loop) in reported:
            continue
        names = [one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        restored = re.search(r"set_weights|load_weights|clone_model|load_model|reset", ast.unparse(loop))
        if name not in names and not restored:
            reported.add(id(loop))
            yield program.finding(
                model_kept_across_folds,
                use.call.expression,
                f"`{name}` is made before the loop over the folds and keeps its weights: from the second fold on, it "
                "has been trained on the data that it is tested on.",
            )


def _fold_loop(program: Program, node: ast.AST) -> ast.For | None:
    """The loop over the folds of a cross-validation that something is in."""
    splits = {
        id(one.node)
        for one in program.calls
        if one.name == ".split" and isinstance(one.receiver, Call) and _is_splitter(one.receiver)
    }
    one = getattr(node, "parent", None)
    while one is not None and not isinstance(one, ast.FunctionDef | ast.Module):
        if isinstance(one, ast.For) and any(id(part) in splits for part in ast.walk(one.iter)):
            return one
        one = getattr(one, "parent", None)
    return None


def _until_next_training(uses: list[ModelUse], position: int) -> Iterator[ModelUse]:
    for use in uses[position + 1 :]:
        if use.model is uses[position].model:
            if use.role == "training" and use.call is not uses[position].call:
                return
            yield use


@rule("P204", "split-apart", Severity.ERROR)
def split_apart(program: Program) -> Iterator[Finding]:
    """Inputs and labels are split at random in two separate calls.

    Why it matters:
        Each call draws its own order. The labels then no longer belong to their inputs, no error is raised, and the
        model learns nothing.

    Example:
        `x_train, x_test = train_test_split(x)` and `y_train, y_test = train_test_split(y)`.

    Fix:
        Split both in one call: `x_train, x_test, y_train, y_test = train_test_split(x, y)`.
    """
    reported: set[int] = set()
    pairs = [
        (_part_behind(one), _part_behind(use.targets))
        for use in model_uses(program.calls)
        for one in (use.inputs.members if isinstance(use.inputs, Group) else (use.inputs,))
    ]
    for first, second in pairs:
        if first is None or second is None or first.split is second.split or first.whole is second.whole:
            continue
        apart = sorted((first.split, second.split), key=lambda split: len(split.args))
        if len(apart[0].args) != 1 or (len(apart[1].args) != 1 and not _differ(*apart)) or id(apart[0]) in reported:
            continue
        if _is_ordered(first.split) or _is_ordered(second.split) or _same_seed(first.split, second.split):
            continue
        reported.add(id(apart[0]))
        yield program.finding(
            split_apart,
            (second.split if len(apart[1].args) == 1 else apart[0]).expression,
            "Inputs and labels are split at random in two separate calls: the labels no longer belong to their inputs.",
        )


def _part_behind(value: Value | None) -> SplitPart | None:
    """The part of a split that a value is, in its order; it may have been scaled since."""
    rows = None if value is None else rows_of(value)
    return None if rows is None or rows.orders or rows.cuts else split_part(rows.origin)


def _is_ordered(split: Call) -> bool:
    shuffle = split.argument(None, "shuffle")
    return not split.exact or (isinstance(shuffle, Literal) and not shuffle.value)


def _differ(first: Call, second: Call) -> bool:
    """Both are drawn by a seed that is written down, and not by the same one."""
    seeds = [call.argument(None, "random_state") for call in (first, second)]
    return all(isinstance(seed, Literal) for seed in seeds) and not _same_seed(first, second)


def _same_seed(first: Call, second: Call) -> bool:
    seeds = [call.argument(None, "random_state") for call in (first, second)]
    if None in seeds:
        return False
    constants = [seed.value for seed in seeds if isinstance(seed, Literal)]
    return len(constants) < 2 or constants[0] == constants[1]


@rule("P205", "split-in-wrong-order", Severity.ERROR)
def split_in_wrong_order(program: Program) -> Iterator[Finding]:
    """The results of a split are assigned in the wrong order.

    Why it matters:
        `train_test_split(x, y)` returns both parts of `x` first, and then both parts of `y`. In another order, inputs
        are taken for labels. Where the shapes happen to fit, no error is raised.

    Example:
        `x_train, y_train, x_test, y_test = train_test_split(x, y)`

    Fix:
        `x_train, x_test, y_train, y_test = train_test_split(x, y)`
    """
    for call in program.calls:
        targets = _targets(call)
        if call.name.endswith("train_test_split") and len(targets) == 4 and len(call.args) == 2:
            names = [_word(one) for one in targets]
            wrong = _LABELS.search(names[1]) and _INPUTS.search(names[2]) and _INPUTS.search(names[0])
            if wrong and not _LABELS.search(_word(call.expression.args[0])):
                yield _misassigned(program, call, targets)


def _misassigned(program: Program, call: Call, targets: list[ast.expr]) -> Finding:
    source = getattr(call.expression, "source", program.source)
    spans = [source.span(one) for one in targets]
    texts = [source.text[begin:end] for begin, end in spans]
    return program.finding(
        split_in_wrong_order,
        call.expression,
        "The results are assigned in the wrong order: the call returns both parts of the first array, then both parts "
        "of the second one.",
        edits=[Edit(spans[1][0], spans[1][1], texts[2]), Edit(spans[2][0], spans[2][1], texts[1])],
        certain=True,
    )


def _targets(call: Call) -> list[ast.expr]:
    parent = getattr(call.node, "parent", None)
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    return target.elts if isinstance(target, ast.Tuple | ast.List) else []


def _word(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


PART_RULES = [
    split_in_wrong_order,
    split_apart,
    trained_on_the_whole_set,
    model_kept_across_folds,
    validated_on_training_data,
]
