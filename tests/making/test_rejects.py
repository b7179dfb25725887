"""Invalid rows: what becomes of them, where it is written down, and that every row is accounted for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recordsmith as rs
from recordsmith.formats.source import Reject
from tests.formats.made_sources import Columns, rows_of

SCHEMA = rs.Schema({"n": rs.Scalar("int64", min=0), "name": rs.Text(max_length=5)})


def spoilt(rows: int = 500, **settings: Any) -> Columns:
    """Rows of which each fiftieth is bad, each for another reason."""
    numbers: list[Any] = list(range(rows))
    names: list[Any] = [f"{n % 1000}" for n in range(rows)]
    numbers[50], names[100], numbers[150], numbers[200], names[250] = "fifty", None, 1.5, -7, "far too long"
    return Columns({"n": numbers, "name": names}, SCHEMA, **settings)


BAD = [50, 100, 150, 200, 250]


def rejected(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "rejected.jsonl").read_text().splitlines()]


def test_quarantine(quick_path: Path):
    made = rs.make(spoilt(), quick_path / "out", shuffle=False)
    assert not made.ok
    assert (made.rejects, made.rows, made.source_rows) == (5, 495, 500)
    assert made.rejected_path == str(quick_path / "out" / "rejected.jsonl")
    assert rows_of(quick_path / "out", "train") == [n for n in range(500) if n not in BAD]
    lines = rejected(quick_path / "out")
    assert [(line["source"], line["feature"]) for line in lines] == [
        ("row 50", "n"),
        ("row 100", "name"),
        ("row 150", "n"),
        ("row 200", "n"),
        ("row 250", "name"),
    ]
    assert "fifty" in lines[0]["value"]
    assert "no value" in lines[1]["reason"]
    assert "1.5" in lines[2]["value"]
    assert "-7" in lines[3]["value"]
    assert "12" in lines[4]["value"]
    assert all(line["reason"] for line in lines)


def test_skip_counts_and_keeps_no_file(quick_path: Path):
    made = rs.make(spoilt(), quick_path / "out", on_error="skip")
    assert (made.rejects, made.rows, made.ok, made.rejected_path) == (5, 495, False, None)
    assert "rejected.jsonl" not in os.listdir(quick_path / "out")


def test_stop_names_the_first_bad_row(quick_path: Path):
    with pytest.raises(rs.EncodeError) as caught:
        rs.make(spoilt(), quick_path / "out", on_error="stop")
    assert caught.value.path == "row 50"
    assert caught.value.feature == "n"
    assert "fifty" in str(caught.value)
    assert not (quick_path / "out").exists()


def test_without_bad_rows_there_is_no_file(quick_path: Path):
    source = Columns({"n": np.arange(10), "name": ["x"] * 10}, SCHEMA)
    made = rs.make(source, quick_path / "out")
    assert (made.ok, made.rejected_path) == (True, None)


def test_rows_that_could_not_even_be_loaded(quick_path: Path):
    rejects = {1: [Reject("photos/broken.jpg", 7, "image", "The JPEG ends early.", "ffd8")]}
    source = Columns({"n": np.arange(300), "name": ["x"] * 300}, SCHEMA, rejects=rejects)
    made = rs.make(source, quick_path / "out")
    assert (made.source_rows, made.rejects, made.rows) == (301, 1, 300)
    assert rejected(quick_path / "out") == [
        {"source": "photos/broken.jpg", "row": 7, "feature": "image", "reason": "The JPEG ends early.", "value": "ffd8"}
    ]
    with pytest.raises(rs.EncodeError, match=r"ends early[\s\S]*photos/broken\.jpg"):
        rs.make(source, quick_path / "strict", on_error="stop")


def test_the_same_bad_rows_one_by_one_and_many_in_a_chunk(quick_path: Path):
    """Many bad rows of one chunk are sorted out in time that grows with their number, and not with its square."""
    rows = 12_000
    column = [n if n % 6 else "x" for n in range(rows)]
    source = Columns({"n": column, "name": ["x"] * rows}, SCHEMA, chunk_rows=rows)
    made = rs.make(source, quick_path / "out", shuffle=False)
    assert made.rejects == 2000
    assert rows_of(quick_path / "out", "train") == [n for n in range(rows) if n % 6]
    assert [line["source"] for line in rejected(quick_path / "out")] == [f"row {n}" for n in range(0, rows, 6)]


def test_strings_that_are_not_utf_8_are_written_down_all_the_same(quick_path: Path):
    source = Columns({"n": [1, 2, 3], "name": ["ok", "\udc80", b"\xff"]}, SCHEMA)
    made = rs.make(source, quick_path / "out")
    assert made.rejects == 2
    assert [line["source"] for line in rejected(quick_path / "out")] == ["row 1", "row 2"]


# --- too many ---


def half_bad(rows: int) -> Columns:
    return Columns({"n": [n if n % 2 else None for n in range(rows)], "name": ["x"] * rows}, SCHEMA)


def test_too_many_stop_the_run_and_say_why(quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match=r"rejected, more than the allowed share of 0\.2") as caught:
        rs.make(half_bad(5000), quick_path / "out")
    assert "no value" in str(caught.value)
    assert "row 0" in str(caught.value), "with an example"
    assert [name for name in os.listdir(quick_path / "out") if not name.startswith(".")] == []
    assert Path(str(caught.value.path)).read_text().count("\n") >= 100, "they can be looked at"


def test_it_stops_long_before_the_end(quick_path: Path):
    reported: list[Any] = []
    with pytest.raises(rs.RecordsmithError, match="rejected"):
        rs.make(half_bad(100_000), quick_path / "out", on_progress=reported.append, workers=1)
    assert reported[-1].done < 5000


def test_resuming_with_a_larger_share_goes_on(quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match="rejected"):
        rs.make(half_bad(5000), quick_path / "out")
    made = rs.make(half_bad(5000), quick_path / "out", resume=True, max_rejects=0.5)
    assert (made.rows, made.rejects) == (2500, 2500)
    assert len(rejected(quick_path / "out")) == 2500


def test_a_few_are_never_too_many_unless_none_is_allowed(quick_path: Path):
    source = Columns({"n": [1, None, 3], "name": ["x"] * 3}, SCHEMA)
    assert rs.make(source, quick_path / "some").rejects == 1
    with pytest.raises(rs.RecordsmithError, match="rejected"):
        rs.make(source, quick_path / "none", max_rejects=0)


def test_a_bad_beginning_is_not_the_whole(quick_path: Path):
    column = [None] * 90 + list(range(2000))
    source = Columns({"n": column, "name": ["x"] * len(column)}, SCHEMA)
    assert rs.make(source, quick_path / "out").rejects == 90


@pytest.mark.parametrize("on_error", ["quarantine", "skip"])
def test_nothing_but_bad_rows(on_error, quick_path: Path):
    source = Columns({"n": [None] * 5, "name": ["x"] * 5}, SCHEMA)
    with pytest.raises(rs.RecordsmithError, match=r"no records to write[\s\S]*5 times"):
        rs.make(source, quick_path / "out", on_error=on_error)


# --- the user's own function ---


def picky(row: dict[str, Any]) -> dict[str, Any] | None:
    n = int(row["n"])
    if n % 10 == 0:
        return None
    if n % 10 == 1:
        raise ValueError(f"I do not like {n}")
    return {"n": n, "name": "way too long" if n % 10 == 2 else "fine"}


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_function_leaves_out_and_refuses(workers: int, quick_path: Path):
    source = Columns({"n": np.arange(200)}, rs.Schema({"n": rs.Scalar("int64")}), chunk_rows=30)
    made = rs.make(source, quick_path / "out", schema=SCHEMA, map=picky, workers=workers, max_rejects=1.0)
    assert (made.source_rows, made.dropped, made.rejects, made.rows) == (200, 20, 40, 140)
    lines = {line["source"]: line for line in rejected(quick_path / "out")}
    assert lines["row 41"]["reason"] == "The map function raised ValueError: I do not like 41"
    assert lines["row 42"]["feature"] == "name"


def test_a_function_that_raises_stops_if_asked_to_and_the_row_is_named(quick_path: Path):
    source = Columns({"n": np.arange(200)}, rs.Schema({"n": rs.Scalar("int64")}), chunk_rows=30)
    with pytest.raises(Exception, match="I do not like 1") as caught:
        rs.make(source, quick_path / "out", schema=SCHEMA, map=picky, workers=1, on_error="stop")
    text = str(caught.value) + "".join(getattr(caught.value, "__notes__", []))
    assert "row 1" in text


@pytest.mark.parametrize("result", [5, "text", [1, 2]], ids=repr)
def test_a_function_that_returns_something_else(result, quick_path: Path):
    source = Columns({"n": np.arange(5)}, rs.Schema({"n": rs.Scalar("int64")}))
    with pytest.raises(rs.RecordsmithError):
        rs.make(source, quick_path / "out", schema=SCHEMA, map=lambda _: result, workers=1)


# --- every row is accounted for ---

CELLS = st.one_of(st.integers(-3, 50), st.none(), st.just("x"), st.floats(0, 3, width=16))


@given(
    cells=st.lists(CELLS, min_size=1, max_size=120),
    split=st.sampled_from([None, "train=0.8,test=0.2", "train=3,test=1", "train=rest,test=2"]),
    balance=st.sampled_from([None, "oversample", "undersample"]),
    mapped=st.booleans(),
    chunk_rows=st.integers(1, 50),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_counts_add_up(cells, split, balance, mapped: bool, chunk_rows: int, quick_folders):  # noqa: FBT001
    """Rows of the source = different rows written + refused + left out + not asked for."""
    schema = rs.Schema({"n": rs.Scalar("int64", min=0), "id": rs.Scalar("int64"), "label": rs.Scalar("int64")})
    columns = {"n": cells, "id": np.arange(len(cells)), "label": np.arange(len(cells)) % 3}
    source = Columns(columns, schema, chunk_rows=chunk_rows, label="label")
    folder = next(quick_folders)
    options: dict[str, Any] = {"map": every_third_left_out, "workers": 1} if mapped else {}
    try:
        made = rs.make(source, folder, schema=schema, split=split, balance=balance, max_rejects=1.0, **options)
    except rs.RecordsmithError as error:
        assert "no records to write" in str(error) or "more rows than the source has" in str(error)  # noqa: PT017
        return
    written = [row for name in made.splits for row in rows_of(folder, name, "id")]
    left_out_by_balance = 0
    if balance == "undersample":
        train = made.splits["train"].classes
        left_out_by_balance = made.source_rows - made.rejects - made.dropped - made.unassigned - len(set(written))
        assert left_out_by_balance == 0 or len(set(train.values()) - {0}) <= 1
    assert made.source_rows == len(cells)
    assert made.source_rows == len(set(written)) + made.rejects + made.dropped + made.unassigned + left_out_by_balance
    assert len(written) == made.rows == sum(part.rows for part in made.splits.values())
    if balance is None:
        assert len(written) == len(set(written)), "no row twice"
    lines = rejected(folder) if made.rejects else []
    assert len(lines) == made.rejects


def every_third_left_out(row: dict[str, Any]) -> dict[str, Any] | None:
    return None if int(row["id"]) % 3 == 0 else row


def test_rows_with_gaps_in_lists_are_rejected_one_by_one(quick_path: Path):
    lines = [
        '{"a": [1, null], "t": [{"u": 1}]}',
        '{"a": [2], "t": [{"u": 2}]}',
        '{"a": [3], "t": [{"v": 1}, {"u": 3}]}',
    ]
    (quick_path / "rows.jsonl").write_text("\n".join(lines))
    source = rs.sources.jsonl(quick_path / "rows.jsonl", columns=["a", "t/u"])
    rs.make(source, quick_path / "out", shuffle=False)
    assert [row["a"].tolist() for row in rs.open(quick_path / "out")] == [[2]]
    assert [(line["source"][-6:], line["feature"], line["value"]) for line in rejected(quick_path / "out")] == [
        ("line 1", "a", "None"),
        ("line 3", "t/u", "None"),
    ]
    mapped = rs.make(
        source, quick_path / "mapped", map=lambda row: {"n": [one for one in row["a"] if one is not None]}, workers=1
    )
    assert (mapped.rows, mapped.rejects) == (3, 0)  # a function can fill the gaps
