"""A report as plain text, for `print(report)` and for logs."""

from __future__ import annotations

from collections.abc import Sequence

from recordsmith.rules import Finding, Severity
from recordsmith.wording.visible_text import printable, printable_lines

__all__ = ["report_text", "verdict"]


def report_text(subject: str, findings: Sequence[Finding], known: int = 0, beside: Sequence[str] = ()) -> str:
    """Write the verdict, what else is to be said, and the findings below it.

    >>> print(report_text("data", [Finding("V001", "nan", Severity.ERROR, "2 NaN.", advice="Remove them.")]))
    data: 1 error
    <BLANKLINE>
    error V001 nan: 2 NaN.
      to do: Remove them.
    """
    blocks = ["\n".join([f"{printable(subject)}: {verdict(findings, known)}", *map(printable, beside)])]
    for one in findings:
        lines = [f"{one.severity.value} {one.code} {one.name}: {printable(one.message)}"]
        place = printable(str(one.location))
        lines += [f"  where: {place}"] if place else []
        lines += [f"  to do: {' '.join(one.advice.split())}"] if one.advice else []
        blocks.append("\n".join(lines))
    return printable_lines("\n\n".join(blocks))


def verdict(findings: Sequence[Finding], known: int = 0) -> str:
    """Count findings by severity, as text.

    >>> verdict([]), verdict([Finding("V001", "nan", Severity.INFO, "2 NaN.")], known=3)
    ('no findings', '1 info (3 known ones are left out)')
    """
    nouns = {
        Severity.ERROR: ("error", "errors"),
        Severity.WARNING: ("warning", "warnings"),
        Severity.INFO: ("info",) * 2,
    }
    counts = {severity: sum(one.severity is severity for one in findings) for severity in nouns}
    listed = ", ".join(f"{count:,} {nouns[kind][count != 1]}" for kind, count in counts.items() if count)
    left_out = f" ({known:,} known {'one is' if known == 1 else 'ones are'} left out)" if known else ""
    return (listed or "no findings") + left_out
