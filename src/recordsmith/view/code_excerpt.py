"""Source code with its line numbers, carets below the place, and the lines as they should be."""

from __future__ import annotations

import textwrap

from rich.text import Text

from recordsmith.findings import Finding, Location
from recordsmith.visible_text import clipped

__all__ = ["code_excerpt"]

_MOST_LINES = 12
_LONGEST_LINE = 240


def code_excerpt(finding: Finding, *, colour: str = "red") -> Text:
    """Lay out the code that a finding is about: as it is, with carets, and as it should be.

    >>> place = Location("train.py", line=12, column=6, end_line=12, end_column=15)
    >>> from recordsmith.findings import Severity
    >>> code = {"quoted": "ds = ds.repeat().shuffle(9)", "corrected": "ds = ds.shuffle(9).repeat()"}
    >>> print(code_excerpt(Finding("P002", "late-shuffle", Severity.WARNING, "Wrong.", place, **code)))
    12 │ ds = ds.repeat().shuffle(9)
       │      ^^^^^^^^^
    12 + ds = ds.shuffle(9).repeat()
    """
    where = finding.location
    first = where.line or 1
    quoted = _lines(finding.quoted)
    corrected = _lines(finding.corrected)
    margin = _common_margin([*quoted, *corrected])
    gutter = len(str(first + max(len(quoted), len(corrected), 1) - 1))
    lines: list[Text] = []
    for number, line in enumerate(quoted[:_MOST_LINES], first):
        lines.append(Text().append(f"{number:>{gutter}} │ ", "dim").append(clipped(line[margin:], _LONGEST_LINE)))
        carets = _carets(where, number, line, margin)
        if carets:
            lines.append(Text().append(f"{'':>{gutter}} │ ", "dim").append(carets, f"bold {colour}"))
    if len(quoted) > _MOST_LINES:
        lines.append(Text(f"{'':>{gutter}} │ … {len(quoted) - _MOST_LINES} more lines", "dim"))
    for number, line in enumerate(corrected[:_MOST_LINES], first):
        lines.append(
            Text().append(f"{number:>{gutter}} + ", "green").append(clipped(line[margin:], _LONGEST_LINE), "green")
        )
    return Text("\n").join(lines)


def _lines(code: str | None) -> list[str]:
    return [] if code is None else code.expandtabs(4).rstrip("\n").split("\n")


def _common_margin(lines: list[str]) -> int:
    """How far all lines are indented."""
    kept = [line for line in lines if line.strip()]
    together = textwrap.dedent("\n".join(kept)).split("\n")
    return len(kept[0]) - len(together[0]) if kept else 0


def _carets(where: Location, number: int, line: str, margin: int) -> str:
    """Underline what the location names of a line; nothing where it names the whole line, or none of it."""
    if where.line is None or where.column is None or not line.strip():
        return ""
    last = where.end_line or where.line
    start = where.column - 1 if number == where.line else len(line) - len(line.lstrip())
    end = len(line.rstrip())
    if number == last and where.end_column is not None:
        end = min(end, where.end_column - 1)
    elif number == last == where.line:
        end = start + 1
    if number > last or start >= len(line) or end <= start or start < margin:
        return ""
    return " " * (start - margin) + "^" * min(end - start, _LONGEST_LINE)
