"""`recordsmith compare`: compares two datasets, or two splits of one."""

from __future__ import annotations

from typing import Any

import click

from recordsmith.cli.options.shared_options import read_names
from recordsmith.cli.reporting import Reporting, report_options

__all__ = ["compare"]

_EXAMPLES = """\b
Examples:
  recordsmith compare old/ new/
  recordsmith compare data/ --split train,test
  recordsmith compare old/ new/ --split train --html drift.html
  recordsmith compare old/ new/ --fail-on error --format json
"""


@click.command(short_help="Compare two datasets or splits: schemas, classes, distributions.", epilog=_EXAMPLES)
@click.argument("paths", metavar="FIRST [SECOND]", nargs=-1, required=True)
@click.option(
    "--split",
    "splits",
    multiple=True,
    callback=read_names,
    metavar="NAMES",
    help="Compare this split of both; or, as train,test, the first split of FIRST with the second split of SECOND.",
)
@click.option("--records/--no-records", default=True, help="Compare the records themselves, or not. [default: compare]")
@click.option(
    "--no-fingerprints",
    is_flag=True,
    help="Read the files even if the fingerprints in both manifests say that the records are the same.",
)
@report_options
@click.pass_context
def compare(
    context: click.Context,
    /,
    *,
    paths: tuple[str, ...],
    splits: tuple[str, ...],
    records: bool,
    no_fingerprints: bool,
    **options: Any,
) -> None:
    """Compare two datasets, or two splits of one.

    Each finding says what changed: features that are missing or have another type, classes that are missing or new,
    values and classes with other distributions, class numbers that mean something else, records that are in both.
    `recordsmith rule CODE` explains a rule.

    The exit code is 1 if there are findings of the severity of --fail-on or above.
    """
    from recordsmith.comparing.compare import compare as compare_datasets

    if len(paths) > 2 or len(splits) > 2:
        raise click.UsageError("Two datasets can be compared at a time, or two splits.")
    if len(paths) == 1 and len(splits) < 2:
        raise click.UsageError("Give a second dataset, or two splits with --split train,test.")
    reporting = Reporting(**options)
    asked = reporting.to_apply
    wanted = (splits[0], splits[-1]) if splits else (None, None)
    second = paths[1] if len(paths) == 2 else None
    report = compare_datasets(
        paths[0],
        second,
        splits=wanted,
        records=records,
        fingerprints=not no_fingerprints,
        progress=True,
        **asked,
    )
    reporting.finish(report, context)
