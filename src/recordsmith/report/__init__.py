"""Reports: findings, facts and sections, as JSON, SARIF, GitHub annotations and HTML.

Renderers know no rules: what a rule has to say stands in its findings.
"""

from recordsmith.report.report import Report
from recordsmith.report.sections import GridImage, HistogramSection, ImageGrid, Section, TableSection, TextSection

__all__ = [
    "GridImage",
    "HistogramSection",
    "ImageGrid",
    "Report",
    "Section",
    "TableSection",
    "TextSection",
]
