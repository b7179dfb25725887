"""Rules on features: prepared from the test data, or holding the answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

from recordsmith.doctor.lint.edits import Edit, call_span
from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Operation, Slice, Table, Value, walk
from recordsmith.doctor.lint.libraries.fitting import ModelUse, model_uses, split_part
from recordsmith.doctor.lint.libraries.rows import bound_key, is_alike, own_statistics
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["LEARNT_FEATURE_RULES"]

_TRAIN = re.compile(r"(^|_)(train|training|trn|tr)(_|$|\d)", re.IGNORECASE)
_TEST = re.compile(r"(^|_)(test|testing|tst|val|valid|validation)(_|$|\d)", re.IGNORECASE)
_TRANSFORMER = re.compile(r"sklearn\.(preprocessing|decomposition|feature_extraction|feature_selection|impute)\..*")
_LEARNS_NOTHING = {"PolynomialFeatures", "Normalizer", "FunctionTransformer", "Binarizer", "HashingVectorizer"}
_ESTIMATOR = re.compile(
    r"sklearn\.(ensemble|linear_model|svm|tree|neighbors|naive_bayes|neural_network)\.\w+|(xgboost|lightgbm|catboost|keras)\..*"
)
_SELECTS_COLUMNS = re.compile(r"sklearn\.(pipeline|compose)\..*")
_FITS = {".fit", ".fit_transform", ".fit_on_texts"}
_APPLIES = {".fit_transform", ".transform", ".texts_to_sequences", ".texts_to_matrix"}
_SAME_ROWS = {".to_numpy", ".astype", ".copy", ".reshape", ".ravel"}
_SAME_FRAME = {
    ".set_index",
    ".sort_values",
    ".sort_index",
    ".dropna",
    ".copy",
    ".reset_index",
    ".drop_duplicates",
    ".fillna",
    ".astype",
    ".select_dtypes",
}


@rule("P212", "fitted-again-on-test-data", Severity.WARNING)
def fitted_again_on_test_data(program: Program) -> Iterator[Finding]:
    """A scaler or encoder that was fitted on the training data is fitted again on the test data.

    Why it matters:
        `fit_transform` on the test data learns another mean, another range or other numbers for the same words. The
        same input then means something else in training and in testing, and the test score is wrong.

    Example:
        `x_train = scaler.fit_transform(x_train)` and `x_test = scaler.fit_transform(x_test)`.

    Fix:
        Fit once, and only transform the rest: `x_test = scaler.transform(x_test)`.
    """
    fitted: list[Call] = []
    for call in program.calls:
        maker = call.receiver
        if call.name not in (".fit", ".fit_transform") or not isinstance(maker, Call) or not call.args:
            continue
        if not _TRANSFORMER.fullmatch(maker.name) or maker.name.rpartition(".")[2] in _LEARNS_NOTHING:
            continue
        before = [one for one in fitted if _side(one) == "training" and _is_same_scaler(one, call)]
        if _side(call) == "test" and before:
            name = f"`{maker.name.rpartition('.')[2]}`"
            what = f"{name} was" if before[0].receiver is maker else f"Another {name} was"
            yield program.finding(
                fitted_again_on_test_data,
                call.expression,
                f"{what} fitted on the training data, and this is fitted on the test data: the same value now means "
                "something else in each.",
                advice="Use `transform` here, with what was fitted on the training data.",
                edits=_only_transformed(program, call) if before[0].receiver is maker else None,
                certain=True,
            )
        fitted.append(call)
    yield from _prepared_by_another(program)


def _prepared_by_another(program: Program) -> Iterator[Finding]:
    """Test data that went through a scaler or tokenizer of its own, or was scaled by its own mean."""
    uses = list(model_uses(program.calls))
    reported: set[int] = set()
    for use in uses:
        if use.role == "training" or not isinstance(use.model, Call):
            continue
        trained = [one for one in uses if one.role == "training" and one.model is use.model]
        for maker, fit in _makers(program, use).items():
            others = [one for training in trained for one in _makers(program, training)]
            alike = [one for one in others if one.name == maker.name]
            same = alike and is_alike(fit.args[0], _first_fit(program, alike[0]))
            if not alike or maker in others or id(fit.node) in reported or same:
                continue
            reported.add(id(fit.node))
            yield program.finding(
                fitted_again_on_test_data,
                fit.expression,
                f"Training data went through another `{maker.name.rpartition('.')[2]}` than this data, and each was "
                "fitted on its own data: the same value now means something else in each.",
                advice="Fit one on the training data, and use it for the rest too.",
            )
        apart = _dummies(use.inputs)
        others = [one for training in trained if (one := _dummies(training.inputs)) is not None]
        if apart is not None and others and not program.mentions(r"\.(reindex|align)\(") and apart not in others:
            yield program.finding(
                fitted_again_on_test_data,
                apart.expression,
                "`get_dummies` makes the columns from the values that it meets, once for the training data and once "
                "for this: a category that one of them lacks shifts or drops columns.",
                advice="Give both the same columns: `test.reindex(columns=train.columns, fill_value=0)`, or use "
                "`OneHotEncoder`, fitted on the training data.",
            )
        own = own_statistics(use.inputs)
        scaled = [own_statistics(training.inputs) for training in trained]
        if own is not None and any(scaled) and own not in scaled:
            yield program.finding(
                fitted_again_on_test_data,
                own.node or use.call.expression,
                "This data is scaled by its own mean or range, and the training data by that of the training data: the "
                "same value now means something else in each.",
                advice="Keep the mean and deviation of the training data, and use them here too.",
            )


def _makers(program: Program, use: ModelUse) -> dict[Call, Call]:
    """The scalers, encoders and tokenizers that an input went through, each with its only fit."""
    applied = [one for one in walk(use.inputs, 200) if isinstance(one, Call) and one.name in _APPLIES]
    found: dict[Call, Call] = {}
    for call in applied:
        maker = call.receiver
        while isinstance(maker, Call) and maker.name == ".fit":
            maker = maker.receiver
        if isinstance(maker, Call) and (_TRANSFORMER.fullmatch(maker.name) or maker.name.endswith(".Tokenizer")):
            fits = [one for one in program.calls if one.name in _FITS and one.receiver is maker and one.args]
            if len(fits) == 1 and maker.name.rpartition(".")[2] not in _LEARNS_NOTHING:
                found[maker] = fits[0]
    return found


def _dummies(value: Value) -> Call | None:
    calls = (one for one in walk(value, 60) if isinstance(one, Call) and one.name == "pandas.get_dummies")
    return next(calls, None)


def _first_fit(program: Program, maker: Call) -> Value | None:
    fits = (one.args[0] for one in program.calls if one.name in _FITS and one.receiver is maker and one.args)
    return next(fits, None)


def _only_transformed(program: Program, call: Call) -> list[Edit] | None:
    if call.name != ".fit_transform":
        return None
    begin, _ = call_span(getattr(call.expression, "source", program.source), call.expression)
    return [Edit(begin, begin + len("fit_transform"), "transform")]


def _is_same_scaler(first: Call, second: Call) -> bool:
    """One object, or two that are made in place for the same thing: `LabelEncoder().fit_transform(y_test)`."""
    if first.receiver is second.receiver:
        return True
    nodes = [one.expression.func for one in (first, second)]
    in_place = all(isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) for node in nodes)
    names = [one.receiver.name for one in (first, second) if isinstance(one.receiver, Call)]
    subjects = [_TRAIN.sub("_", _TEST.sub("_", _subject(one))) for one in (first, second)]
    return in_place and names[0] == names[1] and subjects[0] == subjects[1]


def _subject(call: Call) -> str:
    """What is fitted, as the source says it."""
    return re.sub(r"[^\w]+", "_", ast.unparse(call.expression.args[0])) if call.expression.args else ""


def _side(call: Call) -> str | None:
    """Whether a fit is given the training or the test part, by where that comes from, or by its name."""
    part = split_part(call.args[0])
    if part is not None:
        return "test" if part.is_test else "training"
    node = call.expression.args[0] if call.expression.args else None
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Name):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if _TEST.search(name) or _TRAIN.search(name):
            return "test" if _TEST.search(name) else "training"
        node = None if isinstance(node, ast.Name) else node.value
    files = [text for one in walk(call.args[0], 60) if (text := _file_read(one))]
    named = {
        "test" if _TEST.search(text) else "training" for text in files if _TEST.search(text) or _TRAIN.search(text)
    }
    return named.pop() if len(named) == 1 else None


def _file_read(value: Value) -> str:
    """The name of the file that a call reads, where it is written down."""
    reads = isinstance(value, Call) and value.name.startswith(("pandas.read_", "numpy.load")) and bool(value.args)
    name = value.args[0] if reads and isinstance(value, Call) else None
    return PurePath(name.value).stem if isinstance(name, Literal) and isinstance(name.value, str) else ""


@rule("P251", "target-among-features", Severity.ERROR)
def target_among_features(program: Program) -> Iterator[Finding]:
    """The column to predict is among the features.

    Why it matters:
        The model reads the answer from its input. The score is close to perfect, and the model is useless where the
        answer is not known.

    Example:
        `y = df["price"]`, `x = df.drop(columns=["id"])`, then `train_test_split(x, y)`; or `x = df.iloc[:, 0:9]` and
        `y = df.iloc[:, 8]`.

    Fix:
        Drop the target too: `x = df.drop(columns=["id", "price"])`.
    """
    if any(_SELECTS_COLUMNS.fullmatch(one.name) for one in program.calls):
        return  # a pipeline may take the columns that it needs
    pairs = [(call, call.args[0], call.args[1]) for call in program.calls if _is_split(call)]
    pairs += [
        (use.call, use.inputs, use.targets)
        for use in model_uses(program.calls)
        if use.role == "training"
        and use.targets is not None
        and isinstance(use.model, Call)
        and _ESTIMATOR.fullmatch(use.model.name)
    ]
    pairs += [
        (call, _untyped(call.args[0]), _untyped(call.args[1]))
        for call in program.calls
        if call.name == "torch.utils.data.TensorDataset" and len(call.args) == 2 and call.node is not None
    ]
    for call in program.calls:
        match call:
            case Call(name="tensorflow.data.Dataset.from_tensor_slices", args=(Group(members=(inputs, target)), *_)):
                pairs.append((call, inputs, target))
    yield from _copied_inputs(program)
    if not pairs:
        return
    changed = {id(one.receiver) for one in program.calls if _changes_columns(one)}
    deleted = {
        ast.unparse(target.value)
        for node in program.source.nodes
        if isinstance(node, ast.Delete)
        for target in node.targets
        if isinstance(target, ast.Subscript)
    }
    for call, inputs, given in pairs:
        target = _column_of(given)
        if (number := _column_number(target, inputs)) is not None:
            yield program.finding(
                target_among_features,
                call.expression,
                f"The features still hold column {number}, the one to predict: the model reads the answer from its "
                "input.",
                advice="End the slice of the features before that column: a slice does not include its end.",
            )
        elif _is_made_with(inputs, target):
            yield program.finding(
                target_among_features,
                call.expression,
                "One of the features is the target itself: the model reads the answer from its input.",
            )
        if not isinstance(target, Item) or target.attribute or not isinstance(target.index, Literal):
            continue
        column, frame = target.index.value, target.base
        if not isinstance(column, str) or not _is_frame(frame) or id(frame) in changed:
            continue
        if _holds(inputs, column, frame) and not any(name in ast.unparse(call.expression) for name in deleted):
            yield program.finding(
                target_among_features,
                call.expression,
                f"The features still hold {column!r}, the column to predict: the model reads the answer from its "
                "input.",
                advice=f'Drop it from the features: `.drop(columns=["{column}"])`.',
            )


def _untyped(value: Value) -> Value:
    """What a tensor was made from, apart from its type and from which rows are taken."""
    for _ in range(20):
        match value:
            case Call(
                name="torch.tensor" | "torch.from_numpy" | "torch.as_tensor" | "torch.FloatTensor", args=(inner, *_)
            ):
                value = inner
            case Call(
                name=".astype" | ".float" | ".to" | ".unsqueeze" | ".view" | ".reshape" | ".long", receiver=inner
            ):
                if inner is None:
                    return value
                value = inner
            case Item(base=base, index=Slice()):
                value = base
            case Item(base=base, index=Literal(value="values"), attribute=True):
                value = base
            case _:
                return value
    return value


def _column_of(target: Value) -> Value:
    """The column that labels are, apart from their form: `df["y"].values.astype("float32")`."""
    while True:
        if isinstance(target, Call) and target.name in _SAME_ROWS and target.receiver is not None:
            target = target.receiver
        elif isinstance(target, Item) and target.attribute and bound_key(target.index) == "values":
            target = target.base
        else:
            return target


def _is_made_with(inputs: Value, target: Value) -> bool:
    """A table that was put together from columns, one of which is the target."""
    columns = inputs.argument(0, "data") if isinstance(inputs, Call) and inputs.name == "pandas.DataFrame" else None
    return isinstance(columns, Table) and any(one is target for one in columns.entries.values())


def _copied_inputs(program: Program) -> Iterator[Finding]:
    """A model for sequences of words that gets its target as one of its inputs, in the same place."""
    for model in program.models:
        for fit in model.fits if model.loss in ("sparse", "categorical") else ():
            inputs, target = fit.argument(0, "x"), fit.argument(1, "y")
            if isinstance(inputs, Group) and len(inputs.members) > 1 and any(one is target for one in inputs.members):
                yield program.finding(
                    target_among_features,
                    fit.expression,
                    "The target is one of the inputs, position by position: the model learns to copy it.",
                    advice="Shift them by one step: `decoder[:, :-1]` as the input, `decoder[:, 1:]` as the target.",
                )


def _column_number(target: Value, inputs: Value) -> int | None:
    """The number of the column to predict, where the features are a slice of the same table that has it."""
    chosen, features = _numbered_columns(target), _numbered_columns(inputs)
    if chosen is None or features is None or chosen[0] is not features[0] or not isinstance(features[1], Slice):
        return None
    number, first, last = bound_key(chosen[1]), bound_key(features[1].lower) or 0, bound_key(features[1].upper)
    if not isinstance(number, int) or not isinstance(first, int) or first < 0 or features[1].step is not None:
        return None
    if number < 0:  # counted from the end
        held = last is None or (isinstance(last, int) and number < last < 0)
    else:
        held = first <= number and (last is None or (isinstance(last, int) and number < last))
    return number if held else None


def _numbered_columns(value: Value) -> tuple[Value, Value] | None:
    """The table and the columns of `table.iloc[:, columns].values`, or of `array[:, columns]`."""
    while (isinstance(value, Item) and value.attribute) or (isinstance(value, Call) and value.name in _SAME_ROWS):
        inner = value.base if isinstance(value, Item) else value.receiver
        if inner is None or (isinstance(value, Item) and bound_key(value.index) not in ("values", "T")):
            return None
        value = inner
    match value:
        case Item(index=Group(members=(Slice(lower=None, upper=None), columns))):
            base = value.base
            return (base.base if isinstance(base, Item) and base.attribute else base), columns
    return None


def _is_split(call: Call) -> bool:
    return call.name.endswith("train_test_split") and len(call.args) == 2


def _changes_columns(call: Call) -> bool:
    in_place = call.argument(None, "inplace")
    return call.name == ".pop" or (call.name == ".drop" and isinstance(in_place, Literal) and bool(in_place.value))


def _is_frame(value: Value) -> bool:
    while isinstance(value, Operation) and len(value.operands) == 2:  # scaled as a whole
        value = value.operands[0]
    part = split_part(value)
    value = value if part is None else part.whole
    while isinstance(value, Call) and value.name in _SAME_FRAME and value.receiver is not None:
        value = value.receiver
    return isinstance(value, Call) and value.name.startswith(("pandas.read_", "pandas.DataFrame"))


def _holds(inputs: Value, column: str, frame: Value) -> bool:
    """The features are the table itself, with columns dropped of which none is the target."""
    while True:
        if inputs is frame:
            return True
        if isinstance(inputs, Item) and inputs.base is frame and _are_all_columns(inputs.index, frame):
            return True
        if isinstance(inputs, Item) and inputs.attribute and isinstance(inputs.index, Literal):
            if inputs.index.value != "values":
                return False
            inputs = inputs.base
        elif isinstance(inputs, Call) and inputs.name == ".drop" and inputs.receiver is not None:
            given = inputs.argument(None, "columns") or _by_axis(inputs)
            dropped = given.members if isinstance(given, Group) else () if given is None else (given,)
            names = [one.value for one in dropped if isinstance(one, Literal)]
            if given is None or len(names) != len(dropped) or column in names:
                return False
            inputs = inputs.receiver
        elif isinstance(inputs, Call) and inputs.name in (*_SAME_FRAME, *_SAME_ROWS) and inputs.receiver is not None:
            inputs = inputs.receiver
        else:
            return False


def _are_all_columns(index: Value, frame: Value) -> bool:
    """`table[table.columns.tolist()]`, of the table itself or of what it was before it was scaled."""
    while isinstance(index, Call) and index.name in (".tolist", "builtins.list", ".to_list"):
        inner = index.receiver if index.name.startswith(".") else index.argument(0)
        if inner is None:
            return False
        index = inner
    of_table = isinstance(index, Item) and index.attribute and bound_key(index.index) == "columns"
    return of_table and isinstance(index, Item) and any(index.base is one for one in walk(frame, 40))


def _by_axis(drop: Call) -> Value | None:
    axis = drop.argument(1, "axis")
    columns = isinstance(axis, Literal) and axis.value in (1, "columns")
    return drop.argument(0, "labels") if columns else None


LEARNT_FEATURE_RULES = [fitted_again_on_test_data, target_among_features]
