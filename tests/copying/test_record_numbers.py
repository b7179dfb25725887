"""Copies of records that are chosen by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.copying.conftest import SCHEMA, pets


def numbers(path: Path, split: str | None = None) -> list[int]:
    return [int(row["n"]) for row in rs.open(path, split=split)]


def test_numbers_count_over_all_files_and_the_splits_stay(folder: Path, quick_path: Path) -> None:
    chosen = [3, 0, 30, 59, 47, 48, 3]
    shown = [int(rs.open(folder)[number]["n"]) for number in sorted(set(chosen))]
    copied = rs.copy(folder, quick_path / "out", records=chosen)
    assert (copied.rows, copied.source_rows, copied.unmatched, copied.verbatim) == (6, 60, 54, True)
    assert sorted(numbers(quick_path / "out")) == sorted(shown)
    assert set(numbers(quick_path / "out", "test")) == {n for n in shown if n >= 48}


def test_numbers_are_those_of_the_split_that_is_copied(folder: Path, quick_path: Path) -> None:
    rs.copy(folder, quick_path / "out", from_split="test", records=np.array([0, 11]))
    assert numbers(quick_path / "out") == [48, 59]


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_numbers_combine_with_conditions_and_other_changes(quick_path: Path, compression: str | None) -> None:
    for part, name in enumerate("ab"):
        with rs.RecordWriter(quick_path / f"{name}.tfrecord", compression) as writer:
            writer.write_rows(pets(40)[20 * part : 20 * part + 20], SCHEMA)
    paths = [quick_path / "b.tfrecord", quick_path / "a.tfrecord"]
    out = quick_path / "out.tfrecord"
    copied = rs.copy(paths, out, records=range(15, 25), where="n != 37", features=["n"])
    assert numbers(out) == [35, 36, 38, 39, 0, 1, 2, 3, 4]
    assert (copied.source_rows, copied.unmatched) == (40, 31)


def test_a_bad_record_that_is_not_chosen_does_not_matter(plain_file: Path, quick_path: Path) -> None:
    data = bytearray(plain_file.read_bytes())
    data[20] ^= 1  # in the payload of record 0
    plain_file.write_bytes(data)
    rs.copy(plain_file, quick_path / "out.tfrecord", records=[5, 6])
    assert numbers(quick_path / "out.tfrecord") == [5, 6]
    with pytest.raises(rs.RecordsmithError, match="record 0"):
        rs.copy(plain_file, quick_path / "other.tfrecord", records=[0, 6])


def test_a_file_of_numbers(plain_file: Path, quick_path: Path) -> None:
    listed = quick_path / "records.txt"
    listed.write_bytes(b"7\r\n\n29\n3")
    rs.copy(plain_file, quick_path / "out.tfrecord", records=listed)
    assert numbers(quick_path / "out.tfrecord") == [3, 7, 29]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("1\n2\n-3\n", "Line 3 is not a record number"),
        ("1 2\n", "Line 1 is not"),
        ("1_0\n", "Line 1 is not"),
        ("9" * 30, "Line 1 is not"),
        ("0" * 3_000_000, "Line 1 is not"),
        ("", "list of record numbers is empty"),
        ("0\n30\n", r"no record 30[^0-9][\s\S]*from 0 to 29"),
        ([-1], "no record -1"),
        ([1.5], "record numbers"),
        (["1"], "record numbers"),
        (np.zeros((2, 2), np.int64), "record numbers"),
    ],
)
def test_what_is_no_record_number_is_refused(plain_file: Path, quick_path: Path, given: Any, words: str) -> None:
    if isinstance(given, str):
        (quick_path / "records.txt").write_text(given)
        given = str(quick_path / "records.txt")
    with pytest.raises(rs.RecordsmithError, match=words):
        rs.copy(plain_file, quick_path / "out.tfrecord", records=given)
    assert not (quick_path / "out.tfrecord").exists()


def test_a_damaged_file_has_no_numbers_to_rely_on(plain_file: Path, quick_path: Path) -> None:
    plain_file.write_bytes(plain_file.read_bytes()[:-5])
    with pytest.raises(rs.RecordsmithError, match=r"cut|ends|truncated"):
        rs.copy(plain_file, quick_path / "out.tfrecord", records=[1], on_error="skip")


def test_a_run_with_other_numbers_is_not_resumed(folder: Path, quick_path: Path) -> None:
    rs.copy(folder, quick_path / "out", records=[1, 2], part="1/2")
    with pytest.raises(rs.RecordsmithError):
        rs.copy(folder, quick_path / "out", records=[1, 3], part="2/2")
    rs.copy(folder, quick_path / "out", records=[2, 1], part="2/2")
    rs.copy(folder, quick_path / "out", records=[1, 2], finish=True)
    assert len(numbers(quick_path / "out")) == 2
