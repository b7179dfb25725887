"""Programs rewritten from reports: the cause comes first, and the corrected program gets neither error nor warning."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import recordsmith as rs

REPORTS = Path(__file__).resolve().parents[2] / "zoo" / "reports"


class ReportedProgram(NamedTuple):
    """A broken program, its correction, and the rule that names the cause, or "none"."""

    name: str
    accept: str
    broken: str
    corrected: str


def reported_programs() -> list[ReportedProgram]:
    """Read all programs: lines with @B are only in the broken one, lines with @M only in the corrected one."""
    found = []
    for path in sorted(REPORTS.glob("*.txt")):
        for part in re.split(r"^### ", path.read_text(), flags=re.MULTILINE)[1:]:
            name, _, text = part.partition("\n")
            sides = []
            for mark, other in (("@B", "@M"), ("@M", "@B")):
                kept = [line for line in text.splitlines() if not line.startswith(other)]
                sides.append("\n".join(line.removeprefix(f"{mark} ").removeprefix(mark) for line in kept))
            accept = re.search(r"# accept: (\w+)", text)
            assert accept, name
            found.append(ReportedProgram(name, accept[1], *sides))
    return found


PROGRAMS = reported_programs()


@pytest.mark.parametrize("program", [one for one in PROGRAMS if one.accept != "none"], ids=lambda one: one.name)
def test_the_cause_comes_first(program: ReportedProgram) -> None:
    found = rs.lint(source=program.broken).findings
    assert found
    assert found[0].code == program.accept, str(found[0])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
def test_the_corrected_program_gets_neither_error_nor_warning(program: ReportedProgram) -> None:
    ast.parse(program.broken)
    report = rs.lint(source=program.corrected)
    assert report.ok, str(report)


def test_few_causes_are_missed() -> None:
    missed = [one.name for one in PROGRAMS if one.accept == "none"]
    assert len(missed) <= len(PROGRAMS) / 10, missed
