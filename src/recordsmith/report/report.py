"""A report: what `check`, `lint` and `diagnose` return."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

from recordsmith.report.contents import ReportContents
from recordsmith.report.followed_file import followed_lines
from recordsmith.report.github import github_annotations
from recordsmith.report.plain_text import report_text, verdict
from recordsmith.report.plain_values import facts_json, plain_value
from recordsmith.report.sarif import sarif_log
from recordsmith.storage.atomic_file import rewrite_text
from recordsmith.wording.visible_text import without_surrogates

__all__ = ["Report"]

_FORMAT_VERSION = 1  # of the JSON; keys may be added to it without a new one


class Report(ReportContents):
    """The result of `check`, `lint` and `diagnose`: findings, and their export as JSON, HTML, SARIF and text.

    Attributes: `findings` (errors first), `facts`, `ok` (no finding counts as a failure), `counts` by severity, `kind`,
    `subject`, `sections`, `samples`, `rules`, `fail_on` and `known`; see ReportContents.

    >>> from recordsmith.rules import Finding, Severity
    >>> report = Report("check", (Finding("V001", "nan", Severity.ERROR, "2 NaN."),), subject="data")
    >>> report
    <Report: check of data, 1 error>
    >>> report.to_json()["findings"][0]["code"]
    'V001'
    """

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON-ready values; docs/report-format.md describes them.

        >>> sorted(Report("lint").to_json())
        ['counts', 'facts', 'fail_on', 'findings', 'kind', 'known', 'ok', 'sections', 'subject', 'tool', 'version']
        """
        return {
            "version": _FORMAT_VERSION,
            "tool": {"name": "recordsmith", "version": version("recordsmith")},
            "kind": self.kind,
            "subject": without_surrogates(self.subject),
            "ok": self.ok,
            "fail_on": "never" if self.fail_on is None else self.fail_on.value,
            "counts": self.counts,
            "known": self.known,
            "findings": [plain_value(finding.to_json()) for finding in self.findings],
            "facts": self._facts_json(),
            "sections": [plain_value(section.to_json()) for section in self.sections],
        }

    def _facts_json(self) -> dict[str, Any] | None:
        if self.facts is not None:
            return facts_json(self.facts)
        return {"files": [plain_value(one) | {"words": one.words} for one in self.followed]} if self.followed else None

    def to_sarif(self) -> dict[str, Any]:
        """Return the findings as SARIF 2.1.0, which GitHub, GitLab, Azure and many editors show.

        >>> Report("lint").to_sarif()["version"]
        '2.1.0'
        """
        return sarif_log(self.findings, self.rules)

    def to_github(self) -> str:
        """Return the findings as lines that GitHub Actions turns into annotations.

        >>> from recordsmith.rules import Finding, Severity
        >>> Report("check", (Finding("V001", "nan", Severity.ERROR, "2 NaN."),)).to_github()
        '::error title=V001 nan::2 NaN.'
        """
        return github_annotations(self.findings)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML file without external resources.

        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/report.html"
        >>> Report("check", subject="data").to_html(path)
        >>> with open(path) as file:
        ...     file.read(15)
        '<!DOCTYPE html>'
        """
        from recordsmith.report.html import report_page

        rewrite_text(path, report_page(self))

    def __str__(self) -> str:
        return report_text(self.subject or self.kind, self.findings, self.known, followed_lines(self.followed))

    def __repr__(self) -> str:
        counts = verdict(self.findings, self.known)
        return (
            f"<Report: {self.kind} of {self.subject}, {counts}>" if self.subject else f"<Report: {self.kind}, {counts}>"
        )

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        from recordsmith.report.html import report_fragment

        return report_fragment(self)
