"""Which rules are wanted, and the least severity that counts as a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.rules.finding import Finding, Severity
from recordsmith.rules.rule import RuleSet

__all__ = ["Coded", "Selection", "severity_from"]

_EVERYTHING = "ALL"
_PREFIX = re.compile(r"[A-Z]\d{0,3}")
_OWN_FAILURES = "X"  # a rule failed: leaving that out would make the data look sound


class Coded(Protocol):
    """What has the code and the name of a rule: a Rule, or a Finding."""

    @property
    def code(self) -> str:
        """The rule's code."""

    @property
    def name(self) -> str:
        """The rule's name."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules are wanted.

    Each entry is a code (`V001`), the beginning of one (`V`, `V0`), a rule's name, or `ALL`. Where both lists have an
    entry for a rule, the longer one decides, and of two equal ones the one in `ignore`. That a rule itself
    failed (codes with X) is reported unless it is ignored by its code.

    Attributes:
        select: the rules to run; empty: all.
        ignore: the rules to leave out.
        fail_on: the lowest severity that counts as a failure; None: no severity does.

    >>> wanted = Selection(select=("V", "D001"), ignore=("V003",))
    >>> [code for code in ("V001", "V003", "D001", "D002") if wanted.wants(code)]
    ['V001', 'D001']
    >>> Selection(select=("V003",), ignore=("V",)).wants("V003")
    True
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.WARNING

    def wants(self, rule: Coded | str) -> bool:
        """Return whether a rule or its findings are wanted; entries that are names do not match a bare code."""
        code, name = (rule.upper(), None) if isinstance(rule, str) else (rule.code, rule.name)
        if code.startswith(_OWN_FAILURES):
            return code not in {entry.upper() for entry in self.ignore}
        for_it = max((_weight(entry, code, name) for entry in self.select), default=0 if not self.select else -1)
        against_it = max((_weight(entry, code, name) for entry in self.ignore), default=-1)
        return for_it > against_it

    def fails(self, findings: Iterable[Finding]) -> bool:
        """Return whether one of the findings counts as a failure."""
        return self.fail_on is not None and any(one.severity.rank >= self.fail_on.rank for one in findings)

    def within(self, rules: RuleSet[Any]) -> Self:
        """Return the same without the entries that name none of these rules."""

        def naming(entries: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(entry for entry in entries if any(_weight(entry, one.code, one.name) >= 0 for one in rules))

        return replace(self, select=naming(self.select), ignore=naming(self.ignore))

    def resolved(self, rules: RuleSet[Any]) -> Self:
        """Return the same with codes instead of names; an entry that fits none of the rules is refused.

        >>> Selection(select=("shuffel",)).resolved(RuleSet([]))
        Traceback (most recent call last):
        recordsmith.errors.RecordsmithError: There is no rule 'shuffel'.
          to do:    `recordsmith rule` lists them all.
        """
        return replace(
            self,
            select=tuple(_resolved(entry, rules) for entry in self.select),
            ignore=tuple(_resolved(entry, rules) for entry in self.ignore),
        )


def severity_from(word: str) -> Severity | None:
    """Read what `--fail-on` takes: a severity, or "never".

    >>> severity_from("error"), severity_from("never")
    (<Severity.ERROR: 'error'>, None)
    """
    if word == "never":
        return None
    try:
        return Severity(word)
    except ValueError:
        known = [*(one.value for one in Severity), "never"]
        raise RecordsmithError(
            f"There is no severity {word!r}.{did_you_mean(word, known)}", expected=f"one of {list_names(known)}"
        ) from None


def _weight(entry: str, code: str, name: str | None) -> int:
    """How exactly an entry names a rule: the number of characters that agree; -1 if it names another."""
    if entry.upper() == _EVERYTHING:
        return 0
    if name is not None and entry.lower() == name:
        return len(code)
    return len(entry) if code.startswith(entry.upper()) else -1


def _resolved(entry: str, rules: RuleSet[Any]) -> str:
    wanted = entry.strip().upper()
    if wanted == _EVERYTHING:
        return wanted
    if _PREFIX.fullmatch(wanted) and (
        any(rule.code.startswith(wanted) for rule in rules) or wanted.startswith(_OWN_FAILURES)
    ):
        return wanted
    known = [*(rule.code for rule in rules), *(rule.name for rule in rules)]
    named = next((rule.code for rule in rules if rule.name == entry.strip().lower()), None)
    if named is not None:
        return named
    raise RecordsmithError(
        f"There is no rule {entry!r}.{did_you_mean(entry, known)}", advice="`recordsmith rule` lists them all."
    )
