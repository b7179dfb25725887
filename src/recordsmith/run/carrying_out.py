"""Carries out a run as it was asked for: by which engine, in parts or as a whole, with which staging."""

from __future__ import annotations

from recordsmith.run.engines.execution import Execution
from recordsmith.run.engines.part import DonePart
from recordsmith.run.part_run import PartRun
from recordsmith.run.policy import Output, Policy
from recordsmith.run.progress import OnProgress
from recordsmith.run.run import Finished
from recordsmith.run.store_run import StoreRun

__all__ = ["carry_out"]


def carry_out(
    policy: Policy,
    output: Output,
    execution: Execution,
    on_progress: OnProgress | None,
    *,
    overwrite: bool,
    resume: bool,
) -> Finished | DonePart | None:
    """Do a run as it was asked for; None if it was finished before."""
    with execution.open() as engine:
        run = (PartRun if output.store is None else StoreRun)(policy, output, on_progress, engine)
        if execution.part is not None:
            return run.execute_part(execution.part, overwrite=overwrite)
        if execution.finish:
            return run.execute_finish(overwrite=overwrite)
        return run.execute(overwrite=overwrite, resume=resume)
