"""`make demo` does what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recordsmith as rs
from docs import draw_demo
from recordsmith.demonstration.training import frameworks, train
from recordsmith.demonstration.walk import GOOD_ACCURACY


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> tuple[Path, str]:
    """The folder that the demo leaves, and what it printed; with numpy alone, which every machine has."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    command = [sys.executable, "-W", "error", "-m", "recordsmith", "demo", str(folder), "--framework", "numpy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_every_planted_fault_is_found(demo):
    folder, said = demo
    assert "square/007.png" in json.loads((folder / "data" / "rejected.jsonl").read_text())["source"]
    for name in ("class-imbalance", "category-variants", "duplicate-records"):
        assert name in said


def test_the_damaged_file_is_repaired(demo):
    folder, said = demo
    assert "recordsmith repair damaged.tfrecord -o repaired.tfrecord" in said
    whole = len(rs.open(min(folder.glob("data/*-test.tfrecord*"))))
    assert whole - 3 <= len(rs.open(folder / "repaired.tfrecord")) < whole


def test_the_model_learns(demo):
    _, said = demo
    (share,) = re.findall(r"([\d.]+)% of the test images", said)
    assert float(share) >= 100 * GOOD_ACCURACY
    assert "did not get there" not in said


def test_the_program_that_does_not_learn_is_explained(demo):
    folder, said = demo
    assert "P013 shuffled-apart" in said
    assert "Did you mean 'label'?" in said
    assert "T060" in said
    for report in ("report.html", "diagnosis.html"):
        assert "<html" in (folder / report).read_text()


def test_every_command_is_shown_as_one_would_type_it(demo):
    _, said = demo
    typed = re.findall(r"^\$ recordsmith (\w+)", said, re.MULTILINE)
    assert typed == ["make", "check", "repair", "doctor"]


@pytest.mark.parametrize("framework", ["scikit-learn", "keras"])
def test_what_is_installed_trains_it(demo, framework):
    assert framework in frameworks()
    assert train(str(demo[0] / "data"), framework=framework) >= GOOD_ACCURACY


def test_a_folder_that_is_in_use_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    command = [sys.executable, "-m", "recordsmith", "demo", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_the_image_in_the_readme_shows_what_the_commands_print(tmp_path):
    there = draw_demo.text_in(draw_demo.IMAGE.read_text(encoding="utf-8"))
    assert there == draw_demo.text_of(draw_demo.printed(tmp_path)), "run: python docs/draw_demo.py"
