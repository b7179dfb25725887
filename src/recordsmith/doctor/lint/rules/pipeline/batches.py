"""Rules on batches: their size, padding, and what is counted in them."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Operation, Value, walk
from recordsmith.doctor.lint.libraries.randomness import leaves_of
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parsed_feature_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["BATCH_RULES"]


@rule("P005", "batch-of-one", Severity.INFO)
def batch_of_one(program: Program) -> Iterator[Finding]:
    """A model is trained with batches of a single example.

    Why it matters:
        Each step follows the gradient of one example, which is noisy: the loss jumps and hardly falls. Batch
        normalisation has nothing to average over. And most of the time is spent on starting steps.

    Example:
        `dataset.batch(1)`

    Fix:
        Use 16 to 256 examples per batch, as many as fit into memory. Where images differ in size, resize or pad them.
    """
    for pipeline in program.finished:
        for stage in pipeline.stages:
            if not stage.is_batch or stage.constant(0, "batch_size") != 1:
                continue
            if program.is_for_testing(pipeline) or any(one.is_batch for one in pipeline.stages if one is not stage):
                continue
            yield program.finding(
                batch_of_one,
                stage.expression,
                f"{program.name_of(pipeline)} is made of batches of one example: each step of the training follows a "
                "single example, and the loss hardly falls.",
            )


@rule("P010", "padding-nothing", Severity.INFO)
def padding_nothing(program: Program) -> Iterator[Finding]:
    """Batches are padded although nothing varies in length.

    Why it matters:
        The reader of the code looks for lengths that vary and finds none; and should one vary by mistake, the padding
        hides it.

    Example:
        `dataset.padded_batch(32)` on scalars and features of a fixed shape.

    Fix:
        Use `batch`.
    """
    for pipeline in program.finished:
        for stage in pipeline.stages:
            before = pipeline.before(stage)
            if stage.name != "padded_batch" or before is None:
                continue
            features = [parsed_feature_of(leaf) for leaf in leaves_of(before.element)]
            if features and all(one is not None and one.form == "fixed" and one.shape is not None for one in features):
                yield program.finding(
                    padding_nothing,
                    stage.expression,
                    "`padded_batch` pads nothing here: every feature has a fixed shape.",
                )


@rule("P273", "split-counted-in-batches", Severity.ERROR)
def split_counted_in_batches(program: Program) -> Iterator[Finding]:
    """A dataset of batches is split by `take` and `skip` with a number of examples.

    Why it matters:
        After `batch`, `take` and `skip` count batches. With a number of examples, `take` gives everything and `skip`
        nothing: the model is trained on all the data, and the validation set is empty.

    Example:
        `ds = ds.batch(32)`, then `ds.take(int(len(files) * 0.8))` and `ds.skip(int(len(files) * 0.8))`.

    Fix:
        Split first, and batch both parts: `ds.take(n).batch(32)`, `ds.skip(n).batch(32)`.
    """
    for pipeline in program.finished:
        for stage in pipeline.stages:
            before = pipeline.before(stage)
            count = stage.call.argument(0, "count") if stage.name == "skip" else None
            sizes = [] if before is None else [one.constant(0, "batch_size") for one in before.stages if one.is_batch]
            if count is None or len(sizes) != 1 or not isinstance(sizes[0], int) or sizes[0] < 2:
                continue
            unbatched = before is not None and any(one.name == "unbatch" for one in before.stages)
            if not unbatched and _counts_examples(count):
                yield program.finding(
                    split_counted_in_batches,
                    stage.expression,
                    f"`{program.text(stage.expression.args[0])}` counts examples, but after `batch` the elements are "
                    f"batches of {sizes[0]}: `skip` leaves nothing.",
                )


def _counts_examples(count: Value) -> bool:
    """It is a share of the number of files or rows, and was not divided by anything."""
    parts = list(walk(count, 60))
    divided = any(isinstance(one, Operation) and one.operator in ("/", "//") for one in parts)
    lengths = [one for one in parts if isinstance(one, Call) and one.name == "builtins.len" and one.args]
    return not divided and bool(lengths) and not any(pipelines_in(one.args[0]) for one in lengths)


BATCH_RULES = [batch_of_one, padding_nothing, split_counted_in_batches]
