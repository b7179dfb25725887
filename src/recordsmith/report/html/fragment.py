"""A report as a piece of HTML for notebooks: findings in a table, with styles of its own."""

from __future__ import annotations

from recordsmith.report.contents import ReportContents
from recordsmith.report.plain_text import verdict
from recordsmith.rules import Finding
from recordsmith.wording.markup import Markup, element

__all__ = ["report_fragment"]

_COLOURS = {"error": "#c0392b", "warning": "#b7791f", "info": "#2b6cb0"}
_CELL = "text-align:left;vertical-align:top;padding:4px 12px 4px 0"


def report_fragment(report: ReportContents) -> Markup:
    """Return the fragment.

    >>> report_fragment(ReportContents("check", subject="<data>"))
    '<div><b>&lt;data&gt;</b>: no findings</div>'
    """
    return element(
        "div",
        element("b", report.subject or report.kind),
        f": {verdict(report.findings, report.known)}",
        element("table", [_row(one) for one in report.findings], style="border-collapse:collapse")
        if report.findings
        else None,
    )


def _row(finding: Finding) -> Markup:
    colour = _COLOURS[finding.severity.value]
    return element(
        "tr",
        element(
            "td", element("b", finding.code), f" {finding.name}", style=f"{_CELL};white-space:nowrap;color:{colour}"
        ),
        element(
            "td",
            finding.message,
            element("br"),
            element("span", str(finding.location), style="opacity:.65"),
            style=_CELL,
        ),
        element("td", finding.advice, style=_CELL),
    )
