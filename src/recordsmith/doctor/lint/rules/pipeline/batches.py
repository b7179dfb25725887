"""Rules on batches: their size, and padding."""

from __future__ import annotations

from collections.abc import Iterator

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


BATCH_RULES = [batch_of_one, padding_nothing]
