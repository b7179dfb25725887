"""`recordsmith doctor`: what is wrong with code that makes or reads TFRecords."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from recordsmith.cli.check import codes_option
from recordsmith.cli.make_values import NearChoice

if TYPE_CHECKING:
    from recordsmith.doctor.lint.fixing import Fixed
    from recordsmith.report import Report

__all__ = ["doctor"]

_EXAMPLES = """\b
Examples:
  recordsmith doctor train.py
  recordsmith doctor train.py --data data/
  recordsmith doctor notebook.ipynb --fix
  recordsmith doctor src/ --format github
  recordsmith doctor train.py --ignore no-prefetch,P007
"""


@click.command(short_help="Read training or writing code and say what is wrong with it.", epilog=_EXAMPLES)
@click.argument("path", metavar="PATH")
@click.option("--data", multiple=True, metavar="PATH", help="The TFRecords that the code reads or writes.")
@click.option("--fix", is_flag=True, help="Make the changes that are certain, in the files.")
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
@click.pass_context
def doctor(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    path: str,
    data: tuple[str, ...],
    fix: bool,
    style: str,
    html: str | None,
    select: list[str],
    ignore: list[str],
    fail_on: str | None,
    baseline: str | None,
    write_baseline: bool,
) -> None:
    """Read code that makes or reads TFRecords, and say what is wrong with it.

    PATH is a Python file, a notebook, or a folder of them. The code is only read: nothing is imported or executed, and
    TensorFlow need not be installed. Each finding shows the line, why it matters, and the corrected line where there is
    one. With --data, the features that the code asks for are compared with those that exist, and shuffle buffers with
    the runs of equal labels. The settings of [tool.recordsmith] in pyproject.toml, or of recordsmith.toml, count too.

    Ends with 1 if there are findings of the severity of --fail-on or above.
    """
    from recordsmith.doctor.lint.lint import lint_and_fix
    from recordsmith.findings import Baseline, load_configuration

    configuration = load_configuration()
    if configuration.path is not None:
        from recordsmith.view.rule_text import every_rule

        configuration.selection(rules=every_rule())  # refuses what names no rule of any family
    known_in = baseline if baseline is not None else configuration.baseline
    if write_baseline and known_in is None:
        raise click.UsageError("--write-baseline needs --baseline FILE, or a baseline in the configuration.")
    report, fixed = lint_and_fix(
        path,
        data[0] if len(data) == 1 else list(data) or None,
        select=select,
        ignore=ignore,
        fail_on=fail_on,
        baseline=None if write_baseline else known_in,
        configuration=configuration,
        fix=fix,
    )
    if html is not None:
        report.to_html(html)
    _print(report, fixed, style)
    if html is not None:
        click.echo(f"Report written to {html}.", err=style != "text")
    if write_baseline and known_in is not None:
        Baseline.of(report.findings).save(known_in)
        click.echo(f"{len(report.findings)} findings written to {known_in} as known.", err=style != "text")
    elif not report.ok:
        context.exit(1)


def _print(report: Report, fixed: list[Fixed], style: str) -> None:
    for one in fixed:
        count = len(one.findings)
        codes = ", ".join(sorted({finding.code for finding in one.findings}))
        click.echo(
            f"{one.path}: {count} {'finding' if count == 1 else 'findings'} mended ({codes}).", err=style != "text"
        )
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
