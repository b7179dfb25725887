"""Corrected code: what is certain is changed in the file, and nothing else."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.doctor.lint.lint import lint_and_fix

IMPORT = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "ds = tf.data.TFRecordDataset('a').batch(32).shuffle(1000)  # mixed\n",
            "ds = tf.data.TFRecordDataset('a').shuffle(1000).batch(32)  # mixed\n",
        ),
        (
            "ds = (\n    tf.data.TFRecordDataset('a')\n    .batch(32)  # first\n    .shuffle(1000)  # second\n)\n",
            "ds = (\n    tf.data.TFRecordDataset('a')\n    .shuffle(1000)  # first\n    .batch(32)  # second\n)\n",
        ),
        (
            "ds = tf.data.TFRecordDataset('a')\nds = ds.batch(32)\nds = ds.shuffle(1000)\n",
            "ds = tf.data.TFRecordDataset('a')\nds = ds.shuffle(1000)\nds = ds.batch(32)\n",
        ),
        (
            "ds = tf.data.TFRecordDataset('a').repeat().shuffle(1000).batch(2)\n",
            "ds = tf.data.TFRecordDataset('a').shuffle(1000).repeat().batch(2)\n",
        ),
        (
            "ds = tf.data.TFRecordDataset('ä')\nds = ds.shuffle(1000).cache().batch(2)\n",
            "ds = tf.data.TFRecordDataset('ä')\nds = ds.cache().shuffle(1000).batch(2)\n",
        ),
        (
            "ds = tf.data.TFRecordDataset('a').map(lambda s: tf.io.decode_raw(s[4:8], tf.uint8))\n",
            (
                "ds = tf.data.TFRecordDataset('a').map(lambda s: tf.io.decode_raw(tf.strings.substr(s, 4, 4), "
                "tf.uint8), "
                "num_parallel_calls=tf.data.AUTOTUNE)\n"
            ),
        ),
    ],
)
def test_what_is_certain_is_changed(before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(IMPORT + before)
    _, fixed = lint_and_fix(path)
    while fixed:  # two changes at one place are made one after the other
        _, fixed = lint_and_fix(path)
    assert path.read_text() == IMPORT + after


@pytest.mark.parametrize(
    "text",
    [
        # The variables differ: the first may be used elsewhere.
        "ds = tf.data.TFRecordDataset('a')\nbatches = ds.batch(32)\nmixed = batches.shuffle(1000)\n",
        # Something stands between.
        "ds = tf.data.TFRecordDataset('a')\nds = ds.batch(32)\nn = compute()\nds = ds.shuffle(n)\n",
        # One of them is done on a condition only.
        "ds = tf.data.TFRecordDataset('a')\nds = ds.batch(32)\nif mix:\n    ds = ds.shuffle(1000)\n",
    ],
)
def test_what_is_not_certain_is_left(text: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(IMPORT + text)
    report, fixed = lint_and_fix(path)
    assert [one.code for one in report.findings if one.severity == "warning"] == ["P001"]
    assert not fixed
    assert path.read_text() == IMPORT + text


def test_a_notebook_keeps_everything_else(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    lines = [
        "%matplotlib inline\n",
        "import tensorflow as tf\n",
        "ds = tf.data.TFRecordDataset('a').batch(8).shuffle(99)",
    ]
    document = {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
            {"cell_type": "code", "execution_count": 3, "metadata": {"k": 1}, "outputs": [{"x": "é"}], "source": lines},
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    finding = rs.lint(path).findings[0]
    assert (finding.code, finding.location.cell, finding.location.line) == ("P001", 2, 3)
    lint_and_fix(path)
    lines[2] = "ds = tf.data.TFRecordDataset('a').shuffle(99).batch(8)"
    assert path.read_text() == json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def test_windows_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(b"import tensorflow as tf\r\nds = tf.data.TFRecordDataset('a').batch(8).shuffle(99)\r\n")
    lint_and_fix(path)
    assert path.read_bytes() == b"import tensorflow as tf\r\nds = tf.data.TFRecordDataset('a').shuffle(99).batch(8)\r\n"


SHUFFLED_LATE = IMPORT + "ds = tf.data.TFRecordDataset('a').batch(32).shuffle(1000)\n"


def test_a_program_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("#!/usr/bin/env python3\n" + SHUFFLED_LATE)
    path.chmod(0o751)
    lint_and_fix(path)
    assert ".shuffle(1000).batch(32)" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert os.listdir(tmp_path) == ["train.py"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    real = tmp_path / "shared" / "train.py"
    real.write_text(SHUFFLED_LATE)
    (tmp_path / "again.py").symlink_to("shared/train.py")
    link = tmp_path / "train.py"
    link.symlink_to("again.py")
    lint_and_fix(link)
    assert (os.readlink(link), os.readlink(tmp_path / "again.py")) == ("again.py", "shared/train.py")
    assert ".shuffle(1000).batch(32)" in real.read_text()
    assert not real.is_symlink()


def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SHUFFLED_LATE)
    try:
        os.chown(path, 12345, 54321)
    except PermissionError:
        pytest.skip("only root gives files away")
    lint_and_fix(path)
    assert ".shuffle(1000).batch(32)" in path.read_text()
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_another_encoding_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    before = ("# -*- coding: latin-1 -*-\n# caf\xe9\n" + SHUFFLED_LATE).encode("latin-1")
    path.write_bytes(before)
    report, fixed = lint_and_fix(path)
    assert [one.code for one in report.findings] == ["P001"]
    assert not fixed
    assert path.read_bytes() == before


@pytest.mark.parametrize("write", ["report", "baseline", "schema"])
def test_files_that_somebody_names_are_written_through_links(tmp_path: Path, write: str) -> None:
    from recordsmith.rules import Baseline

    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to("real")
    if write == "report":
        rs.lint(source="x = 1\n").to_html(link)
    elif write == "baseline":
        Baseline.of([]).save(link)
    else:
        rs.Schema({"a": rs.Text()}).save(link)
    assert link.is_symlink()
    assert real.read_text() != "old"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced() -> None:
    rs.Schema({"a": rs.Text()}).save("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
