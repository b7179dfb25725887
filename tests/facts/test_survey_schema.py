from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import recordsmith as rs
from recordsmith.facts.dataset_facts import Mismatch
from recordsmith.facts.survey import survey
from recordsmith.images import encode_image
from tests.facts.surveying import write_rows


def mismatches(path: Path, features: dict[str, Any]) -> dict[tuple[str, str], Mismatch]:
    found = survey(path, schema=rs.Schema(features)).mismatches
    return {(mismatch.kind, mismatch.feature): mismatch for mismatch in found}


def test_records_as_declared_have_no_mismatch(tmp_path: Path) -> None:
    schema = rs.Schema(
        {
            "image": rs.Image(6, 6, channels=1, encoding="png"),
            "label": rs.Label(["cat", "dog"]),
            "boxes": rs.Tensor("float32", (None, 4), min=0, max=1),
            "small": rs.Tensor("uint8", (3,)),
            "score": rs.Scalar("float32", min=0, max=1, optional=True),
            "caption": rs.Text(max_length=10),
            "tfidf": rs.Sparse("float32", size=100),
            "free": rs.Tensor("int64", (None, None)),
        }
    )
    row = {
        "image": np.zeros((6, 6, 1), np.uint8), "label": "dog", "boxes": np.full((2, 4), 0.5, np.float32),
        "small": np.arange(3, dtype=np.uint8), "score": 0.5, "caption": "short",
        "tfidf": np.eye(100, dtype=np.float32)[3], "free": np.zeros((2, 5), np.int64),
    }  # fmt: skip
    other = {**row, "score": None, "boxes": np.zeros((0, 4), np.float32)}
    with rs.RecordWriter(tmp_path / "a") as writer:
        writer.write_rows([row, other], schema)
    assert survey(tmp_path / "a", schema=schema).mismatches == ()


def test_each_way_to_disagree_is_told_with_its_place(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"lable": 1, "x": 0.5, "vector": [1, 2, 3], "n": 3, "code": b"ab", "boxes": [0.5] * 4, "t": "short"},
        {"lable": 0, "x": 7, "vector": [1, 2], "n": 30, "code": b"abc", "boxes": [0.5] * 5, "t": "far too long"},
        {"lable": 0, "x": 0.5, "vector": [1, 2, 3], "n": 4, "code": b"ab", "boxes": [0.5] * 8, "t": "x", "filled": 2.0},
    ]
    found = mismatches(
        write_rows(tmp_path / "a", rows),
        {
            "label": rs.Label(["cat", "dog"]),
            "x": rs.Scalar("float32"),
            "vector": rs.Tensor("int64", (3,)),
            "n": rs.Scalar("int64", max=9),
            "code": rs.Tensor("uint8", (2,)),
            "boxes": rs.Tensor("float32", (None, 4)),
            "t": rs.Text(max_length=6),
            "absent": rs.Scalar("float32", optional=True, default=0.0),
            "filled": rs.Scalar("float32", optional=True, default=0.0),
        },
    )
    assert set(found) == {
        ("missing", "label"), ("unexpected", "lable"), ("dtype", "x"), ("shape", "vector"), ("constraint", "n"),
        ("shape", "code"), ("shape", "boxes"), ("constraint", "t"), ("default-always", "absent"),
    }  # fmt: skip
    assert found["missing", "label"].nearest == "lable"
    assert found["unexpected", "lable"].nearest == "label"
    assert found["missing", "label"].count == 3
    for kind, feature in (
        ("dtype", "x"),
        ("shape", "vector"),
        ("constraint", "n"),
        ("shape", "code"),
        ("shape", "boxes"),
    ):
        mismatch = found[kind, feature]
        assert mismatch.count == 1, mismatch
        assert [place.record for place in mismatch.places] == [1], mismatch
    assert found["dtype", "x"].found == "int64 lists"
    assert found["constraint", "n"].found == "30 (int64)"


def test_a_default_that_nobody_needs_is_told(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a", [{"x": 1.0}, {"x": 2.0}])
    assert set(mismatches(path, {"x": rs.Scalar("float32", default=0.0)})) == {("default-never", "x")}
    assert mismatches(path, {"x": rs.Scalar("float32", optional=True)}) == {}


def test_images_are_held_against_the_declaration(tmp_path: Path) -> None:
    rows = [{"image": encode_image(np.zeros((size, 6), np.uint8), "png")} for size in (6, 6, 8)]
    found = mismatches(write_rows(tmp_path / "a", rows), {"image": rs.Image(6, 6, channels=1)})
    assert [place.record for place in found["constraint", "image"].places] == [2]
    assert mismatches(tmp_path / "a", {"image": rs.Image()}) == {}
    assert set(mismatches(tmp_path / "a", {"image": rs.Image(encoding="jpeg")})) == {("constraint", "image")}


def test_steps_are_checked_step_by_step(tmp_path: Path) -> None:
    with rs.RecordWriter(tmp_path / "a") as writer:
        writer.write(rs.encode_sequence_example({}, {"s": [[1], [2]]}))
        writer.write(rs.encode_sequence_example({}, {"s": [[1], [2, 3]]}))
        writer.write(rs.encode_sequence_example({}, {"s": [[70]]}))
    found = mismatches(tmp_path / "a", {"s": rs.Steps(rs.Scalar("int64", max=9))})
    assert {key: [place.record for place in one.places] for key, one in found.items()} == {
        ("shape", "s"): [1],
        ("constraint", "s"): [2],
    }


def test_the_schema_beside_the_files_is_taken(tmp_path: Path) -> None:
    schema = rs.Schema({"label": rs.Label(["cat", "dog"]), "x": rs.Scalar("float32")})
    with rs.write(tmp_path, schema, name="pets", split="train", shards=2) as writer:
        writer.extend({"label": [0, 1, 1], "x": [1.0, 2.0, 3.0]})
    facts = survey(tmp_path)
    assert facts.schema == schema
    assert facts.mismatches == ()
    assert facts.described_by is not None
    assert facts.described_by.endswith("recordsmith.json")
    assert facts.labels[0].declared
