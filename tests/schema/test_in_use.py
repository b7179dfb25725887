"""Every feature type through the rest: files, saved schemas, tables, and what the command line shows."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import recordsmith as rs
from recordsmith.cli import main

SCHEMA = rs.Schema(
    {
        "image": rs.Image(4, 5, encoding="png", description="an image"),
        "thumb": rs.Image(channels=1, optional=True),
        "label": rs.Label(["cat", "dog"], description="what it shows"),
        "fine": rs.Label(5, default=3),
        "score": rs.Scalar("float32", min=0, max=1, finite=True, default=0.5),
        "size": rs.Scalar("uint8", one_of=[1, 2, 3]),
        "boxes": rs.Tensor("float32", (None, 4), max_length=3, min=0),
        "mask": rs.Tensor("bool", (None, None), optional=True),
        "crop": rs.Tensor("uint16", (None, 1, None), default=[[[1, 2]]]),
        "caption": rs.Text(min_length=1, max_length=9, one_of=["a cat", "a dog"]),
        "tags/en": rs.Text((None,), max_length=2),
        "key": rs.Bytes(min_length=2, one_of=[b"\x00\xff", b"ab"]),
        "words": rs.Sparse("float32", 50),
        "counts": rs.Sparse("int64", 9, optional=True),
        "blob": rs.Packed({"pixels": ("uint8", (2, 2)), "id": ("int64", ())}),
    }
)
STEPS = rs.Schema(
    {"frames": rs.Steps(rs.Image(encoding="png")), "classes": rs.Steps(rs.Label(["a", "b"])), "n": rs.Scalar("int64")}
)
PIXELS = np.zeros((4, 5, 3), np.uint8)


def row(n: int) -> dict[str, Any]:
    return {
        "image": PIXELS,
        "thumb": None if n % 2 else PIXELS[:, :, 0],
        "label": ["cat", "dog"][n % 2],
        "score": n / 10,
        "size": 1 + n % 3,
        "boxes": np.ones((n % 4, 4)),
        "mask": None if n % 3 else np.ones((n + 1, 2), bool),
        "crop": np.zeros((n + 1, 1, 1)),
        "caption": "a cat",
        "tags/en": ["x"] * (n % 3),
        "key": b"ab",
        "words": {n: 0.5, 49: 1.5},
        "counts": None if n % 2 else {n: n},
        "blob": {"pixels": [[n, 0], [0, 0]], "id": n},
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("in_use")
    SCHEMA.save(folder / "schema.json")
    with rs.RecordWriter(folder / "data.tfrecord") as writer:
        writer.write_rows([row(n) for n in range(6)], SCHEMA)
    return folder / "data.tfrecord"


@pytest.mark.parametrize("schema", [SCHEMA, STEPS], ids=["example", "sequence"])
def test_a_schema_is_saved_and_shown_whole(schema: rs.Schema, tmp_path: Path) -> None:
    schema.save(tmp_path / "schema.json")
    loaded = rs.Schema.load(tmp_path / "schema.json")
    assert loaded == schema
    assert repr(loaded) == repr(schema)
    assert pickle.loads(pickle.dumps(schema)) == schema
    names = {name: getattr(rs, name) for name in rs.__all__}
    assert eval(repr(schema), names) == schema
    assert [feature.description for feature in loaded.values()] == [feature.description for feature in schema.values()]
    assert repr(loaded.plan()) == repr(schema.plan())


def test_rows_come_back(path: Path) -> None:
    rows = list(rs.open(path, schema=SCHEMA))
    assert [int(one["label"]) for one in rows] == [0, 1, 0, 1, 0, 1]
    assert {int(one["fine"]) for one in rows} == {3}
    assert rows[0]["thumb"][:4] == b"\x89PNG"
    assert rows[1]["thumb"] is None
    assert rows[3]["mask"].shape == (4, 2)
    assert rows[1]["mask"] is None
    assert rows[2]["crop"].shape == (3, 1, 1)
    assert rows[2]["words"].indices.tolist() == [2, 49]
    assert rows[1]["counts"] is None
    assert rows[5]["blob"]["id"] == 5


def test_batches_keep_to_the_constraints(path: Path) -> None:
    for batch in rs.open(path, schema=SCHEMA).batch(4):
        assert SCHEMA.violations(batch) == {}
    strict = rs.Schema({**SCHEMA, "score": rs.Scalar("float32", max=0.25), "label": rs.Label(1)})
    (batch,) = rs.open(path, schema=strict).batch(10)
    found = strict.violations(batch)
    assert {name: [one.row for one in violations] for name, violations in found.items()} == {
        "score": [3, 4, 5],
        "label": [1, 3, 5],
    }


def test_tables(path: Path) -> None:
    data = rs.open(path, schema=SCHEMA).select("label", "mask", "words", "counts", "blob", "crop")
    table = data.to_arrow()
    assert table["label"].to_pylist() == [0, 1, 0, 1, 0, 1]
    assert table["mask"].to_pylist()[3] == [[True, True]] * 4
    assert table["mask"].to_pylist()[1] is None
    assert table["words"].to_pylist()[2] == {"indices": [2, 49], "values": [0.5, 1.5]}
    assert table["counts"].to_pylist()[1] is None
    assert table["blob"].to_pylist()[1] == {"pixels": [[1, 0], [0, 0]], "id": 1}
    assert len(data.to_pandas()) == 6


@pytest.mark.parametrize("chunked", [False, True])
def test_a_table_that_was_read_can_be_written(path: Path, tmp_path: Path, *, chunked: bool) -> None:
    data = rs.open(path, schema=SCHEMA)
    table = data.to_arrow()
    table = pa.concat_tables([table[:2], table[2:]]) if chunked else table
    with rs.RecordWriter(tmp_path / "again") as writer:
        writer.write_columns(table, SCHEMA)
    for again, before in zip(rs.RecordReader(tmp_path / "again"), rs.RecordReader(path), strict=True):
        stored, expected = rs.decode_example(again), rs.decode_example(before)
        assert stored.pop("fine") == [3]  # the default is a value now
        assert repr(stored) == repr(expected)


def test_the_command_line_shows_them(path: Path) -> None:
    arguments = ["show", str(path), "--schema", str(path.parent / "schema.json"), "--rows", "0:3"]
    shown = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    for words in ("png image", "label of 2", "sparse float32", "packed", "(4, 5, 3)", "(50,)"):
        assert words in shown.output
    assert "words/indices" not in shown.output
    document = json.loads(CliRunner().invoke(main, [*arguments, "--format", "json"]).stdout)
    features = {one["name"]: one for one in document["features"]}
    assert set(features) == set(SCHEMA)
    assert features["words"]["records"] == 6
    assert document["rows"][1]["features"]["words"] == {"indices": [1, 49], "values": [0.5, 1.5]}
    assert document["rows"][1]["features"]["blob"] == {"pixels": [[1, 0], [0, 0]], "id": 1}


def test_steps_through_a_file(tmp_path: Path) -> None:
    with rs.RecordWriter(tmp_path / "data") as writer:
        writer.write_rows([{"frames": [PIXELS] * n, "classes": ["b"] * n, "n": n} for n in range(3)], STEPS)
        writer.write_columns({"frames": [[PIXELS]], "classes": [["a"]], "n": [3]}, STEPS)
    rows = list(rs.open(tmp_path / "data", schema=STEPS))
    assert [len(one["frames"]) for one in rows] == [0, 1, 2, 1]
    assert [one["classes"].tolist() for one in rows] == [[], [1], [1, 1], [0]]
