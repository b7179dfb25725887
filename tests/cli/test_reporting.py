"""What `check`, `doctor` and `diagnose` have in common: the options about rules, and one baseline for all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.checking.made_datasets import rows, write

PROGRAM = """
import numpy as np
import tensorflow as tf

dataset = tf.data.TFRecordDataset("train.tfrecord").batch(32).shuffle(1000)
"""
PIPELINE = """
import numpy as np

images, labels = np.random.default_rng(0).normal(size=(256, 4)), np.repeat([0, 1], 128)
batches = [(images[i : i + 16], labels[i : i + 16]) for i in range(0, 256, 16)]
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Each command with something to find, and the code that it finds."""
    monkeypatch.chdir(tmp_path)
    Path("recordsmith.toml").write_text('baseline = "known.json"')
    write(tmp_path / "bad.tfrecord", [dict(row, score=0.5) for row in rows(60)])
    Path("train.py").write_text(PROGRAM)
    Path("feed.py").write_text(PIPELINE)
    return {"V002": ["check", "bad.tfrecord"], "P001": ["doctor", "train.py"], "T040": ["diagnose", "feed.py:batches"]}


def test_one_configured_baseline_serves_all_commands(run_alone, commands: dict[str, list[str]]) -> None:
    for number, (code, command) in enumerate(commands.items(), 1):
        written = run_alone(*command, "--write-baseline", "--fail-on", "info")
        assert written.returncode == 0, written.stderr
        entries = json.loads(Path("known.json").read_text())["findings"]
        assert code in {entry["code"] for entry in entries}
        assert {entry["code"][0] for entry in entries} == set("VPT"[:number])
    for command in commands.values():
        again = run_alone(*command, "--fail-on", "info")
        assert again.returncode == 0, again.stdout
        assert "no findings" in again.stdout
        assert "known" in again.stdout


def test_a_file_that_is_no_baseline_is_not_overwritten(run, commands: dict[str, list[str]]) -> None:
    result = run(*commands["V002"], "--write-baseline", "--baseline", "train.py")
    assert result.exit_code == 2
    assert Path("train.py").read_text() == PROGRAM
