"""Rules on how a model is trained: its optimizer and learning rate, what is frozen, and what is monitored."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import replace_argument
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Item,
    Literal,
    Table,
    Unknown,
    Value,
)
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["STEP_RULES"]

_ADAPTIVE = re.compile(r"keras\.optimizers\.(Adam|AdamW|Nadam|RMSprop|Adamax)")
_OPTIMIZER = re.compile(r"keras\.optimizers\.[A-Z]\w+|tensorflow\.optimizers\.[A-Z]\w+")
_LARGEST_RATE = 1.0
_LARGEST_RATE_OF_SGD = 10.0
_GETS_BETTER_DOWN = re.compile(r"(val_)?(\w+_)?(loss|mse|mae|rmse|error|mean_squared_error|mean_absolute_error)")
_GETS_BETTER_UP = re.compile(r"(val_)?(\w+_)?(acc|accuracy|auc|precision|recall|f1|f1_score|iou|dice|mean_io_u)")


@rule("P232", "unfrozen-without-compile", Severity.WARNING)
def unfrozen_without_compile(program: Program) -> Iterator[Finding]:
    """`trainable` is changed between two trainings without a new `compile`.

    Why it matters:
        What is trained is fixed when the training step is first built. Without a new `compile`, the second `fit` runs
        the old step: layers that were unfrozen stay as they are.

    Example:
        `model.fit(train)`, `base.trainable = True`, `model.fit(train)`.

    Fix:
        Compile again after the change, usually with a lower learning rate.
    """
    fits: dict[int, bool] = {}
    changed: Call | None = None
    for call in program.calls:
        if call.name in (".compile", ".load_weights") or call.name.startswith("keras.models."):
            changed = None
            if call.name == ".compile":
                fits[id(call.receiver)] = False
        elif call.name == ".__setattr__" and isinstance(call.args[0], Literal) and call.args[0].value == "trainable":
            changed = call
        elif call.name == ".fit" and id(call.receiver) in fits:
            if fits[id(call.receiver)] and changed is not None and changed.node is not None:
                yield program.finding(
                    unfrozen_without_compile,
                    changed.node,
                    "`trainable` is changed after the model was trained, and it is trained again without a new "
                    "`compile`: the change has no effect.",
                )
            fits[id(call.receiver)] = True
            changed = None


@rule("P237", "everything-frozen", Severity.ERROR)
def everything_frozen(program: Program) -> Iterator[Finding]:
    """All layers of a model are frozen, and then it is trained.

    Why it matters:
        A layer with `trainable = False` keeps its weights. If that is all of them, the new last layer included, the
        loss never changes.

    Example:
        `for layer in model.layers: layer.trainable = False`, then `model.compile(...)` and `model.fit(...)`.

    Fix:
        Freeze the base only: `for layer in base.layers: layer.trainable = False`.
    """
    frozen: dict[int, Call] = {}
    for call in program.calls:
        if call.name == ".__setattr__" and isinstance(call.args[0], Literal) and call.args[0].value == "trainable":
            value = call.args[1]
            whole = _whole_model(call.receiver)
            if isinstance(value, Literal) and value.value is False and whole is not None and not _in_branch(call.node):
                frozen[id(whole)] = call
            else:
                frozen.clear()  # something is, or may be, trainable again
        elif call.name == ".add":
            frozen.pop(id(call.receiver), None)
        elif call.name == ".fit" and id(call.receiver) in frozen:
            node = frozen.pop(id(call.receiver)).node
            if node is not None:
                yield program.finding(
                    everything_frozen,
                    node,
                    "Every layer of this model is frozen, also the last one, and then it is trained: nothing can be "
                    "learned.",
                )


def _in_branch(node: ast.AST | None) -> bool:
    """It is done under a condition inside the loop over the layers: not to all of them."""
    outer = node
    while outer is not None and not isinstance(outer, ast.For | ast.FunctionDef | ast.Module):
        if isinstance(outer, ast.If):
            return True
        outer = getattr(outer, "parent", None)
    return False


def _whole_model(value: Value | None) -> Value | None:
    """The model of `model.trainable`, or of a layer that a loop takes from `model.layers`."""
    if isinstance(value, Item) and not value.attribute and isinstance(value.index, Unknown):
        layers = value.base
        if isinstance(layers, Item) and isinstance(layers.index, Literal) and layers.index.value == "layers":
            return layers.base
        return None
    return value if isinstance(value, Call) else None


@rule("P233", "optimizer-made-in-loop", Severity.ERROR)
def optimizer_made_in_loop(program: Program) -> Iterator[Finding]:
    """The optimizer is created again for every batch, or for every epoch.

    Why it matters:
        Adam and its relatives keep averages of the gradients. A new optimizer forgets them: every step is a first step,
        and training is slow or does not converge.

    Example:
        `for x, y in dataset: optimizer = Adam(); ...; optimizer.apply_gradients(...)`

    Fix:
        Make the optimizer once, before the loop.
    """
    for call in program.calls:
        if not _OPTIMIZER.fullmatch(call.name) or call.node is None:
            continue
        loop = _loop_around(call.expression)
        used = loop is not None and any(
            isinstance(one, ast.Attribute) and one.attr == "apply_gradients" for one in ast.walk(loop)
        )
        over_data = any(use.node is loop for use in program.uses)
        if used and over_data:
            yield program.finding(
                optimizer_made_in_loop,
                call.expression,
                "The optimizer is created again for every batch: it forgets what it knows about the gradients each "
                "time.",
            )
        elif loop is not None and used and _is_of_epochs(loop) and not _makes_a_model(loop):
            yield program.finding(
                optimizer_made_in_loop,
                call.expression,
                "The optimizer is created again in every epoch, and the model is kept: it forgets what it knows about "
                "the gradients each time.",
                severity=Severity.WARNING,
            )


def _is_of_epochs(loop: ast.For) -> bool:
    return "epoch" in ast.unparse(loop.target).lower()


def _makes_a_model(loop: ast.For) -> bool:
    """It builds something by a function or class whose name says so: a model for each fold or setting."""
    names = [ast.unparse(one.func) for one in ast.walk(loop) if isinstance(one, ast.Call)]
    return any(re.search(r"model|Model|Sequential|build|create|clone", name) for name in names if name != "model")


def _loop_around(node: ast.AST) -> ast.For | None:
    one = getattr(node, "parent", None)
    while one is not None and not isinstance(one, ast.FunctionDef | ast.Module | ast.Lambda):
        if isinstance(one, ast.For):
            return one
        one = getattr(one, "parent", None)
    return None


@rule("P234", "class-weight-keys", Severity.ERROR)
def class_weight_keys(program: Program) -> Iterator[Finding]:
    """The keys of `class_weight` are not the class numbers.

    Why it matters:
        Keras takes a dict from class numbers, 0 to n - 1, to weights. With names, or with numbers that begin at 1, it
        raises an error, or weights the wrong classes.

    Example:
        `model.fit(x, y, class_weight={1: 1.0, 2: 5.0})`, or `class_weight="balanced"`.

    Fix:
        Use the class numbers: `class_weight={0: 1.0, 1: 5.0}`.
    """
    units = {id(model.compile.receiver): model for model in program.models}
    for call in program.calls:
        given = call.argument(None, "class_weight")
        model = units.get(id(call.receiver))
        if call.name not in (".fit", ".fit_generator") or model is None:
            continue
        if isinstance(given, Literal) and isinstance(given.value, str):
            found = f"{given.value!r}, which only scikit-learn understands"
        elif (start := _first_key(given)) is not None:
            found = f"keys that begin at {start}"
        elif isinstance(given, Table) and given.complete and given.entries:
            keys = list(given.entries)
            classes = 2 if model.units == 1 else model.units
            if all(isinstance(key, int) for key in keys):
                if classes is None or model.loss is None or set(keys) <= set(range(classes)):
                    continue
                found = f"the keys {sorted(keys)}, but the classes are 0 to {classes - 1}"
            else:
                found = f"the key {keys[0]!r}, which is not a class number"
        else:
            continue
        yield program.finding(
            class_weight_keys, call.expression, f"`class_weight` takes a dict by class number, and is given {found}."
        )


def _first_key(weights: Value | None) -> int | None:
    """Where the keys of `dict(enumerate(weights, start=1))` begin, unless that is at 0."""
    match weights:
        case Call(name="builtins.dict", args=(Call(name="builtins.enumerate") as pairs,)):
            start = pairs.argument(1, "start")
            return start.value if isinstance(start, Literal) and isinstance(start.value, int) and start.value else None
    return None


@rule("P235", "learning-rate-too-high", Severity.WARNING)
def learning_rate_too_high(program: Program) -> Iterator[Finding]:
    """The learning rate is far too high: 1 or more for an adaptive optimizer, 10 or more for plain SGD.

    Why it matters:
        Adam and RMSprop change every weight by about the learning rate in each step, whatever the gradient. Weights are
        around 0.1: with a rate of 1, the first steps destroy them, and the loss becomes constant or NaN.

    Example:
        `Adam(learning_rate=1.0)`

    Fix:
        Begin with 0.001, the default.
    """
    for call in program.calls:
        rate = call.argument(0, "learning_rate", "lr")
        if not _ADAPTIVE.fullmatch(call.name) or not isinstance(rate, Literal):
            continue
        if isinstance(rate.value, int | float) and rate.value >= _LARGEST_RATE:
            yield program.finding(
                learning_rate_too_high,
                call.expression,
                f"A learning rate of {rate.value:g} changes every weight by about {rate.value:g} in each step: the "
                "weights are destroyed in the first steps.",
            )
    for model in program.models:
        optimizer = model.compile.argument(0, "optimizer")
        rate = optimizer.argument(0, "learning_rate", "lr") if isinstance(optimizer, Call) else None
        plain = isinstance(optimizer, Call) and optimizer.name == "keras.optimizers.SGD"
        hidden = any(_is_hidden(layer) for layer in model.layers or ())
        high = isinstance(rate, Literal) and isinstance(rate.value, int | float) and rate.value >= _LARGEST_RATE_OF_SGD
        if plain and hidden and high and isinstance(optimizer, Call) and isinstance(rate, Literal):
            yield program.finding(
                learning_rate_too_high,
                optimizer.expression,
                f"A learning rate of {rate.value:g} is far more than a network with hidden layers can be trained with: "
                "the loss becomes constant or NaN.",
                advice="Begin with 0.01.",
            )


def _is_hidden(layer: Call) -> bool:
    """It ends with an activation that a linear model does not have."""
    activation = layer.argument(1 if layer.name == "keras.layers.Dense" else None, "activation")
    return isinstance(activation, Literal) and activation.value in ("relu", "tanh", "elu", "gelu", "selu", "sigmoid")


@rule("P258", "monitor-in-wrong-direction", Severity.ERROR)
def monitor_in_wrong_direction(program: Program) -> Iterator[Finding]:
    """A callback takes the worst value of a metric for the best one.

    Why it matters:
        With `mode="min"` for an accuracy, or `mode="max"` for a loss, the worst model is kept, or training stops when
        it gets better.

    Example:
        `ModelCheckpoint("best.keras", monitor="val_accuracy", mode="min")`

    Fix:
        `mode="max"` for accuracies and scores, `mode="min"` for losses and errors.
    """
    for call in program.calls:
        if not re.fullmatch(r"keras\.callbacks\.(ModelCheckpoint|EarlyStopping|ReduceLROnPlateau)", call.name):
            continue
        mode = call.argument(None, "mode")
        position = 1 if call.name.endswith("ModelCheckpoint") else 0
        monitor = call.argument(position, "monitor") or Literal("val_loss")
        if not isinstance(mode, Literal) or not isinstance(monitor, Literal) or not isinstance(monitor.value, str):
            continue
        wrong = (mode.value == "min" and _GETS_BETTER_UP.fullmatch(monitor.value)) or (
            mode.value == "max" and _GETS_BETTER_DOWN.fullmatch(monitor.value)
        )
        if wrong:
            better = "higher" if mode.value == "min" else "lower"
            source = getattr(call.expression, "source", program.source)
            edits = replace_argument(source, call.expression, "mode", '"max"' if mode.value == "min" else '"min"')
            yield program.finding(
                monitor_in_wrong_direction,
                call.expression,
                f"`{monitor.value}` is better when it is {better}, but `mode={mode.value!r}` looks for the opposite.",
                edits=edits,
                certain=edits is not None,
            )


STEP_RULES = [
    unfrozen_without_compile,
    everything_frozen,
    optimizer_made_in_loop,
    class_weight_keys,
    learning_rate_too_high,
    monitor_in_wrong_direction,
]
