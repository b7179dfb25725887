"""Programs and notebooks that nobody can follow are refused in words."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.doctor.lint.lint import lint

LONG_SUM = "x = " + "+".join(["1"] * 20_000) + "\n"
ELIF = "elif a: x = 1\n"
PIPELINE = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').repeat().shuffle(10)\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.py", LONG_SUM, "nested too deeply"),
        ("a.py", f"f{'()' * 3000}\n", "nested too deeply"),
        ("a.py", f"f{'.a' * 3000}\n", "nested too deeply"),
        ("a.py", f"x = {'(' * 5000}{')' * 5000}\n", "not valid Python 3"),
        ("a.py", "x = 1\0\n", "not valid Python 3"),
        ("a.py", "# coding: rot13\nx = 1\n", "not Python source"),
        ("a.py", "# coding: nothing\nx = 1\n", "not Python source"),
        ("a.py", b"\xff\xfe\x00", "not Python source"),
        ("a.ipynb", "[" * 100_000, "not a notebook"),
        ("a.ipynb", '{"cells": 5}', "not a notebook"),
        ("a.ipynb", '{"worksheets": [[]]}', "not a notebook"),
        ("a.ipynb", b"\xff", "not a notebook"),
    ],
)
def test_what_cannot_be_followed_is_said(name: str, content: str | bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(rs.RecordsmithError, match=said):
        lint(tmp_path / name)


def test_a_cell_that_cannot_be_followed_does_not_hide_the_others(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": source} for source in (LONG_SUM, [1, {}], PIPELINE)]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [7, *cells]}))
    assert "P002" in {one.code for one in lint(tmp_path / "a.ipynb").findings}


def test_a_program_that_is_not_followed_to_its_end_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{PIPELINE}if a:\n  x = 1\n{ELIF * 700}")
    report = lint(tmp_path)
    assert "P002" in {one.code for one in report.findings}
    assert "X001" not in {one.code for one in report.findings}
    assert "nested too deeply to be followed to its end" in json.dumps(report.to_json())


def test_a_huge_program_and_a_pipe_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(PIPELINE)
    os.mkfifo(tmp_path / "pipe.py")
    with open(tmp_path / "huge.py", "wb") as file:
        file.truncate(1 << 30)
    report = lint(tmp_path)
    assert "P002" in {one.code for one in report.findings}
    assert "too large to be followed" in json.dumps(report.to_json())


def test_a_file_is_a_file_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a\n(b).py"
    path.write_text(PIPELINE)
    assert "P002" in {one.code for one in lint(path).findings}
