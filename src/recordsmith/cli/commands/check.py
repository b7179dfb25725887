"""`recordsmith check`: checks a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import click

from recordsmith.cli.options.shared_options import NearChoice, engine_options, files_of_split_option
from recordsmith.cli.reporting import Reporting, report_options

if TYPE_CHECKING:
    from recordsmith.run.engines.execution import EngineName

__all__ = ["check"]

_EXAMPLES = """\b
Examples:
  recordsmith check data/
  recordsmith check 'data/train-*.tfrecord' --fail-on error
  recordsmith check data/ --html report.html
  recordsmith check data/ --select F,W --format json
  recordsmith check data/ --ignore D003,class-imbalance
  recordsmith check data/ --schema schema.json --decode all
  recordsmith check data/ --write-baseline --baseline known.json
  recordsmith check /shared/data --engine ray --address auto
"""


@click.command(short_help="Check TFRecord files: framing, schema, values and splits.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@report_options
@click.option(
    "--decode",
    type=NearChoice(["sample", "all", "none"]),
    default="sample",
    show_default=True,
    help="Which images to decode completely.",
)
@click.option("--similar-images", is_flag=True, help="Search for images that look alike.")
@files_of_split_option
@click.option("--schema", metavar="FILE", help="Check against this schema instead of the declared one.")
@engine_options
@click.pass_context
def check(
    context: click.Context,
    /,
    *,
    paths: tuple[str, ...],
    decode: str,
    similar_images: bool,
    split: str | None,
    schema: str | None,
    engine: EngineName,
    address: str | None,
    **options: Any,
) -> None:
    """Check every file, record and value of a TFRecord dataset with all rules.

    Each finding says what is wrong, where, and what to do. `recordsmith rule CODE` explains a rule. Settings are
    read from [tool.recordsmith] in pyproject.toml, or from recordsmith.toml.

    The exit code is 1 if there are findings of the severity of --fail-on or above.
    """
    from recordsmith.checking.check import check as check_dataset

    reporting = Reporting(**options)
    asked = reporting.to_apply
    report = check_dataset(
        paths,
        split=split,
        schema=schema,
        decode=cast("Literal['sample', 'all', 'none']", decode),
        similar_images=similar_images,
        engine=engine,
        address=address,
        progress=True,
        **asked,
    )
    reporting.finish(report, context)
