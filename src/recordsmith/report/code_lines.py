"""The source code that a finding is about, line by line, with the part of each line that it is about."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from recordsmith.rules import Finding, Location

__all__ = ["CodeLine", "code_lines"]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line.

    Attributes:
        number: its number in the file or cell.
        text: what it says, without the indentation that all lines share.
        marked: the columns of the text that the finding is about, from the first to the one after the last; None: none.
    """

    number: int
    text: str
    marked: tuple[int, int] | None = None


def code_lines(finding: Finding) -> tuple[list[CodeLine], list[CodeLine]]:
    """Return the lines as they are, and as they should be.

    >>> from recordsmith.rules import Severity
    >>> place = Location("train.py", line=12, column=10, end_line=12, end_column=21)
    >>> quoted = "    ds = ds.repeat()"
    >>> code_lines(Finding("P002", "late", Severity.WARNING, "Wrong.", place, quoted=quoted))[0]
    [CodeLine(number=12, text='ds = ds.repeat()', marked=(5, 16))]
    """
    where = finding.location
    quoted, corrected = _lines(finding.quoted), _lines(finding.corrected)
    margin = _common_margin([*quoted, *corrected])
    first = where.line or 1
    return (
        [CodeLine(n, line[margin:], _marked(where, n, line, margin)) for n, line in enumerate(quoted, first)],
        [CodeLine(n, line[margin:]) for n, line in enumerate(corrected, first)],
    )


def _lines(code: str | None) -> list[str]:
    return [] if code is None else code.expandtabs(4).rstrip("\n").split("\n")


def _common_margin(lines: list[str]) -> int:
    """How far all lines are indented."""
    kept = [line for line in lines if line.strip()]
    together = textwrap.dedent("\n".join(kept)).split("\n")
    return len(kept[0]) - len(together[0]) if kept else 0


def _marked(where: Location, number: int, line: str, margin: int) -> tuple[int, int] | None:
    if where.line is None or where.column is None or not line.strip():
        return None
    last = where.end_line or where.line
    start = where.column - 1 if number == where.line else len(line) - len(line.lstrip())
    end = len(line.rstrip())
    if number == last and where.end_column is not None:
        end = min(end, where.end_column - 1)
    elif number == last == where.line:
        end = start + 1
    if number > last or end <= start or start < margin:
        return None
    return start - margin, end - margin
