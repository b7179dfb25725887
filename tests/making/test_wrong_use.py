"""What is asked for wrongly is refused before anything is staged, so that nothing blocks the corrected command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.formats.made_sources import rows_of

ROWS = [{"x": n, "who": n % 7, "label": ("cat", "dog")[n % 2]} for n in range(100)]
SCHEMA = rs.Schema({"x": rs.Scalar("int64"), "who": rs.Scalar("int64"), "label": rs.Label(["cat", "dog"])})
SPLIT = "train=0.5,test=0.5"


def csv(folder: Path, **options: Any) -> Any:
    text = "x,who,label\n" + "".join(f"{row['x']},{row['who']},{row['label']}\n" for row in ROWS)
    if not (folder / "in.csv").exists():
        (folder / "in.csv").write_text(text)
    return rs.sources.csv(folder / "in.csv", label="label", **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"group": "whom", "split": SPLIT}, "no column 'whom'(.|\n)*'who'"),
        ({"group": 5}, "name of a column, or a function"),
        ({"stratify": "lable", "split": SPLIT}, "Did you mean 'label'"),
        ({"balance": "oversmaple"}, "Did you mean 'oversample'"),
        ({"balance": {"cow": 5}}, "a class 'cow'"),
        ({"balance": {"cat": -1}}, "number of rows for class"),
        ({"preprocess": rs.preprocessing.VocabularyIds("txet")}, "There is no feature 'txet'"),
        ({"split": "train=500,test=500"}, "more rows than the source has"),
        ({"map": lambda row: {"y": row["z"]}}, r"The map function raised KeyError: 'z'(.|\n)*in.csv, line 2"),
        ({"map": lambda _: None}, "returned no row"),
        ({"map": lambda row: {**row, "extra": 1}, "schema": SCHEMA}, "does not have: 'extra'"),
        ({"map": lambda row: {"x": row["x"]}, "group": "whom", "split": SPLIT}, "no column 'whom'"),
        ({"map": lambda row: row, "group": "who", "schema": SCHEMA, "balance": {"cow": 1}}, "a class 'cow'"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_nothing_stays_of_a_wrong_command(options: dict[str, Any], words: str, *, overwrite: bool, quick_path: Path):
    source = csv(quick_path)
    if overwrite:
        rs.make(ROWS[:3], quick_path / "out", schema=SCHEMA)
    with pytest.raises(rs.RecordsmithError, match=words):
        rs.make(source, quick_path / "out", workers=1, overwrite=overwrite, **options)
    assert (quick_path / "out").exists() == overwrite
    if overwrite:
        assert len(rs.open(quick_path / "out")) == 3
    else:
        assert rs.make(source, quick_path / "out").rows == 100


def test_errors_that_are_met_while_reading_leave_nothing_that_cannot_be_resumed(quick_path: Path) -> None:
    schema = rs.Schema({"x": rs.Scalar("int64", max=50)})
    with pytest.raises(rs.EncodeError):
        rs.make(csv(quick_path), quick_path / "out", schema=schema, on_error="stop")
    assert not (quick_path / "out").exists()
    with pytest.raises(ZeroDivisionError):
        rs.make(
            csv(quick_path), quick_path / "out", on_error="stop", workers=1,
            map=lambda row: {"x": 1 // (int(row["x"]) - 3)},
        )  # fmt: skip
    assert not (quick_path / "out").exists()
    with pytest.raises(rs.RecordsmithError, match="more than the allowed share"):
        rs.make(csv(quick_path), quick_path / "out", schema=schema)
    assert rs.make(csv(quick_path), quick_path / "out", schema=schema, max_rejects=1.0, resume=True).rows == 51


@pytest.mark.parametrize("workers", [1, 2])
def test_a_function_gets_the_names_of_classes(workers: int, quick_path: Path) -> None:
    def named(row: dict[str, Any]) -> dict[str, Any]:
        assert row["label"] in ("cat", "dog")
        assert isinstance(row["label"], str)
        return {"x": row["x"], "name": str(row["label"]), "number": int(row["label"]), "label": row["label"]}

    rs.make(csv(quick_path), quick_path / "out", map=named, workers=workers, shuffle=False)
    dataset = rs.open(quick_path / "out")
    assert dataset.schema["label"] == rs.Label(["cat", "dog"])
    assert isinstance(dataset.schema["name"], rs.Text)
    assert [(row["name"], int(row["number"]), int(row["label"])) for row in dataset][:2] == [
        ("cat", 0, 0),
        ("dog", 1, 1),
    ]
    other = rs.Schema({"label": rs.Label(["dog", "cow", "cat"])})
    rs.make(csv(quick_path), quick_path / "other", map=lambda row: {"label": row["label"]}, schema=other, workers=1,
            shuffle=False)  # fmt: skip
    assert rows_of(quick_path / "other", "train", "label")[:2] == [2, 0]


def test_numbers_stay_numbers(quick_path: Path) -> None:
    rows = [{"n": n, "label": n % 3} for n in range(9)]
    seen: list[Any] = []

    def look(row: dict[str, Any]) -> dict[str, Any]:
        seen.append(row["label"])
        return row

    rs.make(rs.sources.rows(rows, label="label"), quick_path / "out", map=look, workers=1)
    assert all(isinstance(value, (int, np.integer)) for value in seen)


def test_a_generator_and_a_function_without_a_schema(quick_path: Path) -> None:
    made = rs.make(({"n": n} for n in range(3000)), quick_path / "out", map=lambda row: {"m": row["n"] * 2}, workers=1)
    assert made.rows == 3000
    assert sorted(rows_of(quick_path / "out", "train", "m")) == list(range(0, 6000, 2))


def test_a_first_row_that_fails_is_rejected_and_not_the_end(quick_path: Path) -> None:
    rows = [{"n": n} for n in range(50)]
    made = rs.make(rows, quick_path / "out", map=lambda row: {"m": 1 // row["n"]}, workers=1)
    assert (made.rows, made.rejects) == (49, 1)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("mapped", [False, True])
def test_groups_by_a_function(workers: int, *, mapped: bool, quick_path: Path) -> None:
    def household(row: dict[str, Any]) -> Any:
        return None if row["x"] == 3 else (row["who"] // 2, str(row["label"]) in ("cat", "dog"))

    options: dict[str, Any] = {"map": lambda row: row} if mapped else {}
    made = rs.make(csv(quick_path), quick_path / "out", group=household, split=SPLIT, workers=workers, **options)
    found = [{int(who) // 2 for who in rows_of(quick_path / "out", split, "who")} for split in ("train", "test")]
    assert not found[0] & found[1]
    assert made.rejects == 1
    assert "returned no group" in made.reasons[0].reason


def test_a_run_with_a_group_function_is_resumed_with_the_same_function(quick_path: Path) -> None:
    def by(number: int) -> Any:
        return lambda row: int(row["who"]) % number

    def stop(progress: Any) -> None:
        if progress.phase == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rs.make(csv(quick_path), quick_path / "out", group=by(2), split=SPLIT, on_progress=stop)
    with pytest.raises(rs.RecordsmithError, match=r"other options(.|\n)*group"):
        rs.make(csv(quick_path), quick_path / "out", group=by(3), split=SPLIT, resume=True)
    assert rs.make(csv(quick_path), quick_path / "out", group=by(2), split=SPLIT, resume=True).rows == 100
