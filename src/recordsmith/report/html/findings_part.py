"""The findings of a report as HTML: one block each, closed but for the errors, with a filter by severity above."""

from __future__ import annotations

from collections.abc import Iterable

from recordsmith.display.images import thumbnail
from recordsmith.facts.named_images import NamedImage
from recordsmith.report.code_lines import CodeLine, code_lines
from recordsmith.report.contents import ReportContents
from recordsmith.report.evidence import evidence_texts
from recordsmith.rules import Finding, RuleText, Severity
from recordsmith.wording.markup import Child, Markup, element, with_code
from recordsmith.wording.numbers import count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["finding_block", "findings_part", "severity_filter"]

_MOST_FINDINGS = 500
_MOST_LINES = 40  # of code
_LONGEST_LINE = 240
_MOST_EVIDENCE = 16
_MOST_IMAGES = 6  # of a finding
_MOST_OPEN = 8  # findings that are open from the start


def findings_part(report: ReportContents) -> Markup:
    """Return the part."""
    if not report.findings:
        return element("p", "Nothing was found.", class_="nothing")
    shown = report.findings[:_MOST_FINDINGS]
    return element(
        "div",
        severity_filter(report.counts),
        [
            finding_block(one, report.rules.get(one.code), report.images, open_=n < _MOST_OPEN)
            for n, one in enumerate(shown)
        ],
        element("p", f"{len(report.findings) - len(shown):,} more are in the JSON.", class_="note")
        if len(shown) < len(report.findings)
        else None,
        class_="findings",
    )


def severity_filter(counts: dict[str, int]) -> Markup:
    """Return buttons that show or hide the findings of each severity."""
    words = {"error": "Errors", "warning": "Warnings", "info": "Info"}
    buttons = [
        element(
            "button",
            element("span", class_=f"dot {severity}"),
            f"{words[severity]} ",
            element("b", f"{count:,}"),
            type="button",
            data_severity=severity,
            aria_pressed="true",
        )
        for severity, count in counts.items()
        if count
    ]
    return element("div", buttons, class_="filter", role="group", aria_label="Show findings by severity")


def _shown_images(finding: Finding, images: Iterable[NamedImage]) -> list[Markup]:
    """Return the images of the records that a finding names: those of its feature, or else the first of each."""
    places = dict.fromkeys((one.path, one.record) for one in (finding.location, *finding.places))
    there: dict[tuple[str, int], list[NamedImage]] = {}
    for image in images:
        there.setdefault((image.path, image.record), []).append(image)
    shown: list[Markup] = []
    for path, record in places:
        known = there.get((path or "", -1 if record is None else record), [])
        own = [one for one in known if one.feature == finding.location.feature] or known[:1]
        for image in own[:1]:
            caption = f"record {image.record:,}, {clipped(image.feature, 40)}"
            small = thumbnail(image.data, caption=caption)
            if small is not None and len(shown) < _MOST_IMAGES:
                shown.append(element("figure", small, element("figcaption", element("bdi", caption))))
    return shown


def finding_block(
    finding: Finding, text: RuleText | None, images: Iterable[NamedImage], *, open_: bool, beside: Child = None
) -> Markup:
    """Return one finding.

    Args:
        finding: the finding.
        text: what its rule says about itself.
        images: images of the report, of which those of its records are shown.
        open_: its details are shown from the start, unless it is an info.
        beside: what else is shown with the details.
    """
    severity = finding.severity.value
    named = _shown_images(finding, images)
    head = element(
        "summary",
        element("span", severity, class_=f"badge {severity}"),
        element("span", element("b", finding.code), f" {finding.name}", class_="rule"),
        element("span", with_code(clipped(finding.message)), class_="message"),
    )
    return element(
        "details",
        head,
        element(
            "div",
            _code(finding),
            element("div", named, class_="named") if named else None,
            element("dl", _facts(finding, text)),
            beside,
            class_="body",
        ),
        class_=f"finding {severity}",
        data_severity=severity,
        open=open_ and finding.severity is not Severity.INFO,
    )


def _facts(finding: Finding, text: RuleText | None) -> Iterable[Markup]:
    place = clipped(str(finding.location), 300)
    if place:
        times = f"{finding.count:,} times, first here" if finding.count > 1 else None
        yield _fact("Where", element("bdi", place), element("small", f" {times}") if times else None)
    others = [clipped(str(one), 300) for one in finding.places if clipped(str(one), 300) != place]
    if others:
        yield _fact("Also", [element("div", element("bdi", other)) for other in others[:10]])
    if finding.evidence:
        evidence = evidence_texts(finding, width=120, entries=8)[:_MOST_EVIDENCE]
        yield _fact(
            "Seen", [element("span", name, " ", element("b", text), class_="evidence") for name, text in evidence]
        )
    if finding.advice:
        yield _fact("To do", element("span", with_code(clipped(" ".join(finding.advice.split()))), class_="advice"))
    if text is not None:
        yield _fact("Why", with_code(clipped(" ".join(text.why.split()))))


def _fact(label: str, *value: Child) -> Markup:
    return element("div", element("dt", label), element("dd", *value), class_="fact")


def _code(finding: Finding) -> Markup | None:
    if finding.quoted is None and finding.corrected is None:
        return None
    quoted, corrected = code_lines(finding)
    parts = [
        element(
            "figure",
            element("figcaption", words),
            element("pre", [_line(line) for line in lines[:_MOST_LINES]], _more(lines)),
            class_=f"code {kind}",
        )
        for lines, kind, words in ((quoted, "as-is", "as it is"), (corrected, "corrected", "as it should be"))
        if lines
    ]
    return element("div", parts, class_="codes")


def _line(line: CodeLine) -> Markup:
    text = line.text[:_LONGEST_LINE]
    start, end = line.marked or (len(text), len(text))
    meant = element("mark", text[start:end]) if text[start:end] else None
    return element("span", element("i", str(line.number)), text[:start], meant, text[end:], "\n", class_="line")


def _more(lines: list[CodeLine]) -> str | None:
    return f"… {count_text(len(lines) - _MOST_LINES, 'more line')}" if len(lines) > _MOST_LINES else None
