"""Runs in parts: one after the other, at the same time, twice, and one missing; the files are those of one run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.run.engines.part import DonePart, Part, parts_text
from tests.formats.made_sources import file_digests, labelled, numbers
from tests.making.making_to_kill import RECIPES

STAGING = ".recordsmith-making"
Do = Callable[..., DonePart | None]


def making(recipe: str, out: Path) -> Do:
    """Return a function that does one part of a recipe, or with `finish=True` the rest."""

    def do(part: str | None = None, **options: Any) -> DonePart | None:
        source, settings = RECIPES[recipe](0.0)
        return rs.make(source, out, name="data", **settings, part=part, **options).part

    return do


def do_all(do: Do, parts: list[str]) -> None:
    for part in parts:
        done = do(part)
        assert done is not None
        assert done.part == part


@pytest.mark.parametrize(
    ("recipe", "parts"),
    [
        ("everything", ["1/1"]),
        ("everything", ["1/3", "2/3", "3/3"]),
        ("everything", ["3/3", "1/3", "2/3", "3/3", "1/3", "2/3"]),
        ("words", ["2/2", "1/2", "1/2"]),
        ("synthetic", ["2/2", "1/2", "1/2"]),
        ("mapped", ["2/2", "1/2"]),
    ],
)
def test_parts_one_after_the_other(recipe: str, parts: list[str], quick_path: Path) -> None:
    making(recipe, quick_path / "whole")()
    do = making(recipe, quick_path / "parts")
    do_all(do, parts)
    assert os.listdir(quick_path / "parts") == [STAGING], "nothing has its final name yet"
    assert do(finish=True) is None
    assert file_digests(quick_path / "parts") == file_digests(quick_path / "whole")


def test_parts_at_the_same_time_and_twice(quick_path: Path) -> None:
    """Two jobs do the same, beside others: one piece is left of each, and nothing is doubled."""
    making("everything", quick_path / "whole")()
    do = making("everything", quick_path / "parts")
    with ThreadPoolExecutor(6) as jobs:
        for _ in jobs.map(do, ["1/3", "2/3", "3/3", "1/3", "2/3", "3/3"]):
            pass
    with ThreadPoolExecutor(3) as jobs:
        done = list(jobs.map(do, ["1/3", "2/3", "3/3"]))
    assert sum(one.rows for one in done if one is not None) == 0, "everything was read before"
    staging = quick_path / "parts" / STAGING
    shards = [json.loads(path.read_text()) for path in (staging / "written").iterdir()]
    assert shards, "the parts have written the shards"
    assert all(shard["checked"] for shard in shards)
    before = {path.name: path.stat().st_ino for path in (staging / "shards").iterdir()}
    do(finish=True)
    assert file_digests(quick_path / "parts") == file_digests(quick_path / "whole")
    after = {path.name: path.stat().st_ino for path in (quick_path / "parts").iterdir() if path.name in before}
    assert after == before, "finishing has written none of them again"


def test_a_missing_part_is_named(quick_path: Path) -> None:
    rs.make(numbers(4000), quick_path / "whole", name="data")
    options: dict[str, Any] = {"name": "data"}
    out = quick_path / "out"
    with pytest.raises(rs.RecordsmithError, match="no part has been done"):
        rs.make(numbers(4000), out, finish=True, **options)
    for part in ("1/5", "4/5"):
        done = rs.make(numbers(4000), out, part=part, **options).part
    assert done is not None
    assert done.missing == (2, 3, 5)
    assert "Not done yet: parts 2-3, 5 of 5." in str(done)
    with pytest.raises(rs.RecordsmithError, match="Some parts have not been done yet") as caught:
        rs.make(numbers(4000), out, finish=True, **options)
    assert caught.value.expected == "also parts 2-3, 5"
    assert "--part 2/5" in caught.value.on_command_line()
    with pytest.raises(rs.RecordsmithError, match="unfinished run"):
        rs.make(numbers(4000), out, **options)
    rs.make(numbers(4000), out, resume=True, **options)
    assert file_digests(out) == file_digests(quick_path / "whole"), "or the rest is done on one machine"


def test_another_number_of_parts(quick_path: Path) -> None:
    rs.make(numbers(4000), quick_path / "whole", name="data")
    out = quick_path / "out"
    for part in ("1/2", "2/3", "1/3", "3/3"):
        rs.make(numbers(4000), out, part=part, name="data")
    rs.make(numbers(4000), out, finish=True, name="data")
    assert file_digests(out) == file_digests(quick_path / "whole")


def test_a_damaged_piece_is_missing(quick_path: Path) -> None:
    rs.make(numbers(4000), quick_path / "whole", name="data")
    out = quick_path / "out"
    for part in ("1/2", "2/2"):
        rs.make(numbers(4000), out, part=part, name="data")
    keys = sorted((out / STAGING / "pieces").glob("*/*.keys"))[1]
    keys.write_bytes(keys.read_bytes()[:-1])
    with pytest.raises(rs.RecordsmithError, match="One part has not been done"):
        rs.make(numbers(4000), out, finish=True, name="data")
    for part in ("1/2", "2/2"):
        rs.make(numbers(4000), out, part=part, name="data")
    rs.make(numbers(4000), out, finish=True, name="data")
    assert file_digests(out) == file_digests(quick_path / "whole")


def test_damaged_records_are_found_and_made_again(quick_path: Path) -> None:
    """--finish does not read what parts have staged before it is used; nothing damaged is published."""
    source = labelled([n % 3 for n in range(2000)])
    rs.make(source, quick_path / "whole", name="data")
    out = quick_path / "out"
    rs.make(source, out, part="1/2", name="data")
    records = next((out / STAGING / "pieces").glob("*/*.records"))
    damaged = bytearray(records.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    records.write_bytes(damaged)
    rs.make(source, out, part="2/2", name="data")
    with pytest.raises(rs.RecordsmithError, match="A staged record is damaged"):
        rs.make(source, out, finish=True, name="data")
    rs.make(source, out, resume=True, name="data")
    assert file_digests(out) == file_digests(quick_path / "whole")


def test_parts_of_a_copy(quick_path: Path) -> None:
    rs.make(labelled([n % 3 for n in range(3000)]), quick_path / "data", split="train=0.8,test=0.2", shards=4)
    every: list[dict[str, Any]] = [
        {"shards": 3},
        {"where": "label == 'cat'"},
        {"merge_splits": True, "shuffle": True},
        {"drop": ["n"]},
    ]
    for number, options in enumerate(every):
        whole, out = quick_path / f"whole-{number}", quick_path / f"out-{number}"
        settings: dict[str, Any] = {"name": "data", **options}
        rs.copy(quick_path / "data", whole, **settings)
        for part in ("2/2", "1/2", "2/2"):
            assert rs.copy(quick_path / "data", out, part=part, **settings).part is not None
        assert rs.copy(quick_path / "data", out, finish=True, **settings).rows > 0
        assert file_digests(out) == file_digests(whole)


def test_what_is_finished_is_not_done_again(quick_path: Path) -> None:
    out = quick_path / "out"
    for part in ("1/2", "2/2"):
        rs.make(numbers(1000), out, part=part, name="data")
    made = rs.make(numbers(1000), out, finish=True, name="data")
    assert rs.make(numbers(1000), out, finish=True, name="data") == made
    done = rs.make(numbers(1000), out, part="1/2", name="data").part
    assert done is not None
    assert done.is_published
    with pytest.raises(rs.RecordsmithError, match="made with other options"):
        rs.make(numbers(1000), out, part="1/2", name="data", seed=1)


def test_parts_replace_a_dataset(quick_path: Path) -> None:
    out = quick_path / "out"
    rs.make(numbers(1000), quick_path / "whole", name="data", seed=1)
    rs.make(numbers(1000), out, name="old")
    for part in ("1/2", "2/2"):
        rs.make(numbers(1000), out, part=part, name="data", seed=1, overwrite=True)
    assert len(rs.open(out)) == 1000
    rs.make(numbers(1000), out, finish=True, name="data", seed=1, overwrite=True)
    assert file_digests(out) == file_digests(quick_path / "whole")


def test_parts_with_other_options_do_not_mix(quick_path: Path) -> None:
    out = quick_path / "out"
    rs.make(numbers(1000), out, part="1/2", name="data")
    with pytest.raises(rs.RecordsmithError, match="started with other options") as caught:
        rs.make(numbers(1000), out, part="2/2", name="data", seed=1, overwrite=True)
    assert STAGING in str(caught.value.advice)
    assert sorted(os.listdir(out / STAGING / "parts")) == ["1-of-2"]


def test_a_run_of_its_own_waits_for_parts(quick_path: Path) -> None:
    """While a part is at work, neither --finish nor another run touches the folder."""
    out = quick_path / "out"
    refused: list[dict[str, Any]] = []

    def while_it_reads(progress: Any) -> None:
        if not refused:
            settings: list[dict[str, Any]] = [{"finish": True}, {"resume": True}, {"overwrite": True}]
            for options in settings:
                with pytest.raises(rs.RecordsmithError, match="Another run is writing to this output"):
                    rs.make(numbers(1000), out, name="data", **options)
                refused.append(options)

    done = rs.make(numbers(1000), out, part="1/2", name="data", on_progress=while_it_reads).part
    assert len(refused) == 3
    assert done is not None
    assert done.missing == (2,)


@pytest.mark.parametrize("given", ["0/3", "3", "a/b", "1/0", "-1/3", 3, "1/2/3", "1.5/3"])
def test_what_is_no_part(given: Any, quick_path: Path) -> None:
    with pytest.raises(rs.RecordsmithError, match="A part must be a number and a count"):
        rs.make(numbers(10), quick_path / "out", part=given)
    assert not (quick_path / "out").exists()


def test_a_part_beyond_the_last(quick_path: Path) -> None:
    with pytest.raises(rs.RecordsmithError, match="no part 3 of 2: 3 is more than 2") as caught:
        rs.make(numbers(10), quick_path / "out", part="3/2")
    assert "a part from 1/2 to 2/2" in str(caught.value)
    assert not (quick_path / "out").exists()


def test_what_does_not_go_together(quick_path: Path) -> None:
    rs.make(numbers(10), quick_path / "data")
    with pytest.raises(rs.RecordsmithError, match="two steps"):
        rs.make(numbers(10), quick_path / "out", part="1/2", finish=True)
    with pytest.raises(rs.RecordsmithError, match="the output must be a folder"):
        rs.copy(quick_path / "data", quick_path / "one.tfrecord", part="1/2")
    with pytest.raises(rs.RecordsmithError, match=r"There is no engine 'rey'\. Did you mean 'ray'"):
        rs.make(numbers(10), quick_path / "out", engine="rey")  # type: ignore[arg-type] # on purpose
    with pytest.raises(rs.RecordsmithError, match="address"):
        rs.make(numbers(10), quick_path / "out", address="auto")


def test_words() -> None:
    assert parts_text([1, 2, 3, 5]) == "parts 1-3, 5"
    assert str(Part.parse(" 2 / 4 ")) == "2/4"
    assert str(DonePart("1/2", rows=7, rejects=1, all_shards=4, shards=2)) == (
        "Part 1/2 is done: 7 rows read, 1 row rejected, 2 of 4 shards written. All parts have been read."
    )
