"""What a report says about itself, and its JSON."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from recordsmith.report import Report
from recordsmith.rules import Finding, Location, Severity
from tests.made_reports import diagnose_report, hostile_report, lint_report, pets_report

INFO = Finding("D007", "uneven", Severity.INFO, "Uneven.")
WARNING = Finding("D001", "imbalance", Severity.WARNING, "Uneven classes.")
ERROR = Finding("V001", "nan", Severity.ERROR, "NaN.")


@pytest.mark.parametrize(
    ("findings", "fail_on", "ok"),
    [
        ((), Severity.INFO, True),
        ((INFO,), Severity.WARNING, True),
        ((INFO,), Severity.INFO, False),
        ((WARNING,), Severity.WARNING, False),
        ((WARNING,), Severity.ERROR, True),
        ((ERROR,), Severity.ERROR, False),
        ((ERROR,), None, True),
    ],
)
def test_a_report_is_ok_without_findings_that_count(findings, fail_on, ok):
    assert Report("check", findings, fail_on=fail_on).ok is ok


def test_errors_come_first_then_rules_then_places():
    later = Finding("V001", "nan", Severity.ERROR, "NaN.", Location("b", record=9))
    sooner = Finding("V001", "nan", Severity.ERROR, "NaN.", Location("b", record=2))
    report = Report("check", (INFO, later, WARNING, sooner, ERROR))
    assert report.findings == (ERROR, sooner, later, WARNING, INFO)
    assert report.counts == {"error": 3, "warning": 1, "info": 1}


@pytest.mark.parametrize("made", [pets_report, lint_report, diagnose_report, hostile_report])
def test_json_is_plain_and_whole(made):
    report = made()
    text = json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False)
    document = json.loads(text.encode())
    assert document["version"] == 1
    assert document["ok"] is False
    assert [one["code"] for one in document["findings"]] == [one.code for one in report.findings]
    for one in document["findings"]:
        assert list(one)[:6] == ["code", "name", "severity", "message", "location", "advice"]
    assert (document["facts"] is None) is (report.facts is None)
    assert len(document["sections"]) == len(report.sections)


def test_the_facts_in_json_have_the_names_of_the_attributes():
    facts = pets_report().to_json()["facts"]
    assert facts["records"] == 12_000
    assert facts["features"][2]["numbers"]["nan"] == 2
    assert facts["features"][2]["numbers"]["quantiles"] == {"0.0": 0.4, "0.5": 9.8, "1.0": 71.5}
    assert facts["features"][4]["frequent"][0] == {"value": "short hair", "count": 4_000}
    assert facts["labels"][0]["counts"]["test"] == {"cat": 500, "dog": 500}
    assert facts["duplicates"]["across"] == {"train, test": 1}
    assert facts["schema"]["features"]
    assert facts["splits"]["train"]["records"] == 10_000


def test_the_text_says_it_all():
    text = str(pets_report())
    assert text.startswith("data: 2 errors, 2 warnings, 1 info\n")
    assert "error V001 not-a-number: 2 of 9,990 values of 'weight' are NaN." in text
    assert "  to do: Strip the texts before writing them." in text
    assert repr(pets_report()) == "<Report: check of data, 2 errors, 2 warnings, 1 info>"
    assert str(Report("check", subject="data", known=1)) == "data: no findings (1 known one is left out)"


def test_an_html_file_replaces_another_only_when_it_is_whole(tmp_path: Path):
    path = tmp_path / "report.html"
    path.write_text("old")
    pets_report().to_html(path)
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_report_can_be_sent_to_another_process():
    report = pets_report()
    again = pickle.loads(pickle.dumps(report))
    assert isinstance(again, Report)
    assert again.to_json() == report.to_json()
