"""The page of a program next to the data: what the doctor found in it, and what the data has for it."""

from __future__ import annotations

from collections.abc import Sequence

from recordsmith.query.overview import FeatureOverview
from recordsmith.report.html.findings_part import finding_block, severity_filter
from recordsmith.report.html.sections_part import section_part
from recordsmith.report.plain_text import verdict
from recordsmith.rules import Finding
from recordsmith.viewer.data.program import ProgramReport
from recordsmith.viewer.data.state import ViewState, quoted_name
from recordsmith.viewer.pages.facets import feature_anchor, histogram_drawing, type_text
from recordsmith.viewer.pages.frame import Viewed, whole_page
from recordsmith.viewer.pages.values import address
from recordsmith.wording.markup import Child, Markup, element
from recordsmith.wording.visible_text import clipped

__all__ = ["program_page"]

_MOST_FINDINGS = 300


def program_page(viewed: Viewed, every: Sequence[Viewed], program: ProgramReport) -> str:
    """Return the page; while the program is read, it says so."""
    report = program.report
    content: list[Child] = [element("p", element("bdi", clipped(program.path, 300)), _compared(program), class_="note")]
    if program.error is not None:
        content.append(element("p", f"The program could not be read: {clipped(program.error, 600)}", class_="broken"))
    if report is None and program.error is None:
        content.append(element("p", "Reading the program …", class_="verdict"))
    elif report is not None:
        worst = report.findings[0].severity.value if report.findings else "none"
        shown = report.findings[:_MOST_FINDINGS]
        more = len(report.findings) - len(shown)
        content += [
            element(
                "p", element("span", class_=f"dot {worst}"), verdict(report.findings, report.known), class_="verdict"
            ),
            severity_filter(report.counts) if report.findings else None,
            [
                finding_block(one, report.rules.get(one.code), (), open_=place < 12, beside=_in_the_data(viewed, one))
                for place, one in enumerate(shown)
            ],
            element("p", f"{more:,} more: `recordsmith doctor` lists them all.", class_="note") if more else None,
            [element("section", element("h2", clipped(one.title, 120)), section_part(one)) for one in report.sections],
        ]
    again = element("a", "Read the program again", href=address(f"{viewed.base}/program?run=1"), class_="button")
    return whole_page(
        f"Program for {viewed.dataset.name}",
        element("main", element("h1", "Program"), content, element("p", again), class_="document"),
        viewed=viewed,
        every=every,
        here="program",
        class_="app plain",
        data_page="program",
        data_base=address(viewed.base),
    )


def _compared(program: ProgramReport) -> str:
    if program.compared:
        return " · compared with all records"
    return (
        " · not compared with the data yet" if program.busy else " · not compared with the data, which was not checked"
    )


def _in_the_data(viewed: Viewed, finding: Finding) -> Markup | None:
    """Show the feature that a finding is about, as the data has it, with links to its records."""
    name = finding.location.feature
    overview = next((one for one in viewed.dataset.features if one.name == name), None)
    if name is None:
        return None
    if overview is None:
        return element("p", "The data has no feature ", element("code", clipped(name, 100)), ".", class_="note")
    return element(
        "div",
        element("h3", element("bdi", clipped(name, 100)), " in the data"),
        element("p", _said(viewed, overview), class_="note"),
        _drawing(viewed, name),
        element("p", _links(viewed, overview)),
        class_="in-data",
    )


def _said(viewed: Viewed, one: FeatureOverview) -> str:
    facts, known = viewed.examination.feature(one.name), viewed.examination.facts
    words = [type_text(one.feature, one.kinds)]
    if facts is not None and known is not None:
        so_far = "" if viewed.examination.complete else " of the first"
        words.append(f"in {facts.records:,} of{so_far} {known.records:,} records")
        if facts.distinct:
            words.append(f"{facts.distinct:,} different values")
    return ", ".join(words)


def _drawing(viewed: Viewed, name: str) -> Markup | None:
    facts = viewed.examination.feature(name)
    histogram = None if facts is None or facts.numbers is None else facts.numbers.histogram
    if histogram is None or len(histogram.counts) < 2 or not any(histogram.counts):
        return None
    return element("div", histogram_drawing(histogram, name=name), class_="standing")


def _links(viewed: Viewed, one: FeatureOverview) -> list[Child]:
    if "`" in one.name:
        return []  # conditions cannot name it
    facts, known = viewed.examination.feature(one.name), viewed.examination.facts
    conditions = [("is not missing", "Records with it")]
    if facts is not None and known is not None and facts.records < known.records:
        conditions.append(("is missing", "Records without it"))
    return [
        element(
            "a",
            words,
            href=address(
                f"{viewed.base}/{ViewState(where=f'{quoted_name(one.name)} {condition}').url()}#"
                + feature_anchor(viewed.dataset, one.name)
            ),
            class_="button",
        )
        for condition, words in conditions
    ]
