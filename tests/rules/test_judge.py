"""One judge for all families: a rule that fails loses no other finding, and settings work for all three alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.rules import Baseline, Configuration, Finding, Judge, RuleSet, Severity, rule


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


FAMILY = RuleSet([each_number])


def test_few_findings_are_all_kept():
    assert [one.message for one in Judge(FAMILY).find(3)] == ["Number 0.", "Number 1.", "Number 2."]


def test_many_findings_are_counted():
    found = Judge(FAMILY).find(70)
    assert len(found) == 51
    assert found[-1].message == "20 more findings of this rule are not listed."
    assert found[-1].count == 20


def test_what_was_found_before_a_rule_failed_stays():
    found = Judge(FAMILY).find(200)
    assert [one.code for one in found[:50]] == ["A001"] * 50
    (failed,) = [one for one in found if one.code == "X001"]
    assert failed.message == "Rule A001 (each-number) failed: ValueError: too far."


def test_that_a_rule_failed_is_ignored_only_by_its_code():
    assert "X001" in {one.code for one in Judge(FAMILY, select=["A"]).find(200)}
    assert "X001" not in {one.code for one in Judge(FAMILY, ignore=["rule-failed"]).find(200)}


# --- the same settings for each family ---

Family = tuple[Callable[..., rs.Report], str, str]


@pytest.fixture(params=["check", "lint", "diagnose"])
def family(request: pytest.FixtureRequest, tmp_path: Path) -> Family:
    """How a report is made whose one finding is a warning or an error, the rule of that, and another one's."""

    def check(**settings: Any) -> rs.Report:
        with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
            for row in range(10):
                writer.write_example({"x": [float("nan")], "row": row})
        return rs.check(tmp_path / "data.tfrecord", **settings)

    def lint(**settings: Any) -> rs.Report:
        text = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').batch(32).shuffle(1000)\n"
        return rs.lint(source=text, **settings)

    def diagnose(**settings: Any) -> rs.Report:
        x, y = np.random.default_rng(0).normal(size=(256, 4)), np.repeat([0, 1], 128)
        return rs.diagnose([(x[i : i + 16], y[i : i + 16]) for i in range(0, 256, 16)], **settings)

    families: dict[str, Family] = {
        "check": (check, "V001", "D001"),
        "lint": (lint, "P001", "P002"),
        "diagnose": (diagnose, "T040", "T020"),
    }
    return families[request.param]


def codes(report: rs.Report) -> list[str]:
    return [one.code for one in report.findings]


def test_a_rule_is_selected_and_ignored_by_the_call_and_by_the_configuration(family: Family):
    run, code, other = family
    assert codes(run()) == [code]
    for report in (
        run(ignore=[code[:3]]),
        run(select=[other]),
        run(configuration=Configuration(ignore=(code[:3],))),
        run(configuration=Configuration(select=(other,))),
    ):
        assert codes(report) == []
        assert report.known == 0
    assert codes(run(select=[code], configuration=Configuration(select=(other,)))) == [code]
    with pytest.raises(rs.RecordsmithError, match="There is no rule 'Z001'"):
        run(select=["Z001"])


def test_what_the_configuration_says_about_other_families_does_not_count(family: Family):
    run, code, _ = family
    configured = Configuration(select=("Z", "Y001"), ignore=("Z002",))
    assert codes(run(configuration=configured)) == [code]


def test_the_severity_that_fails_is_chosen(family: Family):
    run, _, _ = family
    assert not run().ok
    assert run(fail_on="never").ok
    assert run(configuration=Configuration(fail_on=None)).ok
    assert not run(configuration=Configuration(fail_on=None), fail_on="warning").ok


def test_known_findings_are_not_reported_again(family: Family, tmp_path: Path):
    run, code, _ = family
    path = tmp_path / "known.json"
    Baseline.of(run().findings).save(path)
    for report in (
        run(baseline=path),
        run(baseline=Baseline.load(path)),
        run(configuration=Configuration(baseline=str(path))),
    ):
        assert codes(report) == []
        assert report.known == 1
        assert report.ok
    assert codes(run(baseline=Baseline(), configuration=Configuration(baseline=str(path)))) == [code]
    with pytest.raises(rs.RecordsmithError, match="There is no such baseline"):
        run(baseline=tmp_path / "missing.json")


def test_a_written_baseline_keeps_what_rules_of_other_families_found(family: Family, tmp_path: Path):
    run, code, _ = family
    report = run()
    other = Finding("A001", "each-number", Severity.INFO, "Number 0.")
    old = Finding(code, "old", Severity.INFO, "Repaired since.")
    Baseline.of([other, old]).updated(report.findings, report.rules).save(tmp_path / "known.json")
    entries = json.loads((tmp_path / "known.json").read_text())["findings"]
    assert [(entry["code"], entry["name"]) for entry in entries] == [
        ("A001", "each-number"),
        (code, report.findings[0].name),
    ]
