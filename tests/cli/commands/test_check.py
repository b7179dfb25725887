"""`recordsmith check`: formats, exit codes, selection, baselines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.checking.made_datasets import rows, sound, write


@pytest.fixture
def sound_file(tmp_path: Path) -> Path:
    return sound(tmp_path)


@pytest.fixture
def bad_file(tmp_path: Path) -> Path:
    """One NaN, and a feature that is always the same."""
    some = [dict(row, score=0.5) for row in rows(60)]
    some[3]["x"][1] = float("nan")
    return write(tmp_path / "bad.tfrecord", some)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration is looked for from the working folder upwards: not in this project's."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)


def test_sound_data_ends_with_0(run, sound_file):
    result = run("check", sound_file)
    assert result.exit_code == 0
    assert "no findings" in result.output


def test_findings_end_with_1_and_say_where(run, bad_file):
    result = run("check", bad_file)
    assert result.exit_code == 1
    for word in ("V001", "not-finite", "V002", "bad.tfrecord", "record 3", "'x'", "1 error", "1 info"):
        assert word in result.output, word


def test_as_json(run, bad_file):
    result = run("check", bad_file, "--format", "json")
    assert result.exit_code == 1
    document = json.loads(result.output)
    assert [finding["code"] for finding in document["findings"]] == ["V001", "V002"]
    assert document["findings"][0]["location"]["record"] == 3
    assert document["ok"] is False
    assert document["facts"]["records"] == 60


def test_for_code_scanning_and_for_github(run, bad_file):
    log = json.loads(run("check", bad_file, "--format", "sarif").output)
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["V001", "V002"]
    lines = run("check", bad_file, "--format", "github").output.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::notice"]
    assert run("check", bad_file, "--select", "F", "--format", "github").output == ""


def test_html_is_written_beside(run, bad_file):
    result = run("check", bad_file, "--html", "report.html")
    assert result.exit_code == 1
    page = Path("report.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert "not-finite" in page


def test_rules_are_chosen(run, bad_file):
    assert run("check", bad_file, "--select", "F,W,S").exit_code == 0
    assert run("check", bad_file, "--ignore", "V001", "--ignore", "constant-feature").exit_code == 0
    assert run("check", bad_file, "--ignore", "V001", "--fail-on", "error").exit_code == 0
    assert run("check", bad_file, "--fail-on", "never").exit_code == 0
    result = run("check", bad_file, "--select", "constant-featur")
    assert result.exit_code == 2
    assert "Did you mean 'constant-feature'" in result.output


def test_the_configuration_of_the_project_counts(run, bad_file):
    Path("recordsmith.toml").write_text('ignore = ["V001"]\nfail-on = "error"\n')
    assert run("check", bad_file).exit_code == 0
    assert run("check", bad_file, "--fail-on", "info").exit_code == 1


def test_the_configuration_may_name_rules_of_other_families(run, bad_file):
    Path("recordsmith.toml").write_text('ignore = ["P005", "T", "not-finite", "V002"]\n')
    assert run("check", bad_file).exit_code == 0
    Path("recordsmith.toml").write_text('ignore = ["not-finit"]\n')
    result = run("check", bad_file)
    assert result.exit_code == 2
    assert "Did you mean 'not-finite'" in result.output


def test_a_baseline_keeps_known_findings_quiet(run, bad_file, tmp_path):
    known = tmp_path / "known.json"
    written = run("check", bad_file, "--baseline", known, "--write-baseline")
    assert written.exit_code == 0
    assert len(json.loads(known.read_text())["findings"]) == 2
    again = run("check", bad_file, "--baseline", known)
    assert again.exit_code == 0
    assert "2 known" in again.output
    assert run("check", bad_file, "--write-baseline").exit_code == 2


def test_a_schema_is_given(run, sound_file, tmp_path):
    import recordsmith as rs

    rs.Schema({"x": rs.Tensor("float32", (3,)), "lable": rs.Scalar("int64")}).save(tmp_path / "schema.json")
    document = json.loads(run("check", sound_file, "--schema", tmp_path / "schema.json", "--format", "json").output)
    assert {"S001", "S002", "S004"} <= {finding["code"] for finding in document["findings"]}


def test_what_cannot_be_checked_ends_with_2(run, tmp_path):
    assert run("check").exit_code == 2
    assert run("check", tmp_path / "gone").exit_code == 2
    assert run("check", tmp_path / "work").exit_code == 2


def test_a_report_that_cannot_be_written_is_told_before_the_work(run, sound_file, tmp_path):
    result = run("check", sound_file, "--html", tmp_path / "gone" / "report.html")
    assert result.exit_code == 2
    assert "The folder of the report does not exist" in result.stderr
    assert "records" not in result.stdout
