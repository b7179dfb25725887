"""The rule on scalers and vocabularies that have seen the test data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Group,
    Item,
    Literal,
    Operation,
    Slice,
    Unknown,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.fitting import model_of, model_uses, split_part
from recordsmith.doctor.lint.libraries.rows import is_alike, is_same_part, own_statistics, rows_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.pipeline.oversampling import CROSS_VALIDATES, JOINS
from recordsmith.doctor.lint.rules.splits.target_means import target_means_before
from recordsmith.doctor.lint.rules.torch_data.statistics import fitted_before_torch_split
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SPLITTING_RULES"]

_ESTIMATOR = re.compile(
    r"sklearn\.(?!preprocessing|decomposition|impute|feature)|xgboost\.|lightgbm\.|catboost\.|keras\."
)
_TABLES = re.compile(r"numpy\.(load|loadtxt|genfromtxt)|pandas\.read_\w+|scipy\.io\.loadmat|torch\.load")
_TREES = re.compile(r"Tree|Forest|XGB|LGBM|CatBoost|GradientBoosting|AdaBoost")
_STEPS = re.compile(
    r"sklearn\.(pipeline\.(make_pipeline|Pipeline)|compose\.(make_column_transformer|ColumnTransformer))"
)
_WORDS = re.compile(r"Vectorizer|Tokenizer|TextVectorization|Lookup")
_LEARNS = {".fit", ".fit_transform", ".adapt", ".fit_on_texts"}
_FITTED = re.compile(
    r"sklearn\.(preprocessing\.(Standard|MinMax|Robust|MaxAbs)Scaler|preprocessing\.(Quantile|Power)Transformer"
    r"|preprocessing\.(KBinsDiscretizer|TargetEncoder)|feature_extraction\..*Vectorizer|decomposition\.\w+"
    r"|impute\.\w+|feature_selection\.\w+)|keras\.layers\.(TextVectorization|Normalization|StringLookup|Discretization)"
    r"|keras\.preprocessing\.text\.Tokenizer|tokenizers\.\w+"
)
_TRAIN = re.compile(r"(^|_)(train|training|trn)(_|$|\d)", re.IGNORECASE)
_TEST = re.compile(r"(^|_)(test|testing|val|valid|validation|holdout)(_|$|\d)", re.IGNORECASE)


@rule("P048", "fitted-on-test-data", Severity.WARNING)
def fitted_on_test_data(program: Program) -> Iterator[Finding]:
    """A vocabulary, scaler or similar is fitted on training and test data together.

    Why it matters:
        Whatever is learned from the test data, even a mean or a word list, makes the test easier than real use. The
        score is then too good.

    Example:
        `x = StandardScaler().fit_transform(x)`, and only then `train_test_split(x, y)`.

    Fix:
        Split first. Fit on the training data only, then transform both: `scaler.fit(x_train)`,
        `scaler.transform(x_test)`.
    """
    fitted_on = {
        id(one.receiver): one.args[0]
        for one in program.calls
        if one.name == ".fit" and one.args and _is_fitting(one, also_adapt=True)
    }
    yield from _cut_afterwards(program)
    yield from fitted_before_torch_split(program, fitted_on_test_data)
    yield from _stored_before(program)
    for call in program.calls:
        if CROSS_VALIDATES.fullmatch(call.name):
            yield from _selected_before(program, call)
        elif call.name.endswith("train_test_split") or _is_of_folds(call):
            parts = [one for argument in call.args for one in walk(argument)]
            fitted = next((one for one in parts if _is_fitting(one) or _is_fitted(one, fitted_on)), None)
            yield from _adapted_before(program, call) if fitted is None else ()
            for mean, target in target_means_before(program, call):
                yield program.finding(
                    fitted_on_test_data,
                    mean.expression,
                    f"This takes a statistic of {target!r}, the target, over all rows before they are split: the "
                    "features hold the answers of the test rows, and the score will promise too much.",
                    advice="Split first, compute it from the training rows, and map it to the test rows.",
                )
            filled = next((one for one in parts if _is_filled(one)), None)
            scaled = next((one for one in parts if fitted is None and _is_standardised(one)), None)
            if scaled is not None and scaled.node is not None:
                yield program.finding(
                    fitted_on_test_data,
                    scaled.node,
                    "This takes the mean or deviation of all rows before they are split, the test rows included: the "
                    "score will be too optimistic.",
                )
            if fitted is None and filled is not None and filled.node is not None:
                yield program.finding(
                    fitted_on_test_data,
                    filled.node,
                    "Missing values are filled with a mean of all rows before the data is split: it is partly a mean "
                    "of the test rows.",
                    severity=Severity.INFO,
                )
            scaled = next((one for one in map(own_statistics, parts) if one is not None), None)
            if fitted is None and scaled is not None and scaled.node is not None and _by_column(scaled):
                yield program.finding(
                    fitted_on_test_data,
                    scaled.node,
                    "This scales by statistics of all rows before the data is split, the test rows included: the score "
                    "will be too optimistic.",
                )
            if isinstance(fitted, Call) and not _is_training_part(fitted):
                yield program.finding(
                    fitted_on_test_data,
                    fitted.expression,
                    f"`{_name(fitted)}` is fitted on all the data before it is split, the test data included: the "
                    "score will be too optimistic.",
                    severity=_harmless(program, fitted),
                )
        elif call.name in _LEARNS and _is_fitting(call, also_adapt=True) and call.args and _is_whole(program, call):
            yield program.finding(
                fitted_on_test_data,
                call.expression,
                f"`{_name(call)}` is fitted on the whole dataset, of which a part is kept for validation: the score "
                "will be too optimistic.",
                severity=_harmless(program, call),
            )
        elif (
            call.name in _LEARNS
            and _is_fitting(call, also_adapt=True)
            and call.args
            and (_is_both(_joined(call.args[0])) or _joins_both(program, _joined(call.args[0])))
        ):
            yield program.finding(
                fitted_on_test_data,
                call.expression,
                f"`{_name(call)}` is fitted on training and test data together: the score will be too optimistic.",
                severity=_harmless(program, call),
            )


def _is_of_folds(call: Call) -> bool:
    """`KFold(5).split(x)`."""
    return (
        call.name == ".split"
        and isinstance(call.receiver, Call)
        and (call.receiver.name.startswith("sklearn.model_selection."))
    )


def _is_whole(program: Program, fit: Call) -> bool:
    """A dataset as a whole, of which `take` and `skip` make the parts for training and validation elsewhere."""
    given = pipelines_in(fit.args[0])
    if len(given) != 1 or any(stage.name in ("take", "skip", "filter", "shard") for stage in given[0].stages):
        return False
    ancestors = {id(one) for one in given[0].ancestors()}
    roles: set[str] = set()
    for part in program.pipelines:
        cut = part.stage is not None and part.stage.name in ("take", "skip") and id(part.parent) in ancestors
        roles |= program.roles(part) if cut else set()
    return {"training", "validation"} <= roles


def _is_standardised(value: Value) -> bool:
    """A whole array that was scaled by its own mean or deviation; a range, as of pixels, tells little."""
    scaled = own_statistics(value)
    if scaled is None or split_part(rows_of(scaled).origin) is not None:
        return False
    names = [one.name for one in walk(scaled.operands[1], 40) if isinstance(one, Call)]
    whole = not rows_of(scaled).cuts and isinstance(rows_of(scaled).origin, Call | Item)
    return whole and any(re.fullmatch(r"(numpy)?\.(mean|std|var)", name) for name in names)


def _adapted_before(program: Program, split: Call) -> Iterator[Finding]:
    """A layer or scaler that is fitted on the very rows that are then split, and applied to the parts later."""
    for call in program.calls:
        if call is split:
            return
        fits = call.name in (".adapt", ".fit") and bool(call.args) and _is_fitting(call, also_adapt=True)
        if fits and split.args and _are_all_rows(call.args[0], split.args[0]):
            yield program.finding(
                fitted_on_test_data,
                call.expression,
                f"`{_name(call)}` is fitted on all the data before it is split, the test data included: the score will "
                "be too optimistic.",
                severity=_harmless(program, call),
            )


def _are_all_rows(fitted: Value, whole: Value) -> bool:
    """What is fitted on has all rows of what is split."""
    one, other = rows_of(fitted), rows_of(whole)
    same = one.origin is other.origin and not one.cuts and not other.cuts and isinstance(one.origin, Call)
    return same or is_same_part(fitted, whole)


def _cut_afterwards(program: Program) -> Iterator[Finding]:
    """What was fitted on all rows is cut into training and test rows afterwards: `x[:n]` and `x[n:]`."""
    seen: dict[tuple[int, object], set[bool]] = {}
    reported: set[int] = set()
    stored = [
        (call, table, learnt)
        for call in program.calls
        if call.name == ".__setitem__" and call.receiver is not None
        if (learnt := _learnt_from(call.args[1], table := _table_of(call.receiver))) is not None
    ]
    for item in program.items:
        index = item.index if isinstance(item, Item) else None
        index = index.members[0] if isinstance(index, Group) and index.members else index
        if not isinstance(item, Item) or not isinstance(index, Slice):
            continue
        base = _plain_table(item.base)
        fitted = base if _is_fitting(base) or _is_fitted_alike(base) else _scaled_by_itself(item.base)
        fitted = fitted or _stored_earlier(stored, item)
        if fitted is None or fitted.node is None:
            continue
        lower = None if isinstance(index.lower, Literal) and index.lower.value in (0, None) else index.lower
        cut = lower or index.upper
        if cut is None:
            continue
        sides = [seen.setdefault((id(_table_of(item.base)), key), set()) for key in _bounds(cut)]
        for side in sides:
            side.add(lower is None)
        if any(len(side) == 2 for side in sides) and id(fitted.node) not in reported:
            reported.add(id(fitted.node))
            what = f"`{_name(fitted)}` is fitted on" if isinstance(fitted, Call) else "This takes the statistics of"
            yield program.finding(
                fitted_on_test_data,
                fitted.node,
                f"{what} all the data before it is cut into training and test data: the score will be too optimistic.",
                severity=_harmless(program, fitted) if isinstance(fitted, Call) else None,
            )


def _by_column(scaled: Value) -> bool:
    """The statistics are those of each column, over all rows; a single number for everything hardly tells anything."""
    found = [one for one in walk(scaled, 60) if isinstance(one, Call) and _STATISTIC.fullmatch(one.name)]
    axes = [one.argument(0 if one.name.startswith(".") else 1, "axis", "dim") for one in found]
    table = any(isinstance(one, Call) and one.name.startswith("pandas.") for one in walk(scaled, 200))
    return any(isinstance(one, Literal) and one.value == 0 for one in axes) or table


_STATISTIC = re.compile(r"(numpy|torch)?\.(mean|std|min|max|var|amin|amax)")


def _plain_table(value: Value) -> Value:
    """The array that a table was made from, where `table.iloc[...]` is taken of it."""
    value = _table_of(value)
    while isinstance(value, Call) and value.name in ("pandas.DataFrame", ".astype", "numpy.array") and value.exact:
        value = (value.receiver if value.name == ".astype" else value.argument(0, "data")) or Unknown()
    return value


def _is_fitted_alike(value: Value) -> bool:
    """`MinMaxScaler().fit(table).transform(table)`, where both are written in the same way."""
    maker = value.receiver if isinstance(value, Call) and value.name == ".transform" and value.args else None
    if not isinstance(value, Call) or not isinstance(maker, Call) or maker.name != ".fit" or not maker.args:
        return False
    return _is_fitting(maker, also_adapt=True) and is_alike(maker.args[0], value.args[0])


def _stored_earlier(stored: list[tuple[Call, Value, Value]], item: Item) -> Value | None:
    """What scaled columns of a table in place, above the place that takes a slice of its rows."""
    line = getattr(item.node, "lineno", 0)
    base = _table_of(item.base)
    return next((learnt for call, table, learnt in stored if table is base and call.expression.lineno < line), None)


def _stored_before(program: Program) -> Iterator[Finding]:
    """Columns that were scaled in place, `df[c] = scaler.fit_transform(df[c])`, before the table is split."""
    scaled: dict[int, tuple[Call, Value]] = {}
    reported: set[int] = set()
    for call in program.calls:
        if call.name == ".__setitem__" and call.receiver is not None:
            table = _table_of(call.receiver)
            learnt = _learnt_from(call.args[1], table)
            if learnt is not None:
                scaled.setdefault(id(table), (call, learnt))
        for whole in _split_tables(call) if scaled else ():
            store, learnt = next((scaled[id(one)] for one in walk(whole, 60) if id(one) in scaled), (None, None))
            if store is None or learnt is None or id(store.node) in reported or split_part(store.receiver) is not None:
                continue
            reported.add(id(store.node))
            what = f"`{_name(learnt)}` is fitted on" if isinstance(learnt, Call) else "This takes the statistics of"
            what = "Missing values are filled with a mean of" if _is_filled(learnt) else what
            yield program.finding(
                fitted_on_test_data,
                learnt.node or store.expression,
                f"{what} all rows of the table before it is split, the test rows included: the score will be too "
                "optimistic.",
                severity=_harmless(program, learnt) if isinstance(learnt, Call) else None,
            )


def _is_filled(value: Value) -> bool:
    """`x.fillna(x.mean())`: missing values of a table, filled with a statistic of the same table."""
    given = value.argument(0, "value") if isinstance(value, Call) and value.name == ".fillna" else None
    if not isinstance(given, Call) or given.name not in (".mean", ".median") or given.receiver is None:
        return False
    filled = value.receiver if isinstance(value, Call) else None
    return filled is not None and (
        is_same_part(given.receiver, filled) or rows_of(given.receiver).origin is rows_of(filled).origin
    )


def _table_of(value: Value) -> Value:
    """The table of `table.loc[...]` and `table.iloc[...]`."""
    return value.base if isinstance(value, Item) and value.attribute else value


def _learnt_from(value: Value, table: Value) -> Value | None:
    """The scaler's fit, or the statistics, that a column got its new values from, where they are of the same table."""
    for one in walk(value, 20):
        learnt = own_statistics(one)
        if learnt is not None and any(part is table for part in walk(learnt, 30)):
            read = any(isinstance(part, Call) and _TABLES.fullmatch(part.name) for part in walk(table, 200))
            return learnt if read else None
        if _is_filled(one):
            return one if any(part is table for part in walk(one, 20)) else None
        if isinstance(one, Call) and one.name == ".fit_transform" and isinstance(one.receiver, Call) and one.args:
            of_table = any(part is table for part in walk(one.args[0], 10))
            return one if of_table and _FITTED.fullmatch(one.receiver.name) else None
    return None


def _split_tables(call: Call) -> Iterator[Value]:
    """The tables whose rows a call divides into training and test rows."""
    if call.name.endswith("train_test_split"):
        yield from call.args
    elif (
        call.name == ".drop" and call.receiver is not None and call.args
    ):  # train = df.sample(...), df.drop(train.index)
        match call.args[0]:
            case Item(base=Call(name=".sample"), index=Literal(value="index")):
                yield call.receiver


def _scaled_by_itself(value: Value) -> Value | None:
    """The step that scaled a whole table by its own statistics, before it was cut into windows or rows."""
    for one in walk(value, 40):
        scaled = own_statistics(one)
        if scaled is not None:
            origin = rows_of(scaled).origin
            return scaled if isinstance(origin, Call) and _TABLES.fullmatch(origin.name) else None
    return None


def _harmless(program: Program, fitted: Call) -> Severity | None:
    """A list of words tells little about the test data, and trees do not care how a column is scaled."""
    models = [model_of(one.receiver) for one in program.calls if one.name == ".fit" and one.receiver is not None]
    names = [one.name for one in models if isinstance(one, Call) and _ESTIMATOR.match(one.name)]
    only_trees = bool(names) and all(_TREES.search(name) for name in names)
    scaled = _name(fitted).endswith("Scaler")
    mild = _WORDS.search(_name(fitted)) or fitted.name == ".fillna" or (scaled and only_trees)
    return Severity.INFO if mild else None


def _is_training_part(fitted: Call) -> bool:
    """What is split is the training part of a split before."""
    given = fitted.args[0] if fitted.args else None
    return split_part(given) is not None


def _bounds(value: Value) -> set[object]:
    """What two bounds have in common that cut a table at the same row: their value, or what they begin with."""
    while isinstance(value, Operation) and value.operator in ("+", "-") and len(value.operands) == 2:
        value = value.operands[0]  # `x[n - window:]` is cut at n too: its first rows are only looked back to
    node = value.node
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        node = node.left
    named = node is not None and not isinstance(node, ast.Constant)
    found: set[object] = {ast.unparse(node)} if named and node is not None else {id(value)}
    if isinstance(value, Literal) and isinstance(value.value, str):
        found.add("date")  # `table.loc[:"2019-12-31"]` and `table.loc["2020-01-01":]`
    return found | ({value.value} if isinstance(value, Literal) else set())


def _selected_before(program: Program, call: Call) -> Iterator[Finding]:
    """Features that were selected with the labels of all rows, before a cross-validation."""
    for one in (part for argument in call.args[1:2] for part in walk(argument)):
        if isinstance(one, Call) and _is_fitting(one) and "feature_selection" in getattr(one.receiver, "name", ""):
            yield program.finding(
                fitted_on_test_data,
                one.expression,
                f"`{_name(one)}` selects features by the labels of all rows, also of those that each fold is tested "
                "on: the score will be too optimistic.",
                advice="Put the selection and the model into one pipeline, `make_pipeline(SelectKBest(), model)`, and "
                "cross-validate that.",
            )


def _is_fitted(value: Value, fitted_on: dict[int, Value]) -> bool:
    """`scaler.transform(x)` after `scaler.fit(x)`."""
    if not isinstance(value, Call) or value.name != ".transform" or not value.args:
        return False
    maker = value.receiver
    if isinstance(maker, Call) and maker.name == ".fit" and maker.args:
        return _is_fitting(maker, also_adapt=True) and maker.args[0] is value.args[0]
    return fitted_on.get(id(maker)) is value.args[0]


def _is_fitting(value: Value, *, also_adapt: bool = False) -> bool:
    if not isinstance(value, Call) or (value.name != ".fit_transform" and not also_adapt):
        return False
    if _is_in_loop(value.expression):
        return False  # each series on its own, which learns nothing from the others
    maker = value.receiver
    if isinstance(maker, Call) and _STEPS.fullmatch(maker.name):
        made = [one for one in walk(maker, 60) if isinstance(one, Call) and one is not maker]
        return any(_FITTED.fullmatch(one.name) for one in made) and not any(_ESTIMATOR.match(one.name) for one in made)
    return isinstance(maker, Call) and bool(_FITTED.fullmatch(maker.name))


def _is_in_loop(node: ast.AST) -> bool:
    outer: ast.AST | None = node
    while outer is not None and not isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        if isinstance(outer, ast.For | ast.While | ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.Lambda):
            return True
        outer = getattr(outer, "parent", None)
    return False


def _name(call: Call) -> str:
    maker = None if call.receiver is None else model_of(call.receiver)
    return maker.name.rpartition(".")[2] if isinstance(maker, Call) else "it"


def _root_of(value: Value) -> Value:
    """The table that rows or columns are of."""
    value = rows_of(value).origin
    while isinstance(value, Item):
        value = value.base
    return value


def _joined(value: Value) -> Value:
    """What was joined, before it became an array or a list."""
    while True:
        match value:
            case Item(base=inner, attribute=True, index=Literal(value="values")):
                value = inner
            case Call(name=".to_numpy" | ".astype" | ".tolist" | ".unique" | ".fillna", receiver=Value() as inner):
                value = inner
            case _:
                return value


def _joins_both(program: Program, value: Value) -> bool:
    """It joins what a model is trained on with what it is tested on."""
    joined = value.argument(0) if isinstance(value, Call) and JOINS.fullmatch(value.name) else None
    origins = [_root_of(one) for one in joined.members] if isinstance(joined, Group) else []
    roles: set[str] = set()
    for use in model_uses(program.calls) if len(origins) > 1 else ():
        used = _root_of(use.inputs)
        roles |= {use.role} if isinstance(used, Call) and any(used is one for one in origins) else set()
    return "training" in roles and len(roles) > 1


def _is_both(value: Value) -> bool:
    """Its source puts together something called train and something called test."""
    names: set[str] = set()
    for pipeline in pipelines_in(value):
        for stage in pipeline.stages:
            if stage.name == "concatenate":
                names |= set(pipeline.all_names)
                names |= {name for other in pipelines_in(stage.call.argument(0)) for name in other.all_names}
    node = value.node
    if isinstance(node, ast.BinOp) or (isinstance(value, Call) and JOINS.fullmatch(value.name) and node is not None):
        names |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return any(_TRAIN.search(name) for name in names) and any(_TEST.search(name) for name in names)


SPLITTING_RULES = [fitted_on_test_data]
