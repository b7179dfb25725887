"""Running rules: a rule that fails loses neither the others nor what it had found, and none floods the report."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.rules import Finding, Severity, rule
from recordsmith.rules.running import run_rules


@rule("A001", "each-number", Severity.INFO)
def each_number(count: int) -> Iterator[Finding]:
    """Each number up to 120, and then no more.

    Why it matters:
        Somebody has to count.

    Example:
        `1`

    Fix:
        Count less.
    """
    for number in range(count):
        yield each_number.finding(f"Number {number}.")
        if number == 120:
            raise ValueError("too far\nto count")


def test_few_findings_are_all_kept():
    assert [one.message for one in run_rules([each_number], 3)] == ["Number 0.", "Number 1.", "Number 2."]


def test_many_findings_are_counted():
    found = run_rules([each_number], 70)
    assert len(found) == 51
    assert found[-1].message == "20 more findings of this rule are not listed."
    assert found[-1].count == 20


def test_what_was_found_before_a_rule_failed_stays():
    found = run_rules([each_number], 200)
    assert [one.code for one in found[:50]] == ["A001"] * 50
    (failed,) = [one for one in found if one.code == "X001"]
    assert failed.message == "Rule A001 (each-number) failed: ValueError: too far."


def test_only_wanted_rules_run():
    assert run_rules([each_number], 3, wanted=lambda one: one.code != "A001") == []
