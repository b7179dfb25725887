"""`recordsmith doctor`: finds mistakes in code that writes or reads TFRecords."""

from __future__ import annotations

from typing import Any

import click

from recordsmith.cli.reporting import Reporting, report_options
from recordsmith.wording.numbers import count_text

__all__ = ["doctor"]

_EXAMPLES = """\b
Examples:
  recordsmith doctor train.py
  recordsmith doctor train.py --data data/
  recordsmith doctor notebook.ipynb --fix
  recordsmith doctor src/ --format github
  recordsmith doctor train.py --ignore no-prefetch,P007
"""


@click.command(short_help="Find mistakes in code that trains models or writes TFRecords.", epilog=_EXAMPLES)
@click.argument("path", metavar="PATH")
@click.option("--data", multiple=True, metavar="PATH", help="The TFRecords that the code reads or writes.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes to the files.")
@report_options
@click.pass_context
def doctor(context: click.Context, /, *, path: str, data: tuple[str, ...], fix: bool, **options: Any) -> None:
    """Find mistakes in code that writes or reads TFRecords.

    PATH is a Python file, a notebook, or a folder of them. The code is only read: nothing is imported or executed,
    and TensorFlow need not be installed. Each finding shows the line, why it matters, and a corrected line if there
    is one. With --data, the features in the code are compared with those of the data, and shuffle buffers with the
    runs of equal labels. Settings are read from [tool.recordsmith] in pyproject.toml, or from recordsmith.toml.

    The exit code is 1 if there are findings of the severity of --fail-on or above.
    """
    from recordsmith.doctor.lint.lint import lint, lint_and_fix

    reporting = Reporting(**options)
    given = data[0] if len(data) == 1 else list(data) or None
    if fix:
        report, fixed = lint_and_fix(path, given, **reporting.to_apply)
    else:
        report, fixed = lint(path, given, **reporting.to_apply), []
    for one in fixed:
        count = len(one.findings)
        codes = ", ".join(sorted({finding.code for finding in one.findings}))
        reporting.print_line(f"{one.path}: {count_text(count, 'finding')} fixed ({codes}).")
    reporting.finish(report, context)
