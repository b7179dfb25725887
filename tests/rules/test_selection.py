"""Which rules are wanted, what a project says about it, and what it knows already."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recordsmith.errors import RecordsmithError
from recordsmith.rules import (
    Baseline,
    Configuration,
    Finding,
    Location,
    RuleSet,
    Selection,
    Severity,
    load_configuration,
    rule,
)


def made_rule(code: str, name: str):
    def find(_: object) -> Iterator[Finding]:
        """Something is wrong.

        Why it matters:
            It is wrong.

        Example:
            This.

        Fix:
            Right it.
        """
        yield from ()

    return rule(code, name, Severity.WARNING)(find)


RULES = RuleSet([made_rule("V001", "not-a-number"), made_rule("V002", "constant"), made_rule("D001", "imbalance")])


@pytest.mark.parametrize(
    ("select", "ignore", "wanted"),
    [
        ((), (), ["D001", "V001", "V002"]),
        (("V",), (), ["V001", "V002"]),
        (("v00",), ("V002",), ["V001"]),
        ((), ("V",), ["D001"]),
        (("V001",), ("V",), ["V001"]),
        (("V",), ("V",), []),
        (("ALL",), ("constant",), ["D001", "V001"]),
        (("not-a-number", "D001"), (), ["D001", "V001"]),
        (("ALL",), ("ALL",), []),
        (("Constant",), ("D",), ["V002"]),
    ],
)
def test_the_longer_entry_decides(select, ignore, wanted):
    selection = Selection(select, ignore)
    assert [one.code for one in RULES if selection.wants(one)] == wanted
    resolved = selection.resolved(RULES)
    assert [one.code for one in RULES if resolved.wants(one.code)] == wanted


def test_a_rule_that_failed_is_told_unless_it_is_named():
    assert Selection(select=("V",), ignore=("ALL",)).wants("X001")
    assert not Selection(ignore=("x001",)).wants("X001")


@pytest.mark.parametrize("entry", ["V9", "nonsense", "", "001", "V0011", "Z"])
def test_an_entry_that_names_no_rule_is_refused(entry):
    for selection in (Selection(select=(entry,)), Selection(ignore=(entry,))):
        with pytest.raises(RecordsmithError, match="There is no rule"):
            selection.resolved(RULES)


@pytest.mark.parametrize("option", ["select", "ignore"])
def test_a_single_string_is_not_a_list_of_rules(option):
    with pytest.raises(RecordsmithError, match=rf"{option} must be a list(.|\n)*Write {option}=\['V', 'D004'\]"):
        Configuration().selection(RULES, **{option: "V,D004"})


def test_a_near_name_is_offered():
    with pytest.raises(RecordsmithError, match="Did you mean 'imbalance'"):
        Selection(select=("inbalance",)).resolved(RULES)


def found(feature: str) -> Finding:
    return Finding("V001", "not-a-number", Severity.ERROR, f"NaN in {feature}.", Location("a", feature=feature))


def test_the_nearest_configuration_counts(tmp_path: Path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.recordsmith]\nselect = ["V"]\nignore = ["V002"]\nfail-on = "error"\nbaseline = "known/base.json"\n'
    )
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n")
    read = load_configuration(inner)
    assert read == Configuration(
        ("V",),
        ("V002",),
        Severity.ERROR,
        str(tmp_path / "known/base.json"),
        str(tmp_path / "pyproject.toml"),
    )
    (tmp_path / "a" / "recordsmith.toml").write_text('fail-on = "never"\n')
    assert load_configuration(inner).fail_on is None
    assert load_configuration(inner).select == ()
    assert load_configuration(tmp_path / "pyproject.toml") == read


def test_a_configuration_file_may_be_given(tmp_path: Path):
    (tmp_path / "strict.toml").write_text('fail-on = "info"\n')
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    assert load_configuration(tmp_path / "strict.toml").fail_on is Severity.INFO
    assert load_configuration(tmp_path / "pyproject.toml") == Configuration(path=str(tmp_path / "pyproject.toml"))
    with pytest.raises(FileNotFoundError):
        load_configuration(tmp_path / "absent.toml")


def test_without_a_configuration_all_is_at_its_default(tmp_path: Path):
    assert load_configuration(tmp_path).selection(RULES) == Selection()


def test_the_command_line_goes_before_the_file():
    settings = Configuration(select=("V",), ignore=("D001",), fail_on=Severity.ERROR)
    chosen = settings.selection(RULES, select=["D"], ignore=["constant"], fail_on="info")
    assert chosen == Selection(("D",), ("D001", "V002"), Severity.INFO)
    assert settings.selection(RULES, fail_on="never").fail_on is None
    with pytest.raises(RecordsmithError, match="Did you mean 'warning'"):
        settings.selection(RULES, fail_on="warnings")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("selct = []", "There is no setting 'selct'. Did you mean 'select'?"),
        ('select = "V"', "'select' is not a list of rules."),
        ("ignore = [1]", "'ignore' is not a list of rules."),
        ("fail-on = 3", "'fail-on' is not a string."),
        ('fail-on = "eror"', "There is no severity 'eror'. Did you mean 'error'?"),
        ("select = [", "This is not TOML."),
    ],
)
def test_a_wrong_configuration_is_refused_with_its_file(text, problem, tmp_path: Path):
    (tmp_path / "recordsmith.toml").write_text(text)
    with pytest.raises(RecordsmithError) as caught:
        load_configuration(tmp_path)
    assert caught.value.problem == problem
    assert caught.value.path == str(tmp_path / "recordsmith.toml")


def test_a_baseline_knows_findings_again(tmp_path: Path):
    path = tmp_path / "base.json"
    Baseline.of([found("x"), found("y"), found("x")]).save(path)
    known = Baseline.load(path)
    moved = Finding("V001", "not-a-number", Severity.ERROR, "9 NaN.", Location("elsewhere/a", record=9, feature="x"))
    assert known.without_known([moved, found("y")]) == []
    assert known.without_known([found("x"), found("x"), found("x"), found("z")]) == [found("x"), found("z")]
    entry = json.loads(path.read_text())["findings"][0]
    assert (entry["code"], entry["where"], entry["times"]) == ("V001", "a, feature 'x'", 2)


def test_a_baseline_of_names_that_are_no_text_can_be_written(tmp_path: Path):
    odd = Finding("F001", "odd", Severity.ERROR, "Odd.", Location("data/\udcff.tfrecord"))
    Baseline.of([odd]).save(tmp_path / "base.json")
    assert Baseline.load(tmp_path / "base.json").without_known([odd]) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "The baseline is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", "The baseline is not a JSON object."),
        ('{"recordsmith-baseline": 1, "findings": [{}]}', "The baseline is incomplete."),
        ("{}", "This is not a baseline."),
        ('{"recordsmith-baseline": 2, "findings": []}', "This baseline has another version."),
    ],
)
def test_what_is_no_baseline_is_refused(text, problem, tmp_path: Path):
    (tmp_path / "base.json").write_text(text)
    with pytest.raises(RecordsmithError) as caught:
        Baseline.load(tmp_path / "base.json")
    assert caught.value.problem == problem
