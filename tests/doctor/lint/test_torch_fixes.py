"""Fixes of PyTorch programs that are certain: after them the finding is gone, and nothing else changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.doctor.lint.lint import lint_and_fix

BROKEN = Path(__file__).resolve().parents[2] / "zoo" / "broken"


@pytest.mark.parametrize(
    ("name", "added"),
    [
        ("torch_gradients_never_cleared", "        optimizer.zero_grad()\n        loss.backward()\n"),
        ("torch_layers_not_registered", "nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])"),
        ("torch_dropout_always_active", "F.dropout(x, p=0.5, training=self.training)"),
    ],
)
def test_the_fix_removes_the_finding(name: str, added: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    shutil.copy(BROKEN / f"{name}.py", path)
    report, fixed = lint_and_fix(path)
    assert [one.path for one in fixed] == [str(path)]
    assert report.ok, str(report)
    assert added in path.read_text()
    assert rs.lint(path).ok
