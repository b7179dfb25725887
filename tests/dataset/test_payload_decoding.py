"""Records that are no Examples, fed like any other: raw, and by a parser of one's own in map."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.made_records import file_bytes

PAYLOADS = [json.dumps({"n": n, "name": f"row {n}"}).encode() for n in range(100)]


def parse(row: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(row["payload"])
    return parsed


@pytest.fixture(params=["plain", "gzip"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"part-{part}.tfrecord" for part in range(2)]
    for part, path in enumerate(paths):
        data = file_bytes(PAYLOADS[50 * part : 50 * part + 50])
        path.write_bytes(gzip.compress(data) if request.param == "gzip" else data)
    return paths


def test_rows_and_batches_are_the_bytes(files: list[Path]):
    ds = rs.open(files, raw=True)
    assert ds.schema == rs.Schema({"payload": rs.Bytes(description="the record as it is stored")})
    assert [row["payload"] for row in ds] == PAYLOADS
    assert ds[17] == {"payload": PAYLOADS[17]}
    assert [row["payload"] for row in ds[10:20:3]] == PAYLOADS[10:20:3]
    assert [value for batch in ds.batch(32) for value in batch["payload"].to_list()] == PAYLOADS
    assert pickle.loads(pickle.dumps(ds))[99] == {"payload": PAYLOADS[99]}
    assert ds.to_arrow()["payload"].to_pylist() == PAYLOADS


def test_a_parser_of_ones_own_is_shuffled_sharded_and_resumed(files: list[Path]):
    def chain() -> Any:
        return rs.open(files, raw=True).shuffle(seed=5).map(parse).batch(8)

    wanted = [batch["n"].tolist() for batch in chain()]
    assert sorted(n for batch in wanted for n in batch) == list(range(100))
    assert [n for batch in wanted for n in batch] != list(range(100))
    loader = chain()
    batches = iter(loader)
    begun = [next(batches)["n"].tolist() for _ in range(5)]
    state = json.loads(json.dumps(loader.state()))
    resumed = chain()
    resumed.restore(state)
    assert begun + [batch["n"].tolist() for batch in resumed] == wanted
    halves = [
        {int(n) for batch in rs.open(files, raw=True).shard(rank, 2).map(parse).batch(8) for n in batch["n"]}
        for rank in (0, 1)
    ]
    assert halves[0] | halves[1] == set(range(100))
    assert not halves[0] & halves[1]


def test_examples_can_be_read_raw_too(tmp_path: Path):
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example({"n": 1})
    payload = rs.open(tmp_path / "a.tfrecord", raw=True)[0]["payload"]
    assert payload == rs.encode_example({"n": 1})


def test_a_parser_that_fails_names_the_record(files: list[Path]):
    def failing(row: Any) -> dict[str, Any]:
        parsed = parse(row)
        if parsed["n"] == 60:
            raise ValueError("sixty")
        return parsed

    with pytest.raises(ValueError, match="sixty") as caught:
        list(rs.open(files, raw=True).map(failing).batch(8))
    assert any("number 10 of" in note for note in caught.value.__notes__)
    kept = [n for batch in rs.open(files, raw=True).map(failing).batch(8, on_error="skip") for n in batch["n"].tolist()]
    assert kept == [n for n in range(100) if n != 60]


def test_made_from_raw_records(files: list[Path], tmp_path: Path):
    rs.make(rs.sources.tfrecords(files, raw=True), tmp_path / "out", map=parse, shuffle=False)
    assert [(row["n"], row["name"]) for row in rs.open(tmp_path / "out")] == [(n, f"row {n}") for n in range(100)]


def test_only_one_way_of_reading(files: list[Path]):
    with pytest.raises(rs.PipelineError, match="cannot be used together"):
        rs.open(files, raw=True, schema=rs.Schema({"n": rs.Scalar("int64")}))
    with pytest.raises(rs.PipelineError, match="must be given together"):
        rs.open(files, message="a.B")


@pytest.mark.parametrize("schema", ["schema.json", {"n": rs.Scalar("int64")}])
def test_a_schema_is_a_schema(schema, files: list[Path]):
    with pytest.raises(rs.SchemaError, match=r"schema must be an rs\.Schema(.|\n)*Schema\.load"):
        rs.open(files, schema=schema)
