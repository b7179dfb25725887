"""Every rule has a dataset that triggers it and a like one that does not; sound datasets give no finding at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.checking.rules import RULES, look_into_records
from recordsmith.rules import Finding, Judge, Severity
from tests.checking.rule_cases import CLEAN, TRIGGERS, Case, Checked

CODES = [one.code for one in RULES if one.code != "X001"]  # which has no data: test_check.py shows it


def findings(case: Case, folder: Path) -> list[Finding]:
    made = case(folder)
    checked = made if isinstance(made, Checked) else Checked(made)
    report = rs.check(checked.path, **checked.options)
    if checked.facts is not None:
        assert report.facts is not None
        return Judge(RULES).find(checked.facts(report.facts))
    return list(report.findings)


def listed(found: list[Finding]) -> str:
    return "\n".join(f"{one.code} {one.severity} {one.message} [{one.location}]" for one in found)


def test_every_rule_has_its_two_datasets():
    assert sorted(TRIGGERS) == CODES
    assert sorted(CLEAN) == CODES


@pytest.mark.parametrize("code", CODES)
def test_a_rule_finds_what_it_is_for(code: str, tmp_path: Path):
    found = findings(TRIGGERS[code], tmp_path)
    mine = [one for one in found if one.code == code]
    assert mine, f"no {code}, but:\n{listed(found)}"
    for one in mine:
        assert one.message.endswith((".", "?"))
        assert one.advice
        assert one.count >= 1
        assert one.severity.rank <= RULES.get(code).severity.rank or code in ("V011", "V014"), "the text says more"
    assert not [one for one in found if one.code == "X001"], listed(found)


SHALLOW = [code for code in CODES if not look_into_records([RULES.get(code)])]


@pytest.mark.parametrize("code", SHALLOW)
def test_a_rule_about_frames_finds_the_same_without_a_look_into_the_records(code: str, tmp_path: Path):
    made = TRIGGERS[code](tmp_path)
    checked = made if isinstance(made, Checked) else Checked(made)
    whole = rs.check(checked.path, **checked.options)
    quick = rs.check(checked.path, **{**checked.options, "select": [code]})
    assert quick.facts is not None
    assert quick.facts.frames_only
    assert not quick.facts.features
    assert listed(list(quick.findings)) == listed([one for one in whole.findings if one.code == code])


@pytest.mark.parametrize("asked", [{"decode": "all"}, {"similar_images": True}], ids=str)
def test_what_is_asked_for_by_name_is_looked_at_whatever_the_rules(asked: dict[str, Any], tmp_path: Path):
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example({"label": 1})
    facts = rs.check(tmp_path / "a.tfrecord", select=["F"], **asked).facts
    assert facts is not None
    assert [feature.name for feature in facts.features] == ["label"]


def test_frames_are_enough_for_all_rules_about_them():
    assert {code for code in CODES if code.startswith("F")} < set(SHALLOW)
    assert not [code for code in SHALLOW if code[0] in "WSV"]


@pytest.mark.parametrize("case", list(dict.fromkeys(CLEAN.values())), ids=lambda case: case.__name__)
def test_sound_data_gives_no_finding(case: Case, tmp_path: Path):
    found = findings(case, tmp_path)
    assert not found, listed(found)


@pytest.mark.parametrize("rule", list(RULES), ids=lambda rule: rule.code)
def test_a_rule_explains_itself(rule):
    text = rule.text
    assert text.summary.endswith(".")
    assert "\n" not in text.summary
    for part in (text.why, text.example, text.fix):
        assert len(part) > 20
    assert rule.severity in Severity
