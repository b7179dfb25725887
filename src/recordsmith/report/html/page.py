"""A report as one HTML page."""

from __future__ import annotations

from html import escape

from recordsmith.report.contents import ReportContents

__all__ = ["report_page"]


def report_page(report: ReportContents) -> str:
    """Return the page.

    >>> report_page(ReportContents("check"))[:15]
    '<!DOCTYPE html>'
    """
    return f"<!DOCTYPE html>\n<title>{escape(report.subject)}</title>\n"
