"""Datasets of TensorFlow for validation or tests that drop their last batch."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Stage
from recordsmith.doctor.lint.program import Program

__all__ = ["drops_test_batch"]


def drops_test_batch(program: Program) -> Iterator[tuple[Pipeline, Stage, bool]]:
    """Yield datasets that are tested or predicted on without their last examples, and whether that is their only use.

    A TPU needs batches of one size, so programs for it are left out.
    """
    if program.mentions(r"\btpu\b|TPU"):
        return
    for pipeline in program.finished:
        if pipeline.library != "tensorflow" or not program.is_for_testing(pipeline):
            continue
        names = {
            getattr(getattr(use.node, "func", None), "attr", "") for use in program.uses if use.pipeline is pipeline
        }
        for stage in pipeline.stages:
            if stage.is_batch and stage.constant(1, "drop_remainder") is True and stage.constant(0, "batch_size") != 1:
                yield pipeline, stage, bool(names & {"evaluate", "predict"})
                break
