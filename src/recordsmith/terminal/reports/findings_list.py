"""Findings as a list: by severity and rule, each with its place, evidence and remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recordsmith.rules import Finding, Severity
from recordsmith.terminal.reports.code_excerpt import code_excerpt
from recordsmith.wording.numbers import count_text, number_text
from recordsmith.wording.visible_text import clipped, quoted

__all__ = ["SEVERITY_STYLES", "findings_renderable"]

SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_MOST_PER_RULE = 10  # findings of one rule that are told in full
_MOST_PLACES = 3
_MOST_EVIDENCE = 8  # entries
_DEEPEST = 3  # lists in lists of the evidence


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
    if finding.evidence:
        yield "seen", Text(_evidence(finding.evidence), "dim")
    if finding.advice and with_advice:
        yield "to do", Text(clipped(" ".join(finding.advice.split())), "green")


def _evidence(evidence: dict[str, Any]) -> str:
    shown = [f"{clipped(str(name), 48).replace('_', ' ')} {_value(value)}" for name, value in evidence.items()]
    more = f"; {len(shown) - _MOST_EVIDENCE} more" if len(shown) > _MOST_EVIDENCE else ""
    return "; ".join(shown[:_MOST_EVIDENCE]) + more


def _value(value: Any, depth: int = 0) -> str:
    match value:
        case bool() | None:
            return {True: "yes", False: "no", None: "unknown"}[value]
        case int() | float():
            return number_text(value)
        case str():
            return quoted(value, 48)
        case bytes():
            return quoted(value.decode(errors="backslashreplace"), 48)
        case dict() if depth < _DEEPEST:
            entries = [f"{clipped(str(name), 24)} {_value(one, depth + 1)}" for name, one in list(value.items())[:5]]
            return ", ".join(entries) + (", …" if len(value) > 5 else "")
        case list() | tuple() if depth < _DEEPEST:
            nested = any(isinstance(one, (dict, list, tuple)) for one in value)
            most = 2 if nested else 5
            shown = [_value(one, depth + 1) for one in value[:most]]
            return (" / " if nested else ", ").join(shown) + (", …" if len(value) > most else "")
    return clipped(str(value), 48)
