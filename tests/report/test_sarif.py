"""SARIF, checked against the main parts of its schema."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

import pytest

from recordsmith.report import Report
from recordsmith.rules import Finding, Location, Severity
from tests.made_reports import diagnose_report, hostile_report, lint_report, pets_report

LEVELS = {"none", "note", "warning", "error"}
URI_REFERENCE = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*")
KNOWN = {  # the properties that the schema allows; it forbids all others
    "log": {"$schema", "version", "runs"},
    "run": {"tool", "columnKind", "results"},
    "driver": {"name", "semanticVersion", "rules"},
    "rule": {"id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration"},
    "result": {
        "ruleId",
        "ruleIndex",
        "level",
        "message",
        "locations",
        "relatedLocations",
        "occurrenceCount",
        "partialFingerprints",
        "properties",
    },
    "location": {"physicalLocation", "logicalLocations", "message", "properties"},
    "physicalLocation": {"artifactLocation", "region"},
    "region": {"startLine", "startColumn", "endLine", "endColumn", "snippet"},
}


def check_location(location: dict[str, Any]) -> None:
    assert set(location) <= KNOWN["location"]
    physical = location.get("physicalLocation")
    if physical is not None:
        assert set(physical) <= KNOWN["physicalLocation"]
        assert URI_REFERENCE.fullmatch(physical["artifactLocation"]["uri"])
        region = physical.get("region", {"startLine": 1})
        assert set(region) <= KNOWN["region"]
        assert all(value >= 1 for name, value in region.items() if name != "snippet")
    for logical in location.get("logicalLocations", []):
        assert isinstance(logical["fullyQualifiedName"], str)
    if "message" in location:
        assert isinstance(location["message"]["text"], str)


@pytest.mark.parametrize("made", [pets_report, lint_report, diagnose_report, hostile_report])
def test_a_log_is_as_the_schema_says(made):
    report = made()
    log = json.loads(json.dumps(report.to_sarif(), allow_nan=False).encode())
    assert set(log) == KNOWN["log"]
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert set(run) == KNOWN["run"]
    driver = run["tool"]["driver"]
    assert set(driver) == KNOWN["driver"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", driver["semanticVersion"])
    identifiers = [rule["id"] for rule in driver["rules"]]
    assert len(set(identifiers)) == len(identifiers)
    for rule in driver["rules"]:
        assert set(rule) <= KNOWN["rule"]
        assert rule["defaultConfiguration"]["level"] in LEVELS
        assert all(rule[name]["text"] for name in ("shortDescription", "fullDescription", "help") if name in rule)
    assert len(run["results"]) == len(report.findings)
    for result in run["results"]:
        assert set(result) <= KNOWN["result"]
        assert identifiers[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in LEVELS
        assert isinstance(result["message"]["text"], str)
        assert result["occurrenceCount"] >= 1
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
        for location in [*result["locations"], *result.get("relatedLocations", [])]:
            check_location(location)


def test_code_has_a_region_and_data_a_file():
    code = Location("src/train.py", line=3, column=5, end_line=4, end_column=9)
    data = Location("data/a b.tfrecord", record=7, feature="x")
    findings = (
        Finding("P002", "late-shuffle", Severity.WARNING, "Wrong.", code, quoted="ds.repeat()"),
        Finding("V001", "nan", Severity.ERROR, "NaN.", data),
        Finding("X001", "rule-failed", Severity.INFO, "No place."),
    )
    by_code = {one["ruleId"]: one for one in Report("lint", findings).to_sarif()["runs"][0]["results"]}
    assert by_code["P002"]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "src/train.py"},
        "region": {
            "startLine": 3,
            "startColumn": 5,
            "endLine": 4,
            "endColumn": 9,
            "snippet": {"text": "ds.repeat()"},
        },
    }
    located = by_code["V001"]["locations"][0]
    assert located["physicalLocation"] == {"artifactLocation": {"uri": "data/a%20b.tfrecord"}}
    assert located["properties"] == {"record": 7, "feature": "x"}
    assert by_code["X001"]["locations"] == []
    assert [by_code[code]["level"] for code in ("P002", "V001", "X001")] == ["warning", "error", "note"]


def test_a_path_is_relative_below_the_folder_of_the_run_and_a_uri_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def uri(path: str) -> str:
        report = Report("check", (Finding("V001", "nan", Severity.ERROR, "NaN.", Location(path)),))
        found = report.to_sarif()["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        return str(found["artifactLocation"]["uri"])

    assert uri(str(tmp_path / "data" / "é#.tfrecord")) == "data/%C3%A9%23.tfrecord"
    assert uri("/elsewhere/x.tfrecord") == "file:///elsewhere/x.tfrecord"
    assert unquote(uri("a:b.tfrecord")) == "a:b.tfrecord"


def test_a_cell_of_a_notebook_has_no_region_of_the_file():
    place = Location("train.ipynb", line=3, column=1, cell=2)
    report = Report("lint", (Finding("P002", "late-shuffle", Severity.WARNING, "Wrong.", place),))
    location = report.to_sarif()["runs"][0]["results"][0]["locations"][0]
    assert "region" not in location["physicalLocation"]
    assert location["message"]["text"] == "train.ipynb:cell 2:3:1"
