"""Programs from real bug reports, where they are at hand: causes come first, corrected programs get no alarm."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.rules import Severity

CASES = Path("/work/shared/cases")
_LEAST_NAMED = 0.7  # of the broken programs, by their code alone

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the programs from bug reports are not on this machine")


def programs(folder: str) -> list[Path]:
    return sorted((CASES / folder).glob("*.py"))


@pytest.mark.parametrize("path", [*programs("mended"), *programs("false_alarms")], ids=lambda path: path.stem)
def test_a_corrected_program_gets_neither_error_nor_warning(path: Path) -> None:
    assert [str(one) for one in rs.lint(path).findings if one.severity is not Severity.INFO] == []


def test_most_causes_are_named_first() -> None:
    missed = []
    for path in programs("broken"):
        accepted = re.search(r"^# accept: (.*)$", path.read_text(), re.MULTILINE)
        assert accepted
        found = rs.lint(path).findings
        if not found or not re.search(accepted[1], f"{found[0].code} {found[0].message}", re.IGNORECASE):
            missed.append(path.stem)
    assert len(missed) <= (1 - _LEAST_NAMED) * len(programs("broken")), missed
