"""Rules about the structure of a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import Observations
from recordsmith.doctor.diagnose.rules.wording import at, begin, shape_text
from recordsmith.errors import did_you_mean, list_names
from recordsmith.rules import Finding, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = ["STRUCTURE_RULES"]

_REQUIRED = re.compile(r"[Ff]eature:? ?\(?(?:key: )?'?([\w/.]+)'? .*?(?:is required but could not be found|missing)")
_TENSORFLOW_PREFIX = re.compile(
    r"\{\{function_node .*?\}\} ?|Error in user-defined function passed to .*? transformation with iterator: [\w:]+: "
)
_RESHAPE = re.compile(r"Input to reshape is a tensor with (\d+) values, but the requested shape has (\d+)")
_SHAPES_DIFFER = ("Cannot batch tensors with different shapes", "stack expects each tensor")


@rule("T001", "pipeline-raises", Severity.ERROR)
def pipeline_raises(observed: Observations) -> Iterator[Finding]:
    """The pipeline raised an error while batches were read.

    Why it matters:
        Training stops at the same place.

    Example:
        `tf.io.FixedLenFeature([], tf.string)` for a feature that the records do not have: "Feature: imgae (data type:
        string) is required but could not be found."

    Fix:
        The message says what happened; `recordsmith show data` lists the features that the records really have.
    """
    if not observed.failure:
        return
    advice = ""
    missing = _REQUIRED.search(observed.failure)
    if missing is not None and observed.records is not None:
        near = did_you_mean(missing[1], observed.records.names)
        advice = f"The records have {list_names(observed.records.names)}.{near}"
    elif any(words in observed.failure for words in _SHAPES_DIFFER):
        advice = "Rows of different length do not fit into one array: use .padded_batch(), or resize images first."
    elif _RESHAPE.search(observed.failure):
        advice = (
            "The reshape names another size than the values have: take the shape from the record, or from the file."
        )
    elif "Table not initialized" in observed.failure:
        yield pipeline_raises.finding(
            "Reading batches failed, because a TextVectorization or lookup layer has no vocabulary: it was never "
            "adapted.",
            advice="Call layer.adapt(training_texts) before the dataset is read.",
        )
        return
    reason = _TENSORFLOW_PREFIX.sub("", observed.failure).splitlines()[0][:400]
    yield pipeline_raises.finding(f"Reading batches failed: {reason}", advice=advice)


@rule("T002", "no-batches", Severity.ERROR)
def no_batches(observed: Observations) -> Iterator[Finding]:
    """The pipeline gives no batch at all, or batches without rows.

    Why it matters:
        `fit` runs through without a single step, and some frameworks say nothing about it.

    Example:
        A glob that matches no file, a `filter` that lets nothing through, `batch(64, drop_remainder=True)` over 50
        rows.

    Fix:
        Look at each step: how many elements come out of the files, of the filter, of the batching?
    """
    if observed.failure or not observed.epochs:
        return
    if observed.epochs[0].rows == 0:
        found = "gave no batch" if observed.epochs[0].batches == 0 else "gave batches without rows"
        yield no_batches.finding(f"The pipeline {found}.")
    elif len(observed.epochs) > 1 and observed.epochs[1].rows == 0:
        yield no_batches.finding(
            "The pipeline gave batches once, and none when it was iterated again: there is no second epoch.",
            advice="Make a new iterator for each epoch: give the loop the dataset itself, not iter(dataset).",
        )


@rule("T003", "no-target", Severity.ERROR)
def no_target(observed: Observations) -> Iterator[Finding]:
    """The model is trained with a loss, and the batches have no target where Keras looks for it.

    Keras takes batches as (inputs, target). A dict is taken as inputs alone, whatever its names.

    Why it matters:
        The loss has nothing to compare with, and `fit` fails or trains on nothing.

    Example:
        `dataset.map(parse)` where `parse` returns `{"image": ..., "label": ...}`.

    Fix:
        Return a pair: `dataset.map(lambda row: (row["image"], row["label"]))`, or `.pairs("image", "label")`.
    """
    model = observed.model
    if model is None or model.framework != "keras" or model.loss is None or model.own_training or not observed.columns:
        return
    if observed.form not in ("dict", "inputs"):
        return
    names = [column.name for column in observed.columns if column.name]
    target = observed.target.name if observed.target is not None else ""
    inputs = [column.name for column in observed.inputs if column.name]
    what = f"a dict of {list_names(names)}" if names else "inputs alone"
    changed = None
    if target and len(inputs) == 1:
        changed = f'dataset = dataset.map(lambda row: (row["{inputs[0]}"], row["{target}"]))'
    yield no_target.finding(
        f"Batches are {what}, and the loss {model.loss.name} needs a target: Keras takes (inputs, target).",
        corrected=changed,
    )


@rule("T004", "not-batched", Severity.WARNING)
def not_batched(observed: Observations) -> Iterator[Finding]:
    """The pipeline gives single elements instead of batches.

    Why it matters:
        A model takes the first dimension for the rows of a batch: an image of 28×28 becomes 28 rows of 28 numbers.

    Example:
        `dataset.map(parse).shuffle(1000)` without `.batch(32)`.

    Fix:
        Add `.batch(32)` at the end, before `.prefetch()`.
    """
    if observed.columns and not any(column.batched for column in observed.columns):
        shapes = ", ".join(f"{column.shown} {shape_text(column.shape)}" for column in observed.columns[:3])
        yield not_batched.finding(
            f"Each element is one row ({shapes}), not a batch.",
            corrected="dataset.batch(32)",
            severity=Severity.ERROR
            if observed.model is not None
            else Severity.WARNING
            if observed.targets
            else Severity.INFO,
        )


@rule("T005", "rows-differ", Severity.ERROR)
def rows_differ(observed: Observations) -> Iterator[Finding]:
    """Inputs and target of a batch have different numbers of rows.

    Why it matters:
        From the first missing row on, every input has the label of another one.

    Example:
        Inputs are filtered and targets are not; a window is cut from the inputs only.

    Fix:
        Keep inputs and target in one element until the end, so that each step applies to both.
    """
    if observed.unequal_rows is not None:
        inputs, target = observed.unequal_rows
        yield rows_differ.finding(f"A batch has {inputs} rows of inputs and {target} rows of targets.")


@rule("T006", "empty-input", Severity.ERROR)
def empty_input(observed: Observations) -> Iterator[Finding]:
    """An input has no values at all.

    Why it matters:
        The model learns from nothing, and no error says so.

    Example:
        `tf.io.VarLenFeature(tf.int64)` with a mistyped name: every row is an empty list.

    Fix:
        Compare the name in the parsing code with those that `recordsmith show data` lists.
    """
    if observed.last_batch == 0 or 0 in observed.batch_sizes:
        which = "The last batch" if observed.last_batch == 0 else "A batch"
        yield empty_input.finding(
            f"{which} of an epoch has no rows: its loss is NaN, and so are the weights after it.",
            advice="The length is one too high: `len(x) // size` batches are full, and one more only if rows are left "
            "over. Use `math.ceil(len(x) / size)`.",
        )
    for column in observed.inputs:
        if column.numeric and column.rows >= 2 and column.values == 0:
            there = observed.records.names if observed.records is not None else ()
            near = did_you_mean(column.name, there) if column.name and column.name not in there else ""
            yield empty_input.finding(
                f"{begin(column)} has no values in any of {count_text(column.rows, 'row')}.",
                location=at(column),
                advice=f"The records have {list_names(there)}.{near}" if there else "",
            )


@rule("T017", "batches-of-one-record", Severity.WARNING)
def batch_of_one(observed: Observations) -> Iterator[Finding]:
    """Every batch has one row.

    It is a warning with a model that is trained in the usual way; otherwise it may be intended.

    Why it matters:
        Each step follows the gradient of a single row: training is noisy, batch normalisation has nothing to average
        over, and most of the hardware is idle.

    Example:
        `dataset.batch(1)`, or a `batch_size` that was set to 1 for a test.

    Fix:
        `.batch(32)`, or as many rows as memory allows.
    """
    sizes = observed.batch_sizes
    if len(sizes) >= 8 and set(sizes) == {1} and any(column.batched for column in observed.columns):
        meant = observed.model is None or observed.model.own_training
        yield batch_of_one.finding(
            f"All of {len(sizes)} sampled batches have one row.",
            corrected="dataset.batch(32)",
            severity=Severity.INFO if meant else Severity.WARNING,
        )


STRUCTURE_RULES = (
    pipeline_raises,
    no_batches,
    no_target,
    not_batched,
    rows_differ,
    empty_input,
    batch_of_one,
)
