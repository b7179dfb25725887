"""Running rules over a subject: one that fails is reported, and the others still run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from recordsmith.rules.finding import Finding, Severity
from recordsmith.rules.rule import Rule, rule

__all__ = ["rule_failed", "run_rules"]

Subject = TypeVar("Subject")

_MOST_OF_ONE_RULE = 50


@rule("X001", "rule-failed", Severity.ERROR)
def rule_failed(_subject: Any) -> Iterator[Finding]:
    """A rule could not be applied: it failed itself.

    What the rule would have found is not known; all other rules were applied.

    Why it matters:
        No finding of that rule does not mean that there is nothing to be found.

    Example:
        A rule that divides by the number of records meets a dataset without any.

    Fix:
        Please report it, with the message and the command that led to it. Until then `--ignore` leaves the rule out.
    """
    yield from ()


def run_rules(
    rules: Iterable[Rule[Subject]], subject: Subject, *, wanted: Callable[[Rule[Subject]], bool] | None = None
) -> list[Finding]:
    """Return what the rules find, in their order; a rule that raises becomes a finding of its own, X001.

    Of one rule at most 50 findings are kept, and one that says how many more there are.

    Args:
        rules: the rules.
        subject: what they look at.
        wanted: tells which of them are applied; None applies them all.

    >>> @rule("A001", "too-short", Severity.INFO)
    ... def too_short(words: list[str]) -> Iterator[Finding]:
    ...     '''A word is too short.
    ...
    ...     Why it matters:
    ...         It says nothing.
    ...
    ...     Example:
    ...         `a`
    ...
    ...     Fix:
    ...         Say more.
    ...     '''
    ...     yield from (too_short.finding(f"{word!r} is short.") for word in words if len(word) < 2)
    >>> [found.message for found in run_rules([too_short], ["a", "word"])]
    ["'a' is short."]
    >>> [found.message for found in run_rules([too_short], [1])]
    ["Rule A001 (too-short) failed: TypeError: object of type 'int' has no len()."]
    """
    found: list[Finding] = []
    for one in rules:
        if wanted is None or wanted(one):
            found += _run(one, subject)
    return found


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
    reason = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
    return rule_failed.finding(
        f"Rule {failed.code} ({failed.name}) failed: {reason}.",
        evidence={"rule": failed.code, "error": reason},
    )
