"""The judge of all rule families: runs the wanted rules over a subject, and leaves out findings that are known already.

`check`, `lint` and `diagnose` differ in their rules and in what they look at; everything else is decided here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypedDict, TypeVar

from recordsmith.rules.baseline import Baseline
from recordsmith.rules.configuration import Configuration
from recordsmith.rules.finding import Finding, Severity
from recordsmith.rules.rule import Rule, RuleSet, RuleText, rule

__all__ = ["Judge", "Judgement", "rule_failed"]

Subject = TypeVar("Subject")

_MOST_OF_ONE_RULE = 50


@rule("X001", "rule-failed", Severity.ERROR)
def rule_failed(_subject: Any) -> Iterator[Finding]:
    """A rule could not be applied because it raised an error.

    All other rules were applied.

    Why it matters:
        The rule may have missed problems.

    Example:
        A rule divides by the number of records, and the dataset has none.

    Fix:
        Please report it with the message and the command. Until it is fixed, `--ignore` leaves the rule out.
    """
    yield from ()


class Judgement(TypedDict):
    """What a report says of its findings, as keyword arguments of `Report`."""

    findings: tuple[Finding, ...]
    known: int
    fail_on: Severity | None
    rules: Mapping[str, RuleText]


class Judge(Generic[Subject]):
    """Applies the rules of one family, as the caller and the project's configuration want.

    Attributes:
        rules: the rules that are applied, in order of their codes.
    """

    def __init__(
        self,
        family: RuleSet[Subject],
        configuration: Configuration | None = None,
        *,
        select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        fail_on: str | None = None,
        baseline: Baseline | str | os.PathLike[str] | None = None,
    ) -> None:
        """Decide which rules are applied; what the caller asks for takes precedence over the configuration.

        Args:
            family: the rules that exist.
            configuration: what the project has decided; None: nothing.
            select: rules to apply, by code, beginning of a code, or name; empty: as the configuration says, or all.
            ignore: rules to leave out, besides those of the configuration.
            fail_on: the least severity that counts as a failure, or "never"; None: as the configuration says.
            baseline: known findings, or the file of them; None: as the configuration says.
        """
        settings = configuration or Configuration()
        every = RuleSet([*family, rule_failed])
        self._selection = settings.selection(every, select=select, ignore=ignore, fail_on=fail_on)
        known = settings.baseline if baseline is None else baseline
        self._baseline = known if known is None or isinstance(known, Baseline) else Baseline.load(known)
        self.rules = tuple(one for one in every if self._selection.wants(one))

    def find(self, subject: Subject) -> list[Finding]:
        """Return what the rules find, in their order; a rule that raises becomes a finding of its own, X001.

        Of one rule at most 50 findings are kept, and one that says how many more there are.
        """
        return [found for one in self.rules for found in _run(one, subject) if self._selection.wants(found)]

    def judgement(self, findings: Iterable[Finding]) -> Judgement:
        """Return the findings that are new, and what the report has to know next to them."""
        every = tuple(findings)
        new = every if self._baseline is None else tuple(self._baseline.without_known(every))
        return {
            "findings": new,
            "known": len(every) - len(new),
            "fail_on": self._selection.fail_on,
            "rules": {one.code: one.text for one in self.rules},
        }


def _run(one: Rule[Subject], subject: Subject) -> list[Finding]:
    found: list[Finding] = []
    more = 0
    try:
        for finding in one(subject):
            if len(found) < _MOST_OF_ONE_RULE:
                found.append(finding)
            else:
                more += 1
    except Exception as error:  # noqa: BLE001 - whatever it is, the run goes on
        found.append(_failure(one, error))
    if more:
        found.append(one.finding(f"{more:,} more findings of this rule are not listed.", count=more))
    return found


def _failure(failed: Rule[Any], error: Exception) -> Finding:
    kind = type(error).__name__
    reason = f"{kind}: {error}".splitlines()[0].rstrip(".")
    return rule_failed.finding(
        f"Rule {failed.code} ({failed.name}) failed: {reason}.",
        evidence={"rule": failed.code, "exception": kind, "error": reason},
    )
