"""The `tfrecord` package (vahidk): it reads what recordsmith writes, and the other way round.

It registers the same protobuf names as TensorFlow, so it runs in processes of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

import recordsmith as rs
from recordsmith.records.index import export_index
from tests.conformance.golden.golden_rows import ROWS, SCHEMA

TFRECORD_READS = """
import json, sys
import numpy as np
from tfrecord.reader import tfrecord_loader

path, index, compression = sys.argv[1], sys.argv[2] or None, sys.argv[3] or None
description = {"label": "int", "score": "float", "box": "float", "name": "byte", "image": "byte"}
for record in tfrecord_loader(path, index, description, compression_type=compression):
    print(json.dumps([
        int(np.ravel(record["label"])[0]), float(np.ravel(record["score"])[0]), np.ravel(record["box"])[:2].tolist(),
        bytes(record["name"]).decode(), len(record["image"]),
    ]))
"""

TFRECORD_WRITES = """
import sys
from tfrecord.writer import TFRecordWriter

writer = TFRecordWriter(sys.argv[1])
for n in range(20):
    writer.write({"label": (n, "int"), "values": ([n / 2, 1.5], "float"), "name": (b"row %d" % n, "byte")})
for n in range(20, 25):
    writer.write({"label": (n, "int")}, {"tokens": ([[t, t + 1] for t in range(n - 19)], "int")})
writer.close()
"""


def run_python(program: str, *arguments: str) -> str:
    finished = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.parametrize(
    ("how", "compression", "indexed"), [("rows", None, True), ("columns", None, False), ("rows", "gzip", False)]
)
def test_recordsmith_writes_and_the_tfrecord_package_reads(
    how: str,
    compression: str | None,
    indexed: bool,  # noqa: FBT001 - a case's setting
    tmp_path: Path,
):
    path = tmp_path / "data.tfrecord"
    # It takes an empty value for a missing one, and fails.
    rows = [{**row, "image": row["image"] or b"x"} for row in ROWS]
    with rs.RecordWriter(path, compression) as writer:
        if how == "rows":
            writer.write_rows(rows, SCHEMA)
        else:
            writer.write_columns({name: [row[name] for row in rows] for name in SCHEMA}, SCHEMA)
    index = export_index(path, format="vahidk") if indexed else ""
    output = run_python(TFRECORD_READS, str(path), index, compression or "")
    # With an index it starts at a random record.
    assert sorted(json.loads(line) for line in output.splitlines()) == [
        [row["label"], row["score"], row["box"][:2].tolist(), row["name"], len(row["image"])] for row in rows
    ]


def test_the_tfrecord_package_writes_and_recordsmith_reads(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    run_python(TFRECORD_WRITES, str(path))
    assert len(rs.open(path)) == 25
    assert rs.open(path).verify() == 25
    payloads = list(rs.RecordReader(path))
    for n, payload in enumerate(payloads[:20]):
        decoded: dict[str, Any] = {**rs.decode_example(payload)}
        assert decoded["label"].tolist() == [n]
        assert decoded["values"].tolist() == [n / 2, 1.5]
        assert decoded["name"] == [b"row %d" % n]
    for n, payload in enumerate(payloads[20:], 20):
        context, lists = cast("tuple[dict[str, Any], dict[str, Any]]", rs.decode_sequence_example(payload))
        assert context["label"].tolist() == [n]
        assert [step.tolist() for step in lists["tokens"]] == [[t, t + 1] for t in range(n - 19)]
    assert [int(row["label"]) for row in rs.open(path)] == list(range(25))
