"""Rules on the shape of a model's output, its vocabulary, and the mode that it runs in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Function,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Slice,
    Symbol,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.labels import labels_of, plain_labels, targets_of
from recordsmith.doctor.lint.libraries.models import CompiledModel, layers_of
from recordsmith.doctor.lint.libraries.rows import rows_of
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.training.ranges import model_inputs
from recordsmith.rules import Finding, Severity, rule

__all__ = ["OUTPUT_RULES"]

_LOSS_OF_NUMBERS = re.compile(
    r"keras\.(losses|metrics)\.(MeanSquaredError|MeanAbsoluteError|Huber|LogCosh|mean_squared_error|mean_absolute_error"
    r"|mse|mae|MSE|MAE|huber|log_cosh)"
)
_LOSSES_OF_NUMBERS = ("mse", "mean_squared_error", "mae", "mean_absolute_error", "huber", "MSE", "MAE")
_ADDS_WORDS = r"(word_?index|word2idx|word2id|vocab)\w*\[[^\]]*\]\s*=(?!=)"  # `word_index["PAD"] = 0`
_NORMALISES = re.compile(r"keras\.applications\.(\w+\.)?(ResNet|MobileNet|EfficientNet|DenseNet|Inception|Xception)\w*")
_APPLIES = r"\b(apply_gradients|apply|minimize|assign_sub|assign)\("
_BEHAVES_DIFFERENTLY = ("keras.layers.Dropout", "keras.layers.BatchNormalization")


@rule("P220", "output-against-loss", Severity.ERROR)
def output_against_loss(program: Program) -> Iterator[Finding]:
    """The last layer has another number of units, or another activation, than the loss is made for.

    Why it matters:
        A categorical cross-entropy compares several outputs that add up to 1. With a single unit it is always 0. A
        binary cross-entropy scores every unit for itself, so that the accuracy of many classes looks high from the
        start.

    Example:
        `Dense(1, activation="sigmoid")` with `categorical_crossentropy`; `Dense(10, activation="softmax")` with
        `binary_crossentropy`.

    Fix:
        One unit with sigmoid and `binary_crossentropy` for two classes; one unit for each class with softmax and
        `categorical_crossentropy` for more.
    """
    for model in program.models:
        if model.last is None or model.units is None or model.loss is None:
            continue
        severity = Severity.WARNING
        if model.units == 1 and model.loss in ("sparse", "categorical") and model.activation != "softmax":
            severity = Severity.ERROR
            found = "The last layer has one unit, over which a categorical cross-entropy cannot tell classes apart"
        elif model.loss == "binary" and model.activation == "softmax" and model.units > 2:
            found = (
                f"The last layer is a softmax over {model.units} classes, and `binary_crossentropy` scores each unit "
                "separately: the accuracy looks high and means little"
            )
        elif model.loss in ("sparse", "categorical") and model.activation == "sigmoid" and model.units > 1:
            found = (
                f"The last layer gives {model.units} independent probabilities (sigmoid), and the loss expects a "
                "softmax over the classes"
            )
        elif model.activation in ("relu", "tanh") and not model.from_logits and _is_trained(model):
            found = (
                f"The last layer ends with {model.activation}, and the loss expects probabilities: values above 1 or "
                "below 0 are cut off, and their gradients are lost"
            )
        else:
            continue
        yield program.finding(output_against_loss, model.last.expression, f"{found}.", severity=severity)
    yield from _limited_numbers(program)
    yield from _other_length(program)
    for call in program.calls:
        given = call.argument(1, "y_pred", "output")
        softmaxed = re.fullmatch(r"keras\.(losses|backend|metrics)\.(sparse_)?categorical_crossentropy", call.name)
        if softmaxed and isinstance(given, Call) and re.fullmatch(r"tensorflow\.(nn\.|math\.)?sigmoid", given.name):
            yield program.finding(
                output_against_loss,
                given.expression,
                "The scores of the classes go through a sigmoid, and this loss expects a softmax over them.",
                advice="Use `tf.nn.softmax`, or give the raw scores and `from_logits=True`.",
                severity=Severity.WARNING,
            )


def _is_trained(model: CompiledModel) -> bool:
    """It is trained, by `fit` or in a loop; a model that is cut off to look inside is only compiled."""
    return bool(model.fits) or model.compile.name != ".compile"


def _other_length(program: Program) -> Iterator[Finding]:
    """Targets that are slices of a series, of another length than the last layer gives."""
    for model in program.models:
        for fit in model.fits if model.units is not None and model.last is not None else ():
            length = _slice_length(fit.argument(1, "y"))
            flat = model.layers is None or not any("TimeDistributed" in one.name for one in model.layers)
            if length is not None and length > 1 == model.units and flat and model.last is not None:
                yield program.finding(
                    output_against_loss,
                    model.last.expression,
                    f"Every target has {length} values, and the last layer gives 1: the loss compares that one with "
                    "all of them, and the model learns their mean.",
                    advice=f"Give the last layer {length} units.",
                    severity=Severity.ERROR,
                )


def _slice_length(value: Value | None) -> int | None:
    """The length of each row of `[series[i + a:i + b] for i in ...]`."""
    value = None if value is None else rows_of(value, through_lists=False).origin
    member = value.member if isinstance(value, Many) else None
    if isinstance(value, Group) and value.grown and len(value.members) == 1:
        member = value.members[0]
    index = member.index if isinstance(member, Item) else None
    if not isinstance(index, Slice) or index.step is not None:
        return None
    ends = [_offset(end) for end in (index.lower, index.upper)]
    if ends[0] is None or ends[1] is None or ends[0][0] is not ends[1][0]:
        return None
    return ends[1][1] - ends[0][1]


def _offset(value: Value | None) -> tuple[Value, int] | None:
    """A counter and what is added to it."""
    if isinstance(value, Operation) and value.operator == "+" and len(value.operands) == 2:
        counter, number = value.operands
        known = isinstance(number, Literal) and isinstance(number.value, int)
        return (counter, number.value) if known and isinstance(number, Literal) else None
    return None if value is None or isinstance(value, Literal) else (value, 0)


def _limited_numbers(program: Program) -> Iterator[Finding]:
    """Numbers that are predicted by a layer that cannot give all of them."""
    for model in program.models:
        loss = model.compile.argument(1, "loss")
        of_numbers = _is_of_numbers(loss)
        if of_numbers and model.activation == "softmax" and (model.units or 0) > 1 and model.last is not None:
            known = [labels for _, labels in targets_of(model) if labels is not None and labels.kind == "numbers"]
            if known:
                yield program.finding(
                    output_against_loss,
                    model.last.expression,
                    f"The last layer gives {model.units} probabilities, and each is compared with the class number "
                    "itself: the model cannot learn which class it is.",
                    advice='Use loss="sparse_categorical_crossentropy".',
                    severity=Severity.ERROR,
                )
        if not of_numbers or model.units != 1 or model.activation not in ("relu", "sigmoid") or model.last is None:
            continue
        targets = [fit.argument(1, "y") for fit in model.fits]
        below = any(one is not None and _goes_below_zero(one) for one in targets)
        if below:
            what = "and the labels go below 0" if model.activation == "relu" else "and the labels go beyond 0..1"
            yield program.finding(
                output_against_loss,
                model.last.expression,
                f"The last layer ends with {model.activation}, {what}: it can never give those, and its gradient is 0 "
                "there.",
                advice="Leave out the activation of the last layer, where numbers are predicted.",
                severity=Severity.ERROR,
            )
        elif model.activation == "sigmoid" and any(map(_is_plain_column, targets)):
            yield program.finding(
                output_against_loss,
                model.last.expression,
                "The last layer ends with sigmoid: it can only give numbers from 0 to 1, and nothing here scales the "
                "column that it is to predict.",
                advice="Leave out the activation of the last layer, or scale the targets to 0..1.",
                severity=Severity.INFO,
            )
        elif model.activation == "relu":
            yield program.finding(
                output_against_loss,
                model.last.expression,
                "The last layer ends with relu: it can only give numbers of 0 and above, and if it gives 0 for all "
                "inputs once, its gradient is 0 and it stays so.",
                advice="Leave out the activation, unless the numbers are never below 0; then `softplus` cannot die.",
                severity=Severity.INFO,
            )


def _is_plain_column(target: Value | None) -> bool:
    """It is a column of a table as it was read."""
    column = None if target is None else plain_labels(target)
    table = column.base if isinstance(column, Item) and isinstance(column.index, Literal) else None
    return isinstance(table, Call) and table.name.startswith("pandas.read_")


def _goes_below_zero(value: Value) -> bool:
    """Labels that are written down, of which one is negative, or that were standardised."""
    for one in walk(value, 60):
        if isinstance(one, Literal) and isinstance(one.value, float) and one.value < 0 and _is_data(value):
            return True
        fitted = isinstance(one, Call) and one.name in (".fit_transform", ".transform")
        if fitted and isinstance(one, Call) and isinstance(one.receiver, Call):
            return one.receiver.name == "sklearn.preprocessing.StandardScaler"
    return False


def _is_data(value: Value) -> bool:
    """It is an array that is written down in the source."""
    while isinstance(value, Call) and value.name in ("numpy.array", "numpy.reshape", ".reshape", ".astype"):
        inner = value.receiver if value.name.startswith(".") else value.argument(0)
        if inner is None:
            return False
        value = inner
    return isinstance(value, Group)


@rule("P221", "accuracy-of-numbers", Severity.INFO)
def accuracy_of_numbers(program: Program) -> Iterator[Finding]:
    """A model that predicts numbers is measured by accuracy.

    Why it matters:
        Accuracy counts exact matches. Of predictions such as 3.98 for 4.0 none is exact: the accuracy stays near 0,
        however good the model is.

    Example:
        `model.compile(loss="mse", metrics=["accuracy"])`

    Fix:
        Measure the error: `metrics=["mae"]`.
    """
    for call in program.calls:
        loss, metrics = call.argument(1, "loss"), call.argument(2, "metrics")
        members = metrics.members if isinstance(metrics, Group) else ()
        accuracy = any(isinstance(one, Literal) and one.value in ("accuracy", "acc") for one in members)
        if call.name == ".compile" and accuracy and _is_of_numbers(loss):
            yield program.finding(
                accuracy_of_numbers,
                call.expression,
                "The loss is one for numbers, and accuracy counts exact matches only: it says nothing here.",
            )


def _is_of_numbers(loss: Value | None) -> bool:
    """It is a loss for predicted numbers, by its name, as a function or as an object."""
    if isinstance(loss, Literal):
        return loss.value in _LOSSES_OF_NUMBERS
    name = loss.name if isinstance(loss, Call) else loss.path if isinstance(loss, Symbol) else ""
    return _LOSS_OF_NUMBERS.fullmatch(name) is not None


@rule("P260", "trained-in-inference-mode", Severity.WARNING)
def trained_in_inference_mode(program: Program) -> Iterator[Finding]:
    """A training loop calls the model without `training=True`.

    Why it matters:
        In a loop of one's own, Keras runs a model in inference mode unless it is told otherwise: Dropout drops nothing,
        and BatchNormalization uses and keeps its initial averages, which are wrong for the data.

    Example:
        `with tf.GradientTape() as tape: loss = loss_fn(y, model(x))`

    Fix:
        `model(x, training=True)` in training, `model(x, training=False)` in validation.
    """
    reported: set[int] = set()
    if not program.mentions(_APPLIES):
        return  # gradients of an input, as of an attack on a trained model
    for node, layer in _own_steps(program):
        yield program.finding(
            trained_in_inference_mode,
            node,
            "The model is trained in inference mode, because `training=True` is missing: "
            f"`{layer.name.rpartition('.')[2]}` does not do what it does in training.",
        )
    for call in program.calls:
        mode = call.argument(None, "training")
        if call.name != "()" or call.receiver is None or not (mode is None or _is_trained_so(program, call, mode)):
            continue
        layers = layers_of(call.receiver, program.calls) or (call.receiver,)
        sensitive = next((one for one in layers if isinstance(one, Call) and _behaves_differently(one)), None)
        if id(call.receiver) in reported or not _in_tape(call.expression) or len(call.args) != 1:
            continue
        reported.add(id(call.receiver))
        if sensitive is not None:
            name = sensitive.name.rpartition(".")[2]
            yield program.finding(
                trained_in_inference_mode,
                call.expression,
                f"The model is trained in inference mode, because `training=True` is missing: `{name}` does not do "
                "what it does in training.",
            )


def _own_steps(program: Program) -> Iterator[tuple[ast.Call, Call]]:
    """`self(x)` inside the tape of a `train_step`, and a layer of the model that does something else in training."""
    for one in program.instances:
        step, called = (one.program_class.members.get(name) for name in ("train_step", "call"))
        if not isinstance(step, Function) or not isinstance(called, Function):
            continue
        if "training" not in [name.arg for name in called.definition.args.args]:
            continue
        layers = [part for value in one.fields.values() for part in walk(value, 60)]
        sensitive = next((part for part in layers if isinstance(part, Call) and _behaves_differently(part)), None)
        for node in ast.walk(step.definition):
            match node:
                case ast.Call(func=ast.Name(id="self"), args=[_], keywords=[]) if sensitive and _in_tape(node):
                    yield node, sensitive


def _is_trained_so(program: Program, call: Call, mode: Value) -> bool:
    """It is called with `training=False`, and the gradients of its own weights are taken."""
    if not isinstance(mode, Literal) or mode.value is not False:
        return False
    taken = [one.argument(1, "sources") for one in program.calls if one.name == ".gradient"]
    return any(isinstance(one, Item) and one.base is call.receiver for one in taken)


def _behaves_differently(layer: Call) -> bool:
    return layer.name in _BEHAVES_DIFFERENTLY or bool(_NORMALISES.fullmatch(layer.name))


def _in_tape(node: ast.AST) -> bool:
    one: ast.AST | None = node
    while one is not None and not isinstance(one, ast.FunctionDef | ast.Module):
        if isinstance(one, ast.With):
            return any("GradientTape" in ast.unparse(item.context_expr) for item in one.items)
        one = getattr(one, "parent", None)
    return False


@rule("P261", "embedding-too-small", Severity.ERROR)
def embedding_too_small(program: Program) -> Iterator[Finding]:
    """An embedding has fewer rows than there are words.

    Why it matters:
        Keras' Tokenizer numbers words from 1; 0 is padding. An embedding with `len(word_index)` rows has none for the
        last word: training stops with an index error on the CPU, and reads zeros on a GPU.

    Example:
        `Embedding(len(tokenizer.word_index), 64)`

    Fix:
        `Embedding(len(tokenizer.word_index) + 1, 64)`
    """
    yield from _ids_beyond(program)
    for call in program.calls:
        rows = call.argument(0, "input_dim")
        if (
            call.name == "keras.layers.Embedding"
            and _is_word_count(rows)
            and not program.mentions(_ADDS_WORDS)
            and rows is not None
            and rows.node is not None
        ):
            _, end = getattr(rows.node, "source", program.source).span(rows.node)
            yield program.finding(
                embedding_too_small,
                call.expression,
                "Word numbers go from 1 to the number of words, and this embedding has one row too few for the last "
                "one.",
                advice="Add 1, for the padding at number 0: `len(tokenizer.word_index) + 1`.",
                edits=[Edit(end, end, " + 1")],
                certain=isinstance(getattr(rows.node, "parent", None), ast.Call | ast.keyword),
            )


def _ids_beyond(program: Program) -> Iterator[Finding]:
    """Ids whose range the source says, for an embedding with fewer rows."""
    for model in program.models:
        layer = next((one for one in model.layers or () if one.name == "keras.layers.Embedding"), None)
        given = None if layer is None else layer.argument(0, "input_dim")
        rows = given.value if isinstance(given, Literal) and isinstance(given.value, int) else None
        for value in model_inputs(model) if rows is not None else ():
            ids = labels_of(plain_labels(value))
            if ids is None or ids.highest is None or layer is None or rows is None:
                continue
            if ids.highest >= rows:
                yield program.finding(
                    embedding_too_small,
                    layer.expression,
                    f"The ids go up to {ids.highest}, and this embedding has {rows} rows, for 0 to {rows - 1}.",
                    advice=f"Give it {ids.highest + 1} rows.",
                )


def _is_word_count(value: Value | None) -> bool:
    if not isinstance(value, Call) or value.name != "builtins.len" or not value.args:
        return False
    index = value.args[0]
    known = isinstance(index, Item) and isinstance(index.index, Literal) and index.index.value == "word_index"
    maker = index.base if known and isinstance(index, Item) else None
    return isinstance(maker, Call) and maker.name.endswith(".Tokenizer") and maker.argument(0, "num_words") is None


OUTPUT_RULES = [output_against_loss, accuracy_of_numbers, trained_in_inference_mode, embedding_too_small]
