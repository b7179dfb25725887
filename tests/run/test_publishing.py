"""Moving a finished dataset into place: all of it, the manifest last, and nothing that is not part of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.run.publishing import refuse_existing
from tests.formats.made_sources import Columns, file_digests, labelled, numbers
from tests.making.making_to_kill import nursery
from tests.mounted_disk import make_read_only, mounted_disk

STAGING = ".recordsmith-making"


def test_nothing_has_its_final_name_before_everything_is_checked(quick_path: Path):
    seen: set[str] = set()
    rs.make(
        numbers(500), quick_path / "out", shards=4, on_progress=lambda _: seen.update(os.listdir(quick_path / "out"))
    )
    assert seen == {STAGING}


def test_the_manifest_comes_last(quick_path: Path, monkeypatch: pytest.MonkeyPatch):
    """While files move, a folder without a manifest says that it is not whole."""
    order: list[str] = []
    replace = os.replace

    def noted(source: Any, target: Any, **settings: Any) -> None:
        if STAGING not in os.fspath(target):
            order.append(os.path.basename(target))
        replace(source, target, **settings)

    monkeypatch.setattr(os, "replace", noted)
    rs.make(labelled([0, 1] * 50), quick_path / "out", name="data", shards=2, split="train=0.5,test=0.5")
    assert order[-1] == "recordsmith.json"
    assert set(order) == set(os.listdir(quick_path / "out"))


def test_nothing_but_the_dataset_is_left(quick_path: Path):
    source = Columns({"n": [1, 2, None]}, rs.Schema({"n": rs.Scalar("int64")}))
    rs.make(source, quick_path / "out", name="data")
    document = json.loads((quick_path / "out" / "recordsmith.json").read_text())
    shards = [shard["file"] for split in document["splits"].values() for shard in split["shards"]]
    assert sorted(os.listdir(quick_path / "out")) == sorted([*shards, *document["made"]["files"], "recordsmith.json"])


def test_what_belonged_to_the_old_dataset_goes_and_all_else_stays(quick_path: Path):
    out = quick_path / "out"
    texts = Columns({"text": ["a b", "b"] * 9, "n": [*range(17), None]},
                    rs.Schema({"text": rs.Text(), "n": rs.Scalar("int64")}))  # fmt: skip
    rs.make(texts, out, name="old", preprocess=rs.preprocessing.VocabularyIds("text", 9), shards=3)
    old = set(os.listdir(out))
    assert {"vocabulary.text.json", "rejected.jsonl"} <= old
    (out / "README.md").write_text("about my data")
    (out / "folder").mkdir()
    (out / "folder" / "file").write_text("mine")
    rs.make(numbers(50), out, name="new", overwrite=True)
    rs.make(numbers(50), quick_path / "clean", name="new")
    left = file_digests(out)
    assert left.pop("README.md")
    assert left.pop("folder/file")
    assert left == file_digests(quick_path / "clean")


def older_dataset(out: Path) -> Path:
    out.mkdir()
    (out / "data-train.tfrecord-00000-of-00009").write_bytes(b"older")
    (out / "data-old.labels.txt").write_text("not ours to remove")
    return out


def test_a_dataset_in_the_way_of_another_is_replaced_whole_even_if_killed_meanwhile(quick_path: Path):
    """Killed at every call of the last part of the run, over an older dataset, and resumed."""
    with nursery() as start:
        answer = start("words", quick_path / "whole").wait()
        assert answer["error"] is None
        expected = file_digests(quick_path / "whole")
        calls = start("words", older_dataset(quick_path / "counted"), overwrite=True).wait()["calls"]
        for number in range(8):
            out = older_dataset(quick_path / str(number))
            killed = start("words", out, overwrite=True, kill_at=calls - 120 + 15 * number).wait()
            assert killed["status"] == -9
            assert start("words", out, resume=True).wait()["error"] is None
            found = file_digests(out)
            assert found.pop("data-old.labels.txt")
            assert found == expected


def test_the_older_dataset_can_be_read_until_the_move_begins(quick_path: Path):
    out = quick_path / "out"
    rs.make(numbers(30), out, name="old")

    def look(progress: Any) -> None:
        assert sorted(int(row["n"]) for row in rs.open(out)) == list(range(30)), progress

    rs.make(numbers(500), out, name="new", shards=3, overwrite=True, on_progress=look)
    assert len(rs.open(out)) == 500


@pytest.mark.parametrize("name", ["x.tfrecord", "x-train.tfrecord-00000-of-00001", "recordsmith.json", "features.json"])
def test_what_could_be_taken_for_a_dataset_is_refused(name: str, quick_path: Path):
    (quick_path / name).write_text("{}")
    with pytest.raises(rs.RecordsmithError, match="already"):
        refuse_existing(str(quick_path))


def test_other_files_are_no_dataset(quick_path: Path):
    for name in ("notes.txt", "photo.jpg", "data.csv", ".hidden"):
        (quick_path / name).write_text("x")
    refuse_existing(str(quick_path))
    refuse_existing(str(quick_path / "nowhere"))


def test_a_disk_that_may_not_be_written(tmp_path: Path):
    with mounted_disk(tmp_path / "disk", "64k") as disk:
        make_read_only(disk)
        with pytest.raises(OSError, match="Read-only") as caught:
            rs.make(numbers(5), disk / "out")
        assert str(disk) in str(caught.value)
