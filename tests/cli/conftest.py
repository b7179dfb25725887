"""Datasets that the commands are run on."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click.testing
import numpy as np
import pytest

import recordsmith as rs
from recordsmith.cli import main

Run = Callable[..., click.testing.Result]
PETS = rs.Schema(
    {
        "image": rs.Bytes(),
        "label": rs.Scalar("int64"),
        "name": rs.Text(),
        "tokens": rs.Tensor("int64", (None,)),
        "weight": rs.Scalar("float32", optional=True),
    }
)


def png(width: int, height: int) -> bytes:
    """An image that is no more than its header."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))


def pets(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "image": png(32 + n, 24),
            "label": n % 3,
            "name": f"pet {n}",
            "tokens": np.arange(n % 4),
            "weight": None if n % 2 else n / 2,
        }
        for n in range(start, start + count)
    ]


@pytest.fixture
def run() -> Run:
    """Runs the command in this process."""

    def invoke(*arguments: object) -> click.testing.Result:
        result = click.testing.CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "a bug in recordsmith" not in result.stderr, result.stderr
        return result

    return invoke


@pytest.fixture
def run_alone() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command in a process of its own, as a shell does."""

    def invoke(*arguments: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "recordsmith", *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})}, timeout=120
        )

    return invoke


@pytest.fixture
def pets_folder(tmp_path: Path) -> Path:
    """Two shards of a train split and one of a test split."""
    folder = tmp_path / "pets"
    folder.mkdir()
    for name, rows in [
        ("pets-train.tfrecord-00000-of-00002", pets(6)),
        ("pets-train.tfrecord-00001-of-00002", pets(4, 6)),
        ("pets-test.tfrecord-00000-of-00001", pets(3, 10)),
    ]:
        with rs.RecordWriter(folder / name) as writer:
            writer.write_rows(rows, PETS)
    return folder


@pytest.fixture
def pets_file(tmp_path: Path) -> Path:
    path = tmp_path / "pets.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_rows(pets(10), PETS)
    return path


@pytest.fixture
def sequence_file(tmp_path: Path) -> Path:
    path = tmp_path / "frames.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(3):
            lists: dict[str, list[Any]] = {
                "frame": [png(8, 8)] * (n + 1),
                "word": ["a", "b"][: n + 1],
                "at": [[0.5, n], [1.5, n]],
            }
            writer.write(rs.encode_sequence_example({"id": n}, lists))
    return path


@pytest.fixture
def elwc_file(tmp_path: Path) -> Path:
    """Records as those of learning to rank: Examples in field 1, their context in field 2."""
    example = rs.encode_example({"score": 0.5, "title": "a document"})
    framed = bytes([0x0A, len(example)]) + example
    context = rs.encode_example({"query": "what"})
    path = tmp_path / "ranking.tfrecord"
    with rs.RecordWriter(path) as writer:
        for _ in range(4):
            writer.write(framed * 3 + bytes([0x12, len(context)]) + context)
    return path
