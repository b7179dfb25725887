"""The common part of `check`, `doctor` and `diagnose`: options about rules, and printing and writing reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import click

from recordsmith.cli.options.shared_options import NearChoice, format_option, read_names
from recordsmith.errors import RecordsmithError
from recordsmith.wording.numbers import count_text

if TYPE_CHECKING:
    from recordsmith.report import Report
    from recordsmith.rules import Configuration

__all__ = ["Reporting", "report_options"]

_NOT_WRITTEN = 2

Command = Callable[..., Any]


_OPTIONS = (
    format_option(
        "The format of the findings. sarif: for code scanning. github: annotations for GitHub Actions.",
        more=("sarif", "github"),
    ),
    click.option("--html", metavar="FILE", help="Also write the report as an HTML file."),
    click.option(
        "--select",
        multiple=True,
        callback=read_names,
        metavar="RULES",
        help="Apply only these rules: codes, prefixes of codes, or names, separated by commas.",
    ),
    click.option("--ignore", multiple=True, callback=read_names, metavar="RULES", help="Leave out these rules."),
    click.option(
        "--fail-on",
        type=NearChoice(["error", "warning", "info", "never"]),
        help="The lowest severity that causes exit code 1. [default: warning]",
    ),
    click.option("--baseline", metavar="FILE", help="A file of known findings, which are not reported again."),
    click.option("--write-baseline", is_flag=True, help="Write all findings to the --baseline file as known findings."),
)


def report_options(command: Command) -> Command:
    """Give a command the options that `Reporting` is made of."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Reporting:
    """What was asked for by the options of `report_options`, and what the configuration adds."""

    style: str
    html: str | None
    select: Sequence[str]
    ignore: Sequence[str]
    fail_on: str | None
    baseline: str | None
    write_baseline: bool

    @property
    def to_apply(self) -> dict[str, Any]:
        """What check, lint and diagnose take: which rules, which severity fails, which findings are known."""
        from recordsmith.rules import Baseline

        known_in = self._known_in
        folder = os.path.dirname(self.html or "")
        if folder and not os.path.isdir(folder):  # said before the work, not after it
            raise RecordsmithError(
                "The folder of the report does not exist.", path=folder, advice="Create the folder first."
            )
        return {
            "select": self.select,
            "ignore": self.ignore,
            "fail_on": self.fail_on,
            "baseline": Baseline() if self.write_baseline else known_in,
            "configuration": self._configuration,
        }

    def finish(self, report: Report, context: click.Context) -> None:
        """Print and write the report, and end the command as its findings say.

        It is printed first: what was found is not lost where a file of it cannot be written.
        """
        self._print(report)
        written = [self._saved(report.to_html, self.html, "Report written to {}.")]
        if self.write_baseline:
            known = f"{count_text(len(report.findings), 'finding')} written to {{}} as known findings."
            written.append(self._saved(partial(_update_baseline, report), self._known_in, known))
        if not all(written):
            context.exit(_NOT_WRITTEN)
        if not report.ok and not self.write_baseline:
            context.exit(1)

    def _saved(self, save: Callable[[str], object], path: str | None, done: str) -> bool:
        """Write a file, if it was asked for, and say so; or say why it could not be written."""
        if path is None:
            return True
        from recordsmith.cli.consoles import error_console, print_to
        from recordsmith.terminal.error_block import error_block

        try:
            save(path)
        except OSError as error:
            error.filename = path  # and not the name that it has until it is whole
            print_to(error_console(), error_block(error))
            return False
        self.print_line(done.format(path))
        return True

    def print_line(self, text: str) -> None:
        """Print a line next to the report, where it is not in the way of programs that read it."""
        from recordsmith.cli.consoles import echo

        echo(text, err=self.style != "text")

    @cached_property
    def _configuration(self) -> Configuration:
        from recordsmith.rules import Selection, load_configuration

        configuration = load_configuration()
        if configuration.path is not None:
            from recordsmith.terminal.reports.rule_text import every_rule

            Selection(configuration.select, configuration.ignore).resolved(every_rule())
        return configuration

    @cached_property
    def _known_in(self) -> str | None:
        known_in = self.baseline if self.baseline is not None else self._configuration.baseline
        if self.write_baseline and known_in is None:
            raise click.UsageError("--write-baseline needs --baseline FILE, or a baseline in the configuration.")
        return known_in

    def _print(self, report: Report) -> None:
        from recordsmith.cli.consoles import echo_annotations, echo_json, output_console, print_to

        if self.style == "text":
            from recordsmith.terminal.reports.report_view import report_blocks

            console = output_console()
            print_to(console, report_blocks(report, width=console.width))
        elif self.style == "github":
            echo_annotations(report.to_github())
        else:
            echo_json(report.to_json() if self.style == "json" else report.to_sarif())


def _update_baseline(report: Report, path: str) -> None:
    from recordsmith.rules import Baseline

    known = Baseline.load(path) if os.path.exists(path) else Baseline()
    known.updated(report.findings, report.rules).save(path)
