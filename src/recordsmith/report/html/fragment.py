"""A report as a piece of HTML for notebooks: findings in a table, with styles of its own."""

from __future__ import annotations

from html import escape

from recordsmith.report.contents import ReportContents
from recordsmith.report.plain_text import verdict

__all__ = ["report_fragment"]

_COLOURS = {"error": "#c0392b", "warning": "#b7791f", "info": "#2b6cb0"}
_CELL = "text-align:left;vertical-align:top;padding:4px 12px 4px 0"


def report_fragment(report: ReportContents) -> str:
    """Return the fragment; everything in it is escaped.

    >>> "no findings" in report_fragment(ReportContents("check", subject="<data>"))
    True
    """
    title = f"<b>{escape(report.subject or report.kind)}</b>: {escape(verdict(report.findings, report.known))}"
    rows = "".join(
        f'<tr><td style="{_CELL};white-space:nowrap;color:{_COLOURS[one.severity.value]}"><b>{escape(one.code)}</b>'
        f' {escape(one.name)}</td><td style="{_CELL}">{escape(one.message)}<br>'
        f'<span style="opacity:.65">{escape(str(one.location))}</span></td>'
        f'<td style="{_CELL}">{escape(one.advice)}</td></tr>'
        for one in report.findings
    )
    return (
        f'<div>{title}<table style="border-collapse:collapse">{rows}</table></div>' if rows else f"<div>{title}</div>"
    )
