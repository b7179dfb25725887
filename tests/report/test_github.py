"""GitHub's annotations, read back as its runner reads them."""

from __future__ import annotations

import re

from recordsmith.report import Report
from recordsmith.rules import Finding, Location, Severity
from recordsmith.wording.visible_text import printable
from tests.made_reports import HOSTILE, hostile_report

LINE = re.compile(r"::(?P<command>[a-z]+) (?P<properties>[^\r\n]*?)::(?P<message>[^\r\n]*)")


def unescaped(text: str) -> str:
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, char)
    return text


def test_each_finding_is_one_line_whatever_it_holds():
    report = hostile_report()
    lines = report.to_github().split("\n")
    assert len(lines) == len(report.findings) == len(HOSTILE)
    for line, finding in zip(lines, report.findings, strict=True):
        match = LINE.fullmatch(line)
        assert match is not None
        settings = dict(part.split("=", 1) for part in match["properties"].split(","))
        assert set(settings) == {"file", "title"}
        said = "".join(char if char in "\r\n" else printable(char) for char in finding.message)
        assert unescaped(match["message"]).startswith(said)
        assert match["command"] == {"error": "error", "warning": "warning", "info": "notice"}[finding.severity.value]


def test_code_has_lines_and_columns():
    place = Location("src/train.py", line=3, column=5, end_line=3, end_column=9)
    report = Report("lint", (Finding("P002", "late-shuffle", Severity.WARNING, "Wrong.", place, "Move it."),))
    assert report.to_github() == (
        "::warning file=src/train.py,line=3,endLine=3,col=5,endColumn=8,title=P002 late-shuffle::Wrong.%0A%0AMove it."
    )


def test_columns_end_only_in_the_same_line():
    place = Location("src/train.py", line=3, column=5, end_line=4, end_column=9)
    report = Report("lint", (Finding("P002", "late-shuffle", Severity.WARNING, "Wrong.", place),))
    assert "line=3,endLine=4,col=5,title" in report.to_github()


def test_data_has_its_place_in_the_message(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = Location(str(tmp_path / "a,b.tfrecord"), record=7, feature="x")
    report = Report("check", (Finding("V001", "nan", Severity.ERROR, "100 % NaN.", place),))
    line = report.to_github()
    assert line.startswith("::error file=a%2Cb.tfrecord,title=V001 nan::100 %25 NaN.%0A%0A")
    assert line.endswith("record 7, feature 'x'")


def test_no_findings_are_no_lines():
    assert Report("check").to_github() == ""
