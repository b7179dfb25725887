"""Every promise in README's "What you can rely on" names the tests that prove it, and they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECTION = "## What you can rely on"


def promises() -> dict[str, list[str]]:
    """The promises of the README, each with the test files beside it."""
    text = (ROOT / "README.md").read_text().partition(SECTION)[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if re.match(r"\| \w", line)]
    return {row[0].strip(): re.findall(r"\]\((tests/[\w/]+\.py)\)", row[1]) for row in rows}


@pytest.mark.parametrize("promise", promises())
def test_a_promise_names_its_tests(promise: str) -> None:
    assert promises()[promise], "name the test that proves it: [test_x](tests/.../test_x.py)"
    for file in promises()[promise]:
        tree = ast.parse((ROOT / file).read_text())
        assert [
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ], f"{file} has no test"


def test_there_are_promises() -> None:
    assert len(promises()) > 8
