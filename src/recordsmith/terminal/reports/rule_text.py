"""Rules as people and programs read them: on the terminal and as JSON."""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recordsmith.rules import Rule, RuleSet
from recordsmith.rules.judge import rule_failed
from recordsmith.terminal.reports.findings_list import SEVERITY_STYLES

__all__ = ["FAMILIES", "every_rule", "rule_json", "rule_page", "rule_table"]

FAMILIES = {
    "F": "framing: files, and how records are framed in them",
    "W": "wire: the bytes of a record",
    "S": "schema: what was declared",
    "V": "values: what the features contain",
    "D": "dataset: classes, splits, copies, files",
    "C": "comparison: two datasets or splits",
    "P": "pipelines: the code that reads the data",
    "T": "tensors: what a model really gets",
    "X": "the check itself",
}
_HOMES = ("checking.rules", "comparing.rules", "doctor.lint.rules", "doctor.diagnose.rules")
_WIDEST = 100


def every_rule() -> RuleSet[Any]:
    """Return the rules of all families."""
    families = [importlib.import_module(f"recordsmith.{home}").RULES for home in _HOMES]
    return RuleSet([rule_failed, *(one for family in families for one in family)])


def rule_json(rule: Rule[Any]) -> dict[str, Any]:
    """Return a rule as JSON has it."""
    return {
        "code": rule.code,
        "name": rule.name,
        "family": FAMILIES[rule.code[0]].partition(":")[0],
        "severity": rule.severity.value,
        "summary": rule.text.summary,
        "details": rule.text.details,
        "why": rule.text.why,
        "example": rule.text.example,
        "fix": rule.text.fix,
    }


def rule_page(rule: Rule[Any], width: int) -> RenderableType:
    """Lay out one rule for a terminal.

    >>> from rich.console import Console
    >>> Console(width=60).print(rule_page(every_rule().get("F014"), 60))  # doctest: +ELLIPSIS
    F014 unreadable-file (error)
    <BLANKLINE>
    The operating system cannot read the file.
    ...
    """
    head = Text.assemble(
        (f"{rule.code} {rule.name}", "bold"), " (", (rule.severity.value, SEVERITY_STYLES[rule.severity]), ")"
    )
    parts: list[RenderableType] = [head, Text(), *_paragraphs(rule.text.summary, width)]
    if rule.text.details:
        parts += [Text(), *_paragraphs(rule.text.details, width)]
    for title, text in (("Why it matters", rule.text.why), ("Example", rule.text.example), ("Fix", rule.text.fix)):
        parts += [Text(), Text(title, "bold"), *_paragraphs(text, width, indent="  ")]
    return Group(*parts)


def rule_table(rules: Iterable[Rule[Any]]) -> RenderableType:
    """List rules, family by family.

    >>> from rich.console import Console
    >>> Console(width=80).print(rule_table([every_rule().get("F014")]))
    F  framing: files, and how records are framed in them
      F014  unreadable-file  error  The operating system cannot read the file.
    """
    listed = list(rules)
    families = [family for family in FAMILIES if any(one.code.startswith(family) for one in listed)]
    widest = max((len(one.name) for one in listed), default=0)
    parts: list[RenderableType] = []
    for family in families:
        table = Table.grid(padding=(0, 2, 0, 0))
        for column in (2 + 4, widest, len("warning")):
            table.add_column(no_wrap=True, min_width=column if len(listed) > 1 else None)
        table.add_column()
        for one in listed:
            if one.code.startswith(family):
                severity = Text(one.severity.value, SEVERITY_STYLES[one.severity])
                table.add_row(Text(f"  {one.code}", "bold"), Text(one.name), severity, Text(one.text.summary))
        parts += [Text.assemble((f"{family}  {FAMILIES[family]}", "bold")), table]
    return Group(*parts)


def _paragraphs(text: str, width: int, indent: str = "") -> Iterator[Text]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text)):
        if number:
            yield Text()
        if "\n    " in paragraph or paragraph.startswith("    "):  # code, which keeps its lines
            yield Text(textwrap.indent(paragraph, indent))
        else:
            filled = textwrap.fill(
                " ".join(paragraph.split()),
                min(width, _WIDEST),
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
            yield Text(filled)
