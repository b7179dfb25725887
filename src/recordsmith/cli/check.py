"""`recordsmith check`: what is wrong with a dataset."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, cast

import click

from recordsmith.cli.make_values import NearChoice

if TYPE_CHECKING:
    from recordsmith.report import Report

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
"""


def codes_option(_ctx: click.Context | None, _param: click.Parameter | None, values: tuple[str, ...]) -> list[str]:
    """Read codes or names of rules, separated by commas, in one option or several.

    >>> codes_option(None, None, ("F,W", "V001"))
    ['F', 'W', 'V001']
    """
    return [entry.strip() for value in values for entry in value.split(",") if entry.strip()]


@click.command(short_help="Check TFRecord files: framing, schema, values, splits; reports findings.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--format",
    "style",
    type=NearChoice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="sarif: for code scanning. github: annotations of GitHub Actions.",
)
@click.option("--html", metavar="FILE", help="Write a report as one HTML file, too.")
@click.option(
    "--select",
    multiple=True,
    callback=codes_option,
    metavar="RULES",
    help="Apply only these rules: codes, beginnings of codes, or names, separated by commas.",
)
@click.option("--ignore", multiple=True, callback=codes_option, metavar="RULES", help="Leave these rules out.")
@click.option(
    "--fail-on",
    type=NearChoice(["error", "warning", "info", "never"]),
    help="The least severity that ends with exit code 1. [default: warning]",
)
@click.option("--baseline", metavar="FILE", help="Known findings, which are not told again.")
@click.option("--write-baseline", is_flag=True, help="Write what is found now to the file of --baseline, as known.")
@click.option(
    "--decode",
    type=NearChoice(["sample", "all", "none"]),
    default="sample",
    show_default=True,
    help="Which images to decode in full.",
)
@click.option("--similar-images", is_flag=True, help="Look for images that look alike.")
@click.option("--split", metavar="NAME", help="Only the files of this split, such as train.")
@click.option("--schema", metavar="FILE", help="Check against this schema instead of the one beside the files.")
@click.pass_context
def check(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    paths: tuple[str, ...],
    style: str,
    html: str | None,
    select: list[str],
    ignore: list[str],
    fail_on: str | None,
    baseline: str | None,
    write_baseline: bool,
    decode: str,
    similar_images: bool,
    split: str | None,
    schema: str | None,
) -> None:
    """Check TFRecord files: every file, record and value, against all rules.

    Each finding says what is wrong, where, and what to do; `recordsmith rule CODE` says more. The settings of
    [tool.recordsmith] in pyproject.toml, or of recordsmith.toml, count here too.

    Ends with 1 if there are findings of the severity of --fail-on or above.
    """
    from recordsmith.checking.check import check as check_dataset
    from recordsmith.cli.progress import checking_progress
    from recordsmith.findings import Baseline, Configuration, load_configuration

    configuration = load_configuration()
    if configuration.path is not None:
        from recordsmith.view.rule_text import every_rule

        configuration.selection(rules=every_rule())  # refuses what names no rule of any family
    known_in = baseline if baseline is not None else configuration.baseline
    if write_baseline and known_in is None:
        raise click.UsageError("--write-baseline needs --baseline FILE, or a baseline in the configuration.")
    if write_baseline:
        configuration = Configuration(configuration.select, configuration.ignore, configuration.fail_on)
    with checking_progress() as on_progress:
        report = check_dataset(
            paths,
            split=split,
            schema=schema,
            select=select,
            ignore=ignore,
            fail_on=fail_on,
            baseline=None if write_baseline else known_in,
            decode=cast("Literal['sample', 'all', 'none']", decode),
            similar_images=similar_images,
            configuration=configuration,
            progress=on_progress,
        )
    if html is not None:
        report.to_html(html)
    if write_baseline and known_in is not None:
        Baseline.of(report.findings).save(known_in)
    _print(report, style)
    if html is not None:
        click.echo(f"Report written to {html}.", err=style != "text")
    if write_baseline:
        click.echo(f"{len(report.findings)} findings written to {known_in} as known.", err=style != "text")
        return
    if not report.ok:
        context.exit(1)


def _print(report: Report, style: str) -> None:
    if style == "text":
        from recordsmith.cli.consoles import output_console, print_to
        from recordsmith.view.report_view import report_blocks

        console = output_console()
        print_to(console, report_blocks(report, width=console.width))
        return
    if style == "github":
        annotations = report.to_github()
        click.echo(annotations, nl=bool(annotations))
        return
    document = report.to_json() if style == "json" else report.to_sarif()
    click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))
