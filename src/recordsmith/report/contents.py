"""What a report contains, for the renderers; `Report` adds the methods that render it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.named_images import NamedImage
from recordsmith.report.followed_file import FollowedFile
from recordsmith.report.sections import Section
from recordsmith.rules import Finding, RuleText, Selection, Severity

__all__ = ["ReportContents"]


@dataclass(frozen=True, slots=True)
class ReportContents:
    """Findings, and what they rest on.

    Attributes:
        kind: "check" (data), "compare" (two datasets), "lint" (code) or "diagnose" (what a model would see).
        findings: errors first, then warnings, then what is only worth knowing; by rule, and by place.
        facts: the facts about the data; None where no data was read.
        sections: more to show: images, histograms, tables, texts.
        subject: what was checked, as the user named it.
        fail_on: the lowest severity that counts as a failure; None: no severity does.
        rules: what the rules say about themselves, by code, as far as renderers may need it.
        samples: some records to show.
        images: of records that findings name.
        followed: of code, how far each file was followed.
        known: how many findings are left out because a baseline knows them.
    """

    kind: Literal["check", "compare", "lint", "diagnose"]
    findings: tuple[Finding, ...] = ()
    facts: DatasetFacts | None = None
    sections: tuple[Section, ...] = ()
    subject: str = ""
    fail_on: Severity | None = Severity.WARNING
    rules: Mapping[str, RuleText] = field(default_factory=dict)
    samples: tuple[RowOverview, ...] = ()
    images: tuple[NamedImage, ...] = ()
    followed: tuple[FollowedFile, ...] = ()
    known: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", tuple(sorted(self.findings, key=_order)))

    @property
    def ok(self) -> bool:
        """Whether no finding counts as a failure."""
        return not Selection(fail_on=self.fail_on).fails(self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        return {one.value: sum(found.severity is one for found in self.findings) for one in Severity}


# What costs time, or mixes less than it could: named after what makes the data or the training wrong.
_LAST = {"P003", "P004", "P005", "P006", "P007", "P008", "P010", "P046"}


def _order(finding: Finding) -> tuple[Any, ...]:
    where = finding.location
    return (
        -finding.severity.rank,
        finding.code in _LAST,
        finding.code,
        where.path or "",
        where.cell or 0,
        where.line or 0,
        where.column or 0,
        where.split or "",
        where.feature or "",
        -1 if where.record is None else where.record,
    )
