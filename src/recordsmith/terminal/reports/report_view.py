"""A report on a terminal: what there is, how it is distributed, what was found, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text

from recordsmith.report.contents import ReportContents
from recordsmith.report.followed_file import followed_lines
from recordsmith.report.plain_text import verdict
from recordsmith.rules import Severity
from recordsmith.terminal.reports.facts_summary import facts_head, label_table, shard_lines, split_table
from recordsmith.terminal.reports.feature_facts import feature_table
from recordsmith.terminal.reports.findings_list import findings_renderable
from recordsmith.terminal.reports.section_blocks import section_block
from recordsmith.terminal.values.short_values import printable

__all__ = ["report_blocks", "verdict_line"]


def report_blocks(report: ReportContents, *, width: int, facts: bool = True) -> RenderableType:
    """Lay out a report for a terminal of so many columns.

    Args:
        report: what `check`, `lint` or `diagnose` returned.
        width: of the terminal.
        facts: show what the data is like before what is wrong with it.
    """
    parts: list[RenderableType] = []
    if report.facts is not None and facts:
        for block in _facts_blocks(report, width):
            parts += [block, Text()]
    for section in report.sections:
        parts += [section_block(section, width), Text()]
    if report.findings:
        parts += [findings_renderable(report.findings), Text()]
    for line in followed_lines(report.followed):
        parts.append(Text(printable(line), "dim"))
    return Group(*parts, verdict_line(report))


def verdict_line(report: ReportContents) -> Text:
    """Say in one line what came of it."""
    worst = next((one.severity for one in report.findings), None)
    style = {None: "green", Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "green"}[worst]
    line = Text().append(f"{printable(report.subject or report.kind)}: ", "bold")
    line.append(verdict(report.findings, report.known), f"bold {style}")
    if report.findings:
        line.append(f"; `recordsmith rule {report.findings[0].code}` says more", "dim")
    return line


def _facts_blocks(report: ReportContents, width: int) -> Iterable[RenderableType]:
    facts = report.facts
    if facts is None:
        return
    yield facts_head(facts, report.subject)
    if len(facts.splits) > 1:
        yield split_table(facts, width)
    if facts.features:
        yield feature_table(facts, width)
    for label in facts.labels:
        if label.counts:
            yield label_table(label, width)
    if len(facts.shards) > 1 or any(shard.damage_count for shard in facts.shards):
        yield shard_lines(facts, width)
