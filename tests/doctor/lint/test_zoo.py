"""Every broken program's cause is named first; a healthy program gets neither an error nor a warning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.doctor.lint.rules import RULES
from recordsmith.rules import Severity

ZOO = Path(__file__).resolve().parents[2] / "zoo"
BROKEN = sorted((ZOO / "broken").iterdir())
HEALTHY = sorted((ZOO / "healthy").iterdir())
QUESTIONS = sorted((ZOO / "torch_questions").glob("*.py"))


def declared(path: Path, name: str) -> str | None:
    match = re.search(rf"# {name}: (\w+)", path.read_text())
    return match[1] if match else None


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records sorted by label, with lists of different length."""
    folder = tmp_path_factory.mktemp("sorted")
    schema = rs.Schema(
        {"x": rs.Tensor("float32", (4,)), "tokens": rs.Tensor("int64", (None,)), "label": rs.Scalar("int64")}
    )
    with rs.write(folder, schema, name="rows", split="train") as writer:
        for number in range(1500):
            tokens = list(range(3 + number % 7))
            writer.add({"x": [number % 5, 1, 2, 3], "tokens": tokens, "label": number // 500})
    return folder


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_the_cause_comes_first(path: Path, data: Path) -> None:
    given = data if declared(path, "data") else None
    found = rs.lint(path, given).findings
    assert found
    assert found[0].code == declared(path, "cause")
    assert found[0].location.line is not None
    assert found[0].quoted is not None
    assert not [one for one in found[1:] if one.code != found[0].code and one.severity is not Severity.INFO]


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_a_healthy_program_gets_neither_error_nor_warning(path: Path) -> None:
    report = rs.lint(path)
    assert report.ok, str(report)


@pytest.mark.parametrize("path", QUESTIONS, ids=lambda path: path.stem)
def test_a_question_about_pytorch_is_answered_first(path: Path) -> None:
    accepted = path.read_text().splitlines()[0].removeprefix("# accept: ")
    found = rs.lint(path).findings
    assert found
    assert re.fullmatch(accepted, found[0].code), str(found[0])


def test_every_rule_has_its_program() -> None:
    causes = {declared(path, "cause") for path in BROKEN}
    for path in (ZOO / "reports").glob("*.txt"):
        causes |= set(re.findall(r"^# accept: (\w+)", path.read_text(), re.MULTILINE))
    assert {one.code for one in RULES} <= causes


def test_there_are_twenty_healthy_styles() -> None:
    assert len(HEALTHY) >= 20


def test_every_situation_of_training_has_its_program() -> None:
    situations = {declared(path, "situation") for path in BROKEN}
    assert {"A3", "C1", "C2", "C3", "C4", "C5", "C6", "C7"} <= situations
