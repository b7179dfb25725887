"""Reports as HTML: a page of its own that needs nothing else, and a fragment for notebooks."""

from recordsmith.report.html.fragment import report_fragment
from recordsmith.report.html.page import report_page

__all__ = ["report_fragment", "report_page"]
