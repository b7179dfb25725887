"""Rules on where an epoch ends: its number of steps, and datasets that repeat or do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Function, Literal, Operation, Value, walk
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["EPOCH_RULES"]

_FINITE = {"tfrecord", "lines", "fixed", "slices", "tensors", "files", "directory", "tfds", "range"}
_COUNTED = {"slices", "tensors", "files", "directory", "tfds", "range"}  # sources whose length TensorFlow knows
_UNCOUNTED = {"interleave", "flat_map", "filter", "take_while", "unbatch"}  # after these it does not
_REPEATS_BY_DEFAULT = re.compile(r"tensorflow\.data\.experimental\.make_(csv|batched_features)_dataset")
_KEEPS_END = {"map", "batch", "padded_batch", "shuffle", "prefetch", "cache", "with_options", "unbatch"}


@rule("P230", "steps-without-repeat", Severity.WARNING)
def steps_without_repeat(program: Program) -> Iterator[Finding]:
    """`steps_per_epoch` is given for several epochs, and the dataset is not repeated.

    Why it matters:
        With `steps_per_epoch`, Keras does not start the dataset again after an epoch: it continues where it stopped. A
        dataset without `repeat` then ends in the middle of a later epoch, with the warning "Your input ran out of
        data". Keras 2 stops training there; Keras 3 cuts that epoch short.

    Example:
        `model.fit(dataset.batch(32), epochs=20, steps_per_epoch=len(x) // 32)`

    Fix:
        Leave out `steps_per_epoch`, or repeat the dataset: `dataset.repeat().batch(32)`.
    """
    for call in program.calls:
        steps, epochs = call.argument(None, "steps_per_epoch"), call.argument(None, "epochs")
        if (
            call.name not in (".fit", ".fit_generator")
            or steps is None
            or (isinstance(steps, Literal) and steps.value is None)
        ):
            continue
        once = epochs is None or (isinstance(epochs, Literal) and epochs.value in (1, None))
        for pipeline in pipelines_in(call.argument(0, "x", "generator")):
            if once or not _ends(pipeline) or _is_even(pipeline):
                continue
            if any(isinstance(one, Call) and one.name == "builtins.len" and _is_dataset(one) for one in walk(steps)):
                continue  # its own number of batches: Keras starts again, or takes a share of it in every epoch
            whole = _is_whole_epoch(call, steps)
            yield program.finding(
                steps_without_repeat,
                call.expression,
                f"{program.name_of(pipeline)} is not repeated, and `steps_per_epoch` makes Keras continue where the "
                "last epoch stopped: the data runs out in the middle of an epoch, which cuts it short or ends the "
                "training.",
                severity=None if whole else Severity.INFO,
            )


def _is_dataset(length: Call) -> bool:
    return bool(length.args) and bool(pipelines_in(length.args[0]))


def _is_even(pipeline: Pipeline) -> bool:
    """Its length is known, and all batches are full, so that `n // size` steps are one pass: Keras starts it again."""
    counted = pipeline.source.kind in _COUNTED and not any(stage.name in _UNCOUNTED for stage in pipeline.stages)
    return counted and any(stage.is_batch and stage.constant(1, "drop_remainder") is True for stage in pipeline.stages)


def _ends(pipeline: Pipeline) -> bool:
    """It is of a known and finite kind, and nothing in it repeats."""
    return all(
        one.source.kind in _FINITE | {"zip", "mixed"} or _ends_itself(one) for one in pipeline.origins()
    ) and not any(
        stage.name in ("apply", "from_generator") or (stage.name == "repeat" and stage.constant(0, "count") != 1)
        for stage in pipeline.all_stages()
    )


def _ends_itself(pipeline: Pipeline) -> bool:
    """It comes from a generator of the program that goes over something once, without a `while`."""
    call = pipeline.source.call
    given = call.argument(0, "generator") if call is not None and pipeline.source.kind == "generator" else None
    if not isinstance(given, Function):
        return False
    nodes = list(ast.walk(given.definition))
    endless = any(isinstance(one, ast.While | ast.YieldFrom) for one in nodes)
    return not endless and any(isinstance(one, ast.For) for one in nodes)


def _is_whole_epoch(call: Call, steps: Value) -> bool:
    """The steps are the size of the data by the size of a batch."""
    node = next((one.value for one in call.expression.keywords if one.arg == "steps_per_epoch"), None)
    if any(isinstance(one, Call) and one.name in ("builtins.len", "math.ceil") for one in walk(steps)):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv):
        return "epoch" not in ast.unparse(node.right).lower()  # else a number of steps is spread over the epochs
    return any(isinstance(one, Operation) and one.operator in ("/", "//") for one in walk(steps))


@rule("P287", "endless-without-steps", Severity.ERROR)
def endless_without_steps(program: Program) -> Iterator[Finding]:
    """A dataset that repeats without end is given to `fit`, which is not told how many steps an epoch has.

    Why it matters:
        The first epoch never ends: nothing is validated and nothing is saved. Keras 2 refuses it with an error.

    Example:
        `model.fit(dataset.repeat().batch(32), epochs=10)`

    Fix:
        Leave out `repeat()`, which `fit` does not need; or give `steps_per_epoch`, and `validation_steps` for
        validation data that repeats.
    """
    for model in program.models:
        for fit in model.fits:
            for name, steps in (("x", "steps_per_epoch"), ("validation_data", "validation_steps")):
                pipelines = pipelines_in(fit.argument(0 if name == "x" else None, name))
                given = fit.argument(None, steps)
                open_end = given is None or (isinstance(given, Literal) and given.value is None)
                if not pipelines or not open_end or not fit.exact or not all(map(_is_endless, pipelines)):
                    continue
                yield program.finding(
                    endless_without_steps,
                    fit.expression,
                    f"{program.name_of(pipelines[0])} repeats without end, and `{steps}` is not given: the first epoch "
                    "never ends.",
                    advice=f"Leave out `repeat()`, or give `{steps}`.",
                )


def _is_endless(pipeline: Pipeline) -> bool:
    """It is repeated without a count, and nothing takes a part of that."""
    source = pipeline.source.call
    endless = (
        source is not None
        and _REPEATS_BY_DEFAULT.fullmatch(source.name) is not None
        and (source.exact and source.argument(None, "num_epochs") is None)
    )
    if pipeline.source.of:
        endless = pipeline.source.kind == "zip" and all(map(_is_endless, pipeline.source.of))
    for stage in pipeline.stages:
        count = stage.call.argument(0, "count")
        if stage.name == "repeat":
            endless |= stage.call.exact and (
                count is None or (isinstance(count, Literal) and count.value in (None, -1))
            )
        elif endless and stage.name not in _KEEPS_END:
            return False
    return endless


EPOCH_RULES = [steps_without_repeat, endless_without_steps]
