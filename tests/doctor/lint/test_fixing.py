"""Corrected code: what is certain is changed in the file, and nothing else."""

from __future__ import annotations

import json
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
    _, fixed = lint_and_fix(path, fix=True)
    while fixed:  # two changes at one place are made one after the other
        _, fixed = lint_and_fix(path, fix=True)
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
    report, fixed = lint_and_fix(path, fix=True)
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
    lint_and_fix(path, fix=True)
    lines[2] = "ds = tf.data.TFRecordDataset('a').shuffle(99).batch(8)"
    assert path.read_text() == json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def test_windows_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(b"import tensorflow as tf\r\nds = tf.data.TFRecordDataset('a').batch(8).shuffle(99)\r\n")
    lint_and_fix(path, fix=True)
    assert path.read_bytes() == b"import tensorflow as tf\r\nds = tf.data.TFRecordDataset('a').shuffle(99).batch(8)\r\n"
