"""Findings as a list: by severity and rule, each with its place, evidence and remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recordsmith.report.evidence import evidence_texts
from recordsmith.rules import Finding, Severity
from recordsmith.terminal.reports.code_excerpt import code_excerpt
from recordsmith.wording.numbers import count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["SEVERITY_STYLES", "findings_renderable"]

SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_MOST_PER_RULE = 10  # findings of one rule that are told in full
_MOST_PLACES = 3
_MOST_EVIDENCE = 8


def findings_renderable(findings: Sequence[Finding]) -> RenderableType:
    """Lay out findings, which are sorted by severity and rule.

    >>> from rich.console import Console
    >>> from recordsmith.rules import Location
    >>> found = Finding("V001", "nan", Severity.ERROR, "2 NaN.", Location("a.tfrecord", record=7), "Remove them.")
    >>> Console(width=60).print(findings_renderable([found]))
    error V001 nan
      2 NaN.
      where   a.tfrecord, record 7
      to do   Remove them.
    """
    parts: list[RenderableType] = []
    for _, same in groupby(findings, key=lambda one: (one.severity, one.code)):
        if parts:
            parts.append(Text())
        parts += _of_one_rule(list(same))
    return Group(*parts)


def _of_one_rule(findings: list[Finding]) -> Iterable[RenderableType]:
    first = findings[0]
    style = SEVERITY_STYLES[first.severity]
    head = Text().append(first.severity.value, f"bold {style}").append(f" {first.code}", style)
    head.append(f" {first.name}", "bold")
    if len(findings) > 1:
        head.append(f"  {len(findings):,} findings", "dim")
    yield head
    shown = findings[:_MOST_PER_RULE]
    for number, one in enumerate(shown):
        following = shown[number + 1].advice if number + 1 < len(shown) else None
        if number and (one.quoted or one.corrected):
            yield Text()
        yield Padding(_one(one, style, with_advice=one.advice != following), (0, 0, 0, 2))
    if len(findings) > len(shown):
        yield Text(f"  and {len(findings) - len(shown):,} more, which --format json lists", "dim")


def _one(finding: Finding, style: str, *, with_advice: bool) -> RenderableType:
    parts: list[RenderableType] = []
    if finding.message:
        parts.append(Text(clipped(finding.message)))
    if finding.quoted is not None or finding.corrected is not None:
        parts.append(Text(clipped(str(finding.location), 300), "dim"))
        parts.append(Padding(code_excerpt(finding, colour=style), (0, 0, 0, 2)))
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True, width=6)
    facts.add_column(overflow="fold")
    for label, text in _facts(finding, with_advice=with_advice):
        facts.add_row(label, text)
    if facts.row_count:
        parts.append(facts)
    return Group(*parts)


def _facts(finding: Finding, *, with_advice: bool) -> Iterable[tuple[str, Text]]:
    in_code = finding.quoted is not None or finding.corrected is not None
    place = clipped(str(finding.location), 300)
    if place and not in_code:
        times = f"  {finding.count:,} times" if finding.count > 1 else ""
        yield "where", Text().append(place).append(times, "dim")
    seen = {place}
    others = [text for one in finding.places if (text := clipped(str(one), 300)) and text not in seen]
    for text in others[:_MOST_PLACES]:
        yield "", Text(text, "dim")
    if len(others) > _MOST_PLACES:
        yield "", Text(f"and {count_text(len(others) - _MOST_PLACES, 'more place')}", "dim")
    evidence = [" ".join(one) for one in evidence_texts(finding, width=48, entries=5)]
    if evidence:
        more = f"; {len(evidence) - _MOST_EVIDENCE} more" if len(evidence) > _MOST_EVIDENCE else ""
        yield "seen", Text("; ".join(evidence[:_MOST_EVIDENCE]) + more, "dim")
    if finding.advice and with_advice:
        yield "to do", Text(clipped(" ".join(finding.advice.split())), "green")
