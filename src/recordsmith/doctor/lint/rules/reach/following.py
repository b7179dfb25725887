"""The rule on code that could not be followed: silence about it would look like praise."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.understanding import first_unknown, trains_or_reads, understood
from recordsmith.rules import Finding, Severity, rule

__all__ = ["FOLLOWING_RULES"]


@rule("P099", "not-followed", Severity.INFO)
def not_followed(program: Program) -> Iterator[Finding]:
    """The code could not be followed, so nothing was checked, or only a part.

    Why it matters:
        The doctor reads code without running it. Datasets that come from a library which it does not know, or from a
        caller, are not checked: the absence of other findings says nothing about them.

    Example:
        `train = mylib.load_data()`, then `model.fit(train)`.

    Fix:
        Give the folder of the whole project, so that its modules are found. Look at the data itself with
        `recordsmith diagnose`, which runs the pipeline.
    """
    seen = understood(program)
    node = first_unknown(program)
    if node is None:
        return
    if seen.stopped:
        yield program.finding(
            not_followed,
            node,
            f"This file was {seen.stopped}. What comes later was not checked.",
            advice="Check its modules one by one.",
        )
    elif seen.nothing and (program.alone or seen.not_understood or trains_or_reads(program)):
        unknown = f" Not understood: {', '.join(seen.not_understood[:3])}." if seen.not_understood else ""
        yield program.finding(
            not_followed,
            node,
            f"No dataset, model, reader or writer was followed in this file, so nothing was checked.{unknown}",
            evidence={"not_understood": list(seen.not_understood)} if seen.not_understood else None,
        )


FOLLOWING_RULES = [not_followed]
