"""What follows from what: a finding that another one explains is left out, so that the cause comes first."""

from __future__ import annotations

from collections.abc import Iterable

from recordsmith.rules import Finding, Severity

__all__ = ["without_consequences"]

# What is left out, and what explains it. "same" asks for the same input or target.
_EXPLAINED: dict[str, tuple[str, ...]] = {
    "T016": ("T003", "T004", "T005", "T006", "T007", "T008", "T009", "T010", "T011", "T012", "T013", "T014", "T015"),
    "T008": ("T003",),
    "T009": ("T003",),
    "T007": ("T004", "T009"),
    "T012": ("T010", "T011"),
    "T013": ("T012",),
    "T026": ("T036",),
    "T040": ("T050",),
    "T041": ("T050",),
    "T062": ("T031",),
    "T042": ("T099", "T040", "T041", "T043", "T050", "T053", "T049"),
    "T044": ("T046",),
    "T046": ("T040",),
    "T061": ("T038", "T039", "T052"),
    "T031": ("T043", "T063"),
    "T034": ("T024",),
    "T084": ("T024", "T034", "T080", "T100"),
    "T090": ("T056",),
    "T094": ("T056",),
    "T091": ("T092",),
    "T081": ("T012",),
    "T082": ("T012", "T014", "T025", "T067", "T087", "T100"),
    "T024": ("T068",),
    "T010": ("T066",),
    "T083": ("T059", "T099"),
    "T001": ("T063", "T064"),
    "T006": ("T063",),
    "T022": ("T063",),
    "T002": ("T019", "T102", "T064"),
}
_EXPLAINED_FOR_SAME: dict[str, tuple[str, ...]] = {
    "T020": ("T030",),
    "T021": ("T030",),
    "T024": ("T030",),
    "T026": ("T022", "T030"),
    "T027": ("T026", "T028", "T039"),
    "T028": ("T030", "T039"),
    "T029": ("T030",),
    "T035": ("T028", "T030"),
}
_OF_TRAINING = ("T080", "T081", "T082", "T083", "T084")


def without_consequences(findings: Iterable[Finding]) -> list[Finding]:
    """Leave out findings that others explain.

    >>> from recordsmith.rules import Location
    >>> one = Finding("T030", "a", Severity.ERROR, "", Location(feature="x"))
    >>> other = Finding("T020", "b", Severity.ERROR, "", Location(feature="x"))
    >>> [finding.code for finding in without_consequences([other, one])]
    ['T030']
    """
    every = list(findings)
    codes = {finding.code for finding in every if finding.severity is not Severity.INFO}
    places = {(finding.code, finding.location.feature) for finding in every}
    wrong = any(finding.severity is Severity.ERROR and finding.code not in _OF_TRAINING for finding in every)

    def explained(finding: Finding) -> bool:
        feature = finding.location.feature
        return (
            (wrong and finding.code in _OF_TRAINING)
            or any(code in codes for code in _EXPLAINED.get(finding.code, ()))
            or any((code, feature) in places for code in _EXPLAINED_FOR_SAME.get(finding.code, ()))
        )

    return [finding for finding in every if not explained(finding)]
