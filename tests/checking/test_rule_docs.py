"""docs/rules/ is what the rules say, and `recordsmith rule` prints it."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from docs import refresh_rules
from recordsmith.cli import main
from recordsmith.terminal.reports.rule_text import FAMILIES, every_rule


def test_the_pages_are_up_to_date():
    wanted = refresh_rules.pages()
    there = {page.name: page.read_text() for page in refresh_rules.FOLDER.glob("*.md")}
    assert there == wanted, "run: python docs/refresh_rules.py"


@pytest.mark.parametrize("rule", list(every_rule()), ids=lambda rule: rule.code)
def test_every_rule_has_a_page_and_a_text(rule):
    assert rule.code[0] in FAMILIES
    result = CliRunner().invoke(main, ["rule", rule.code.lower()])
    assert result.exit_code == 0
    assert result.output.startswith(f"{rule.code} {rule.name} ({rule.severity.value})")
    words = " ".join(result.output.split())
    for part in (rule.text.summary, rule.text.why, rule.text.example, rule.text.fix):
        assert " ".join(part.split()) in words


@pytest.mark.parametrize("rule", list(every_rule()), ids=lambda rule: rule.code)
def test_commands_that_a_text_names_are_real(rule):
    text = f"{rule.text.details} {rule.text.why} {rule.text.example} {rule.text.fix}"
    for quoted in re.findall(r"`recordsmith ([^`]*)`", " ".join(text.split())):
        name, *words = quoted.split()
        command = main.commands[name]
        options = {option for param in command.params for option in param.opts}
        assert {word for word in words if word.startswith("--")} <= options, quoted


def test_the_table_lists_them_all():
    result = CliRunner().invoke(main, ["rule"])
    assert result.exit_code == 0
    for rule in every_rule():
        assert f"{rule.code}  {rule.name}" in result.output


def test_rules_as_json():
    listed = json.loads(CliRunner().invoke(main, ["rule", "--format", "json"]).output)
    assert [one["code"] for one in listed] == [rule.code for rule in every_rule()]
    one = json.loads(CliRunner().invoke(main, ["rule", "not-finite", "--format", "json"]).output)
    assert (one["code"], one["severity"], one["family"]) == ("V001", "error", "values")


def test_an_unknown_rule_is_wrong_use():
    result = CliRunner().invoke(main, ["rule", "V00"])
    assert result.exit_code == 2
    assert "There is no rule" in result.output
