"""Labels that are wrong in small ways: white space around them, and rows that have none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recordsmith as rs
from recordsmith.formats.source import Source
from tests.formats.made_sources import rows_of

LABELS = ["cat", "dog", "cat ", "cat", "dog"]


def sources(folder: Path, labels: list[Any], **options: Any) -> dict[str, Source]:
    """The same rows from every kind of source that has text labels."""
    table = {"x": [*range(len(labels))], "label": labels}
    text = "x,label\n" + "".join(f"{n},{'' if label is None else label}\n" for n, label in enumerate(labels))
    (folder / "a.csv").write_text(text)
    rows = [{"x": n, "label": label} for n, label in enumerate(labels)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.table(table), folder / "a.parquet")
    options = {"label": "label", **options}
    found: dict[str, Source] = {
        "csv": rs.sources.csv(folder / "a.csv", **options),
        "jsonl": rs.sources.jsonl(folder / "a.jsonl", **options),
        "parquet": rs.sources.parquet(folder / "a.parquet", **options),
        "rows": rs.sources.rows(rows, **options),
        "a generator": rs.sources.rows(iter(rows), **options),
    }
    if None not in labels:
        found["arrays"] = rs.sources.arrays({"x": np.arange(len(labels)), "label": np.array(labels)}, **options)
    return found


PLACES = {"csv": "a.csv, line 4", "jsonl": "a.jsonl, line 3", "parquet": "a.parquet, row 2", "rows": "row 2"}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "rows", "a generator", "arrays"])
def test_classes_that_differ_in_white_space(kind: str, quick_path: Path) -> None:
    with pytest.raises(rs.SchemaError, match=r"only in white space: 'cat', 'cat '(.|\n)*strip=True") as caught:
        rs.make(sources(quick_path, LABELS)[kind], quick_path / "out")
    assert PLACES.get(kind, "row 2") in str(caught.value)
    assert not (quick_path / "out").exists()
    rs.make(sources(quick_path, LABELS, strip=True)[kind], quick_path / "out", shuffle=False)
    assert rs.open(quick_path / "out").schema["label"] == rs.Label(["cat", "dog"])
    assert rows_of(quick_path / "out", "train", "label") == [0, 1, 0, 0, 1]
    assert (quick_path / "out" / "features.json").exists()


@pytest.mark.parametrize("space", [" ", "\t", "\u00a0", "\u2003"])
def test_every_white_space_counts(space: str, quick_path: Path) -> None:
    labels = ["a", f"a{space}", f"{space}b"]
    with pytest.raises(rs.SchemaError, match="only in white space"):
        rs.make(sources(quick_path, labels)["jsonl"], quick_path / "out")
    made = rs.make(sources(quick_path, labels, strip=True)["jsonl"], quick_path / "out")
    assert made.splits["train"].classes == {"a": 2, "b": 1}


def test_white_space_alone_is_kept_without_files_for_tfds(quick_path: Path) -> None:
    made = rs.make(sources(quick_path, ["cat", " dog"])["csv"], quick_path / "out")
    assert any("There are no files for TFDS" in text and "' dog'" in text for text in made.warnings)
    assert any("begin or end with white space: ' dog'" in text for text in made.warnings)
    assert not (quick_path / "out" / "features.json").exists()
    assert rs.open(quick_path / "out").schema["label"] == rs.Label([" dog", "cat"])
    assert rs.copy(quick_path / "out", quick_path / "copy").rows == 2
    with rs.write(quick_path / "written", rs.Schema({"label": rs.Label(["cat "])})) as writer:
        writer.extend({"label": ["cat "]})
    assert len(rs.open(quick_path / "written")) == 1


def test_class_folders_with_white_space(quick_path: Path) -> None:
    from recordsmith.images import encode_image

    for number, name in enumerate(("cat", "cat ", "dog")):
        (quick_path / "in" / name).mkdir(parents=True)
        image = encode_image(np.full((4, 4, 3), number, np.uint8), "png")
        (quick_path / "in" / name / "1.png").write_bytes(image)
    with pytest.raises(rs.SchemaError, match=r"only in white space(.|\n)*cat /1.png"):
        rs.make(quick_path / "in", quick_path / "out")
    made = rs.make(rs.sources.images(quick_path / "in", strip=True), quick_path / "out")
    assert made.splits["train"].classes == {"cat": 2, "dog": 1}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "rows", "a generator"])
@pytest.mark.parametrize("nothing", [None, ""])
def test_rows_without_a_label(kind: str, nothing: str | None, quick_path: Path) -> None:
    labels = ["cat", "dog", nothing, "cat"]
    kept = rs.make(sources(quick_path, labels)[kind], quick_path / "kept")
    assert kept.rows == 4
    said = [text for text in kept.warnings if text.startswith("1 row without a 'label'")]
    assert said
    assert PLACES.get(kind, "row 2") in said[0]
    dropped = rs.make(sources(quick_path, labels)[kind], quick_path / "out", drop_unlabelled=True)
    assert (dropped.rows, dropped.unlabelled, dropped.rejects, dropped.ok) == (3, 1, 0, True)
    assert rs.open(quick_path / "out").schema["label"] == rs.Label(["cat", "dog"])
    assert not any("without a 'label'" in text for text in dropped.warnings)


def test_dropping_needs_a_label(quick_path: Path) -> None:
    with pytest.raises(rs.SchemaError, match="which feature is the label"):
        rs.make([{"x": 1}], quick_path / "out", drop_unlabelled=True)
    assert not (quick_path / "out").exists()


def test_white_space_and_nothing_else_is_no_label(quick_path: Path) -> None:
    source = sources(quick_path, ["cat", "  ", "dog"], strip=True)
    for kind in ("csv", "jsonl", "parquet", "rows"):
        made = rs.make(source[kind], quick_path / kind, drop_unlabelled=True)
        assert (made.rows, made.unlabelled) == (2, 1), kind


def test_a_target_that_is_missing(quick_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"x": 1, "y": 0.5}, {"x": 2, "y": None}, {"x": 3, "y": 1.5}]
    made = rs.make(rs.sources.rows(rows, label="y"), quick_path / "out", drop_unlabelled=True)
    assert (made.rows, made.unlabelled) == (2, 1)
    assert not rs.open(quick_path / "out").schema["y"].optional


def test_a_condition_narrows_the_schema_of_a_copy(quick_path: Path) -> None:
    rs.make(sources(quick_path, ["cat", None, "dog"])["jsonl"], quick_path / "in")
    for number, (where, optional) in enumerate(
        {
            "label is not missing": False,
            "label == 'cat'": False,
            "label != 'dog' and x >= 0": False,
            "not (label is missing or x < 0)": False,
            "x >= 0": True,
            "label is not missing or x >= 0": True,
        }.items()
    ):
        for rename in ({}, {"label": "kind"}):
            out = quick_path / f"{number}{len(rename)}"
            rs.copy(quick_path / "in", out, where=where, rename=rename)
            assert rs.open(out).schema["kind" if rename else "label"].optional == optional, where


def test_a_filter_lets_optional_features_into_tensors(quick_path: Path) -> None:
    torch = pytest.importorskip("torch")
    rs.make(sources(quick_path, ["cat", None, "dog", "cat"])["jsonl"], quick_path / "in", shuffle=False)
    data = rs.open(quick_path / "in")
    with pytest.raises(rs.PipelineError, match="may lack this feature"):
        data.batch(2).to_torch()
    batches = [*data.filter(lambda row: row["label"] is not None).batch(2).to_torch()]
    assert [batch["label"].tolist() for batch in batches] == [[0, 1], [0]]
    assert batches[0]["label"].dtype == torch.int64
    with pytest.raises(rs.PipelineError, match="may lack this feature"):
        [*data.filter(lambda row: row["x"] >= 0).batch(2).to_torch()]
