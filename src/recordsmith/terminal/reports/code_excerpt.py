"""Source code with its line numbers, carets below the place, and the lines as they should be."""

from __future__ import annotations

from rich.text import Text

from recordsmith.report.code_lines import code_lines
from recordsmith.rules import Finding
from recordsmith.wording.numbers import count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["code_excerpt"]

_MOST_LINES = 12
_MOST_MARKED = 2
_LONGEST_LINE = 240


def code_excerpt(finding: Finding, *, colour: str = "red") -> Text:
    """Lay out the code that a finding is about: as it is, with carets, and as it should be.

    >>> from recordsmith.rules import Location, Severity
    >>> place = Location("train.py", line=12, column=6, end_line=12, end_column=15)
    >>> code = {"quoted": "ds = ds.repeat().shuffle(9)", "corrected": "ds = ds.shuffle(9).repeat()"}
    >>> print(code_excerpt(Finding("P002", "late-shuffle", Severity.WARNING, "Wrong.", place, **code)))
    12 │ ds = ds.repeat().shuffle(9)
       │      ^^^^^^^^^
    12 + ds = ds.shuffle(9).repeat()
    """
    quoted, corrected = code_lines(finding)
    gutter = max((len(str(line.number)) for line in [*quoted, *corrected]), default=1)
    lines: list[Text] = []
    marked = quoted if len(quoted) <= _MOST_MARKED else quoted[:1]  # carets below a whole page say nothing
    for line in quoted[:_MOST_LINES]:
        lines.append(Text().append(f"{line.number:>{gutter}} │ ", "dim").append(clipped(line.text, _LONGEST_LINE)))
        if line.marked is not None and line.marked[0] < _LONGEST_LINE and line in marked:
            start, end = line.marked
            carets = " " * start + "^" * (min(end, _LONGEST_LINE) - start)
            lines.append(Text().append(f"{'':>{gutter}} │ ", "dim").append(carets, f"bold {colour}"))
    if len(quoted) > _MOST_LINES:
        lines.append(Text(f"{'':>{gutter}} │ … {count_text(len(quoted) - _MOST_LINES, 'more line')}", "dim"))
    for line in corrected[:_MOST_LINES]:
        shown = clipped(line.text, _LONGEST_LINE)
        lines.append(Text().append(f"{line.number:>{gutter}} + ", "green").append(shown, "green"))
    excerpt = Text("\n").join(lines)
    excerpt.no_wrap, excerpt.overflow = True, "ellipsis"  # a line that is broken is hard to read, and so are its carets
    return excerpt
