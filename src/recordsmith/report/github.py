"""Findings as GitHub Actions reads them: one line each, which becomes an annotation next to the file.

Values are untrusted: what could end a property or the line is escaped as GitHub's runner unescapes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from recordsmith.rules import Finding, Severity
from recordsmith.wording.visible_text import printable

__all__ = ["github_annotations"]

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def github_annotations(findings: Iterable[Finding]) -> str:
    r"""Return one line for each finding.

    >>> from recordsmith.rules import Location
    >>> place = Location("src/train.py", line=3, column=5, end_line=3, end_column=9)
    >>> print(github_annotations([Finding("P002", "late", Severity.WARNING, "Wrong,\nhere.", place, "Move it.")]))
    ::warning file=src/train.py,line=3,endLine=3,col=5,endColumn=8,title=P002 late::Wrong,%0Ahere.%0A%0AMove it.
    """
    return "\n".join(map(_line, findings))


def _line(finding: Finding) -> str:
    where = finding.location
    properties: list[tuple[str, object]] = []
    if where.path is not None:
        properties.append(("file", _relative(where.path)))
    if where.line is not None and where.cell is None:  # a cell's lines are not those of the notebook's file
        properties += [("line", where.line), ("endLine", where.end_line or where.line)]
        if where.column is not None:
            properties.append(("col", where.column))
            if where.end_column is not None and (where.end_line or where.line) == where.line:
                properties.append(("endColumn", max(where.column, where.end_column - 1)))
    properties.append(("title", f"{finding.code} {finding.name}"))
    settings = ",".join(f"{name}={_escaped(str(value), _IN_PROPERTY)}" for name, value in properties)
    place = str(where) if where.line is None or where.cell is not None else ""
    message = "\n\n".join(part for part in (finding.message, place, finding.advice) if part)
    return f"::{_COMMANDS[finding.severity]} {settings}::{_escaped(message, _IN_MESSAGE)}"


def _relative(path: str) -> str:
    """The path as seen from the folder of the run, as GitHub wants it, if it is below it."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table[char] if char in table else printable(char) for char in text)
