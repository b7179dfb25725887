"""`recordsmith diagnose`: what is wrong with the batches that a pipeline feeds."""

from __future__ import annotations

from typing import Any

import click

from recordsmith.cli.reporting import Reporting, report_options

__all__ = ["diagnose"]

_EXAMPLES = """\b
Examples:
  recordsmith diagnose train.py:dataset
  recordsmith diagnose train.py:make_dataset --model train.py:make_model --records data/
  recordsmith diagnose input.py:loader --model model.py:net --loss model.py:loss --html report.html
  recordsmith diagnose train.py:train --validation train.py:val
  recordsmith diagnose train.py:dataset --timeout 60 --format json
"""


@click.command(short_help="Read batches from a pipeline and say why training may not improve.", epilog=_EXAMPLES)
@click.argument("pipeline", metavar="FILE:PIPELINE")
@click.option("--model", metavar="FILE:MODEL", help="The Keras model or PyTorch module that is trained on it.")
@click.option("--loss", metavar="FILE:LOSS", help="The loss of the model; not needed for a compiled Keras model.")
@click.option("--validation", metavar="FILE:PIPELINE", help="The pipeline of the validation data, to compare.")
@click.option("--records", multiple=True, metavar="PATH", help="The TFRecords that the pipeline reads, to compare.")
@click.option(
    "--batches",
    metavar="N",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="The maximum number of batches to read in each epoch.",
)
@click.option(
    "--epochs", metavar="N", type=click.IntRange(1), default=2, show_default=True, help="The number of epochs to read."
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0, min_open=True),
    default=300,
    show_default=True,
    help="Stop the pipeline after this time, and report the line that it was running.",
)
@report_options
@click.pass_context
def diagnose(  # noqa: PLR0913 - each is an option of its own
    context: click.Context,
    /,
    *,
    pipeline: str,
    model: str | None,
    loss: str | None,
    validation: str | None,
    records: tuple[str, ...],
    batches: int,
    epochs: int,
    timeout: float,
    **options: Any,
) -> None:
    """Read batches from a pipeline, inspect them, and say why training on them may not improve.

    FILE:PIPELINE is a Python file and a name at its top level: a recordsmith loader, a tf.data.Dataset, a PyTorch
    DataLoader or Dataset, a pair of arrays, any iterable of batches, or a function without arguments that returns one.
    FILE:MODEL likewise. With --records, labels are compared with those on disk. With --model, shapes and labels are
    compared with what the model expects, and a copy of it is trained for a few steps. With --validation, the validation
    data is compared with the training data.

    The file is imported, so its top-level code runs, in a separate process, as `python FILE` would, but `__name__` is
    not "__main__". What it prints goes to standard error. To analyse code without running it, use `recordsmith doctor`.

    The exit code is 1 if there are findings of the severity of --fail-on or above.
    """
    from recordsmith.cli.consoles import echo
    from recordsmith.doctor.diagnose.child_process import Task, diagnose_in_child
    from recordsmith.doctor.diagnose.named_objects import NamedObject
    from recordsmith.workers.progress_display import phase_progress

    reporting = Reporting(**options)
    task = Task(
        NamedObject.parse(pipeline),
        None if model is None else NamedObject.parse(model),
        None if loss is None else NamedObject.parse(loss),
        None if validation is None else NamedObject.parse(validation),
        timeout,
        {"records": list(records) or None, "batches": batches, "epochs": epochs, "time_limit": min(60, timeout / 2)}
        | reporting.to_apply,
    )
    echo(f"Importing {' and '.join(task.files)}: the code in it runs now.", err=True)
    with phase_progress() as on_phase:
        report = diagnose_in_child(task, on_phase)
    reporting.finish(report, context)
