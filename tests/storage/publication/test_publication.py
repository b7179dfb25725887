"""One switch from the old files to the new: who reads in between, who else may write, and what a killed run leaves."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.dataset import find_layout
from recordsmith.dataset.descriptions.schema_source import find_schema
from recordsmith.dataset.index_report import keep_indexes
from recordsmith.making import added_split
from recordsmith.records.shards import files_in
from recordsmith.records.writer import RecordWriter
from recordsmith.storage.atomic_file import write_text_atomically
from recordsmith.storage.publication import FOLDER, Publication, complete, files_in_force, in_force, public_path
from tests.formats.made_sources import file_digests
from tests.storage.publication.failing_runs import SCHEMA, rows, write


class KilledError(BaseException):
    """Stands for the end of the process: nothing may tidy up behind it."""


@pytest.fixture
def kill_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Ends a run, as a kill does, when it has moved so many of its new files."""

    def after(moves: int) -> None:
        replace, moved = os.replace, [0]

        def counted(source: Any, target: Any) -> None:
            if FOLDER not in os.fspath(target):
                if moved[0] == moves:
                    raise KilledError
                moved[0] += 1
            replace(source, target)

        monkeypatch.setattr(os, "replace", counted)

    return after


@pytest.fixture(params=[0, 1, 3, 6])
def interrupted(
    request: pytest.FixtureRequest, tmp_path: Path, kill_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A dataset of 40 rows from 1000, four shards, that one of 40 rows from 0 in five shards has replaced in part."""
    out = tmp_path / "out"
    write(out, 1000, shards=4)
    kill_after(request.param)
    with pytest.raises(KilledError):
        write(out, 0, shards=5, overwrite=True)
    monkeypatch.undo()
    assert (out / FOLDER / "commit.json").exists()
    return out


def numbers(dataset: Any) -> list[int]:
    return sorted(int(row["n"]) for row in dataset)


# --- reading in between ---


def test_the_new_dataset_is_read_whole_and_reading_writes_nothing(interrupted: Path):
    before = file_digests(interrupted)
    for paths in (interrupted, interrupted / "*train*", str(interrupted / "**" / "data-*of*"), [interrupted]):
        assert numbers(rs.open(paths)) == list(range(40)), paths
    assert file_digests(interrupted) == before


def test_every_reader_goes_by_it(interrupted: Path, tmp_path: Path):
    assert rs.open(interrupted).schema == SCHEMA
    assert find_schema(interrupted).schema == SCHEMA
    assert find_schema(str(interrupted / "recordsmith.json")).schema == SCHEMA
    report = rs.check(interrupted)
    assert not [finding for finding in report.findings if finding.code.startswith("F")], report.findings
    assert report.facts is not None
    assert report.facts.records == 40
    rs.copy(interrupted, tmp_path / "copied")
    assert numbers(rs.open(tmp_path / "copied")) == list(range(40))
    assert rs.repair(interrupted, tmp_path / "repaired").ok
    assert numbers(rs.open(tmp_path / "repaired")) == list(range(40))
    assert rs.export(interrupted, tmp_path / "exported.jsonl").rows == 40
    assert rs.make(interrupted, tmp_path / "made").rows == 40
    names = [Path(file).name for file in rs.open(interrupted).files]
    assert names == [f"data-train.tfrecord-0000{number}-of-00005" for number in range(5)]
    for number in range(5):
        assert len(rs.open(interrupted / names[number])) == 8
    with pytest.raises(FileNotFoundError):
        rs.open(interrupted / "data-train.tfrecord-00003-of-00004")


def test_the_next_run_finishes_it(interrupted: Path, tmp_path: Path):
    write(tmp_path / "whole", 0, shards=5)
    with pytest.raises(rs.RecordsmithError, match="already"):
        write(interrupted, 500)
    assert file_digests(interrupted) == file_digests(tmp_path / "whole")


@pytest.mark.parametrize("run", ["make", "copy", "repair", "write another split"])
def test_any_run_finishes_it_first(run: str, interrupted: Path, tmp_path: Path):
    write(tmp_path / "in", 300)
    if run == "make":
        rs.make(tmp_path / "in", interrupted, overwrite=True)
    elif run == "copy":
        rs.copy(tmp_path / "in", interrupted, overwrite=True)
    elif run == "repair":
        rs.repair(tmp_path / "in", interrupted, overwrite=True)
    else:
        write(interrupted, 300, split="test")
    expected = [*range(40), *range(300, 340)] if run == "write another split" else list(range(300, 340))
    assert numbers(rs.open(interrupted)) == expected
    assert not (interrupted / FOLDER).exists()
    listed = json.loads((interrupted / "recordsmith.json").read_text())["splits"]
    shards = {shard["file"] for split in listed.values() for shard in split["shards"]}
    assert {file.name for file in interrupted.glob("*tfrecord*")} == shards, "nothing else is left"


def test_an_export_in_between(tmp_path: Path, kill_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch):
    """data.csv and its description are one: the new rows are never read by the old description."""
    write(tmp_path / "in", 1000)
    rs.export(tmp_path / "in", tmp_path / "data.csv")
    write(tmp_path / "in", 0, overwrite=True)
    kill_after(1)
    with pytest.raises(KilledError):
        rs.export(tmp_path / "in", tmp_path / "data.csv", drop=["text"], overwrite=True)
    monkeypatch.undo()
    for number, source in enumerate([tmp_path / "data.csv", tmp_path / "data*.csv"]):
        made = tmp_path / f"made{number}"
        rs.make(source, made)
        assert numbers(rs.open(made)) == list(range(40))
        assert list(rs.open(made).schema) == ["n", "label"]


def test_fewer_pieces_than_before(tmp_path: Path):
    write(tmp_path / "in", 1000)
    rs.export(tmp_path / "in", tmp_path / "data.csv", shard_size=10)
    rs.export(tmp_path / "in", tmp_path / "data.csv", shard_size="1MB", overwrite=True)
    assert sorted(path.name for path in tmp_path.glob("data*")) == ["data-00000.csv", "data-00000.csv.schema.json"]


def test_a_reader_waits_for_files_that_are_being_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out = tmp_path / "out"
    write(out, 1000, shards=4)
    replace, moving = os.replace, threading.Event()

    def slow(source: Any, target: Any) -> None:
        replace(source, target)
        if FOLDER not in os.fspath(target):
            moving.set()
            time.sleep(0.02)

    monkeypatch.setattr(os, "replace", slow)
    writer = threading.Thread(target=write, args=(out, 0), kwargs={"shards": 4, "overwrite": True})
    writer.start()
    assert moving.wait(60)
    dataset = rs.open(out)
    assert not any(FOLDER in file for file in dataset.files), "they are in their places"
    writer.join()
    assert numbers(dataset) == list(range(40))


def test_a_reader_beside_a_writer_finds_one_of_the_datasets(tmp_path: Path):
    write(tmp_path, 0, shards=2)
    over = threading.Event()

    def overwrite() -> None:
        try:
            for number in range(20):
                write(tmp_path, 0, shards=2 + number % 2, overwrite=True)
        finally:
            over.set()

    writer = threading.Thread(target=overwrite)
    writer.start()
    seen = set()
    while not over.is_set():
        layout = find_layout(tmp_path)
        seen.add(len(layout.files))
        assert len({Path(file).name.rpartition("-")[2] for file in layout.files}) == 1, "shards of one dataset"
    writer.join()
    assert seen <= {2, 3}


# --- what is no dataset ---


def test_an_unfinished_run_is_no_dataset(tmp_path: Path):
    (tmp_path / FOLDER / "shards").mkdir(parents=True)
    (tmp_path / FOLDER / "shards" / "a.tfrecord").write_bytes(b"")
    with pytest.raises(rs.RecordsmithError, match=r"an unfinished run[\s\S]*--resume"):
        rs.open(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "recordsmith-publication", "version": 2, "new": {}, "old": []}',
        '{"format": "recordsmith-publication", "version": 1, "new": {"../a": 1}, "old": []}',
        '{"format": "recordsmith-publication", "version": 1, "new": {}, "old": ["/etc/passwd"]}',
        '{"format": "recordsmith-publication", "version": 1, "new": {}, "old": [".bashrc"]}',
        '{"format": "recordsmith-publication", "version": 1, "new": {"a": -1}, "old": []}',
        '{"format": "recordsmith-publication", "version": 1, "new": {"a": true}, "old": []}',
        '{"format": "recordsmith-publication", "version": 1, "new": {"a\\u0000": 1}, "old": []}',
        '{"format": "recordsmith-publication", "version": 1, "new": {"a": 1}, "old": [["a"]]}',
        "[" * 100_000,
        '{"format": "recordsmith-publication", "version": 1, "new": {"\\ud800": 1}, "old": []}',
    ],
)
def test_a_list_of_files_that_is_none(text: str, tmp_path: Path):
    write(tmp_path, 0)
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "commit.json").write_text(text)
    before = file_digests(tmp_path)
    for use in (lambda: rs.open(tmp_path), lambda: write(tmp_path, 5, overwrite=True), lambda: complete(str(tmp_path))):
        with pytest.raises(rs.RecordsmithError, match="The file list of an interrupted run cannot be read"):
            use()
    (tmp_path / FOLDER / "lock").unlink()
    assert file_digests(tmp_path) == before


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path):
    write(tmp_path / "precious", 0)
    (tmp_path / "out" / FOLDER).mkdir(parents=True)
    (tmp_path / "out" / FOLDER / "shards").symlink_to(tmp_path / "precious")
    name = "data-train.tfrecord-00000-of-00001"
    commit = {"format": "recordsmith-publication", "version": 1, "new": {name: 1}, "old": []}
    (tmp_path / "out" / FOLDER / "commit.json").write_text(json.dumps(commit))
    for use in (lambda: write(tmp_path / "out", 5, overwrite=True), lambda: rs.open(tmp_path / "out")):
        with pytest.raises(rs.RecordsmithError, match="symbolic link"):
            use()
    assert len(rs.open(tmp_path / "precious")) == 40


@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_a_list_of_files_that_is_no_file(kind: str, tmp_path: Path):
    write(tmp_path, 0)
    commit = tmp_path / FOLDER / "commit.json"
    commit.parent.mkdir()
    {"pipe": lambda: os.mkfifo(commit), "folder": commit.mkdir, "link": lambda: commit.symlink_to("/dev/zero")}[kind]()
    with pytest.raises(rs.RecordsmithError, match="The file list of an interrupted run cannot be read"):
        rs.open(tmp_path)


def test_a_finished_file_that_has_vanished_is_said(interrupted: Path):
    for file in (interrupted / FOLDER / "shards").glob("*"):
        file.unlink()
    with pytest.raises(rs.RecordsmithError, match=rf"neither in the output folder nor[\s\S]*Remove .*{FOLDER}"):
        complete(str(interrupted))


# --- one run at a time ---


def test_two_at_once_are_refused_in_words(tmp_path: Path):
    with rs.write(tmp_path, SCHEMA, name="data", split="train") as writer:
        writer.extend(rows(0))
        for other in (
            lambda: write(tmp_path, 5, split="test"),
            lambda: rs.make(rows(0), tmp_path, overwrite=True),
        ):
            with pytest.raises(rs.RecordsmithError, match=r"Another run[\s\S]*Wait"):
                other()
    assert numbers(rs.open(tmp_path)) == list(range(40))


def test_a_writer_that_is_forgotten_gives_the_folder_back(tmp_path: Path):
    writer = rs.write(tmp_path, SCHEMA, name="data")
    with pytest.warns(ResourceWarning):
        del writer
    write(tmp_path, 0)
    assert numbers(rs.open(tmp_path)) == list(range(40))
    assert not (tmp_path / FOLDER).exists()


def test_a_child_process_does_not_remove_what_its_parent_writes(tmp_path: Path):
    with rs.write(tmp_path, SCHEMA, name="data") as writer:
        writer.extend(rows(0))
        child = os.fork()
        if child == 0:
            try:
                writer.discard()
            finally:
                os._exit(0)  # or it would continue as another process that runs tests
        os.waitpid(child, 0)
    assert len(rs.open(tmp_path)) == 40


def test_a_run_that_can_be_resumed_is_not_dropped_by_another(tmp_path: Path):
    def stop(progress: Any) -> None:
        if progress.phase == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rs.make(rows(0), tmp_path / "out", on_progress=stop)
    with pytest.raises(rs.RecordsmithError, match=r"an unfinished run[\s\S]*resume=True"):
        write(tmp_path / "out", 0)
    assert rs.make(rows(0), tmp_path / "out", resume=True).rows == 40


# --- failures ---


def test_a_failure_while_descriptions_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path / "old", 1000, shards=3)
    before = file_digests(tmp_path / "old")

    def full(path: str, text: str) -> None:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(added_split, "write_text_atomically", full)
    for place in ("old", "new"):
        with pytest.raises(OSError, match="No space"):
            write(tmp_path / place, 0, shards=2, overwrite=True)
    assert file_digests(tmp_path / "old") == before
    assert os.listdir(tmp_path / "new") == []


def test_a_folder_in_the_way_of_a_file_is_found_before_the_switch(tmp_path: Path):
    write(tmp_path, 1000, shards=2)
    (tmp_path / "data-train.tfrecord-00002-of-00003").mkdir()
    before = file_digests(tmp_path)
    with pytest.raises(rs.RecordsmithError, match="A folder exists under the name of a file"):
        write(tmp_path, 0, shards=3, overwrite=True)
    assert file_digests(tmp_path) == before
    assert numbers(rs.open(tmp_path)) == list(range(1000, 1040))


def test_what_describes_the_old_dataset_goes_with_it(tmp_path: Path):
    """Descriptions that a compressed split cannot have, and text indexes of shards that are replaced."""
    write(tmp_path, 1000, shards=2)
    for name in ("data-train.tfrecord-00000-of-00002.idx", "mine.idx"):
        (tmp_path / name).write_text("0 19\n")
    write(tmp_path, 0, shards=2, compression="gzip", overwrite=True)
    names = set(os.listdir(tmp_path))
    assert not names & {"features.json", "dataset_info.json", "data-train.tfrecord-00000-of-00002.idx"}
    assert "mine.idx" in names
    assert numbers(rs.open(tmp_path)) == list(range(40))


def test_kept_indexes_of_files_that_are_replaced_go_too(tmp_path: Path):
    write(tmp_path, 1000, shards=3)
    list(keep_indexes(files_in(str(tmp_path))))
    assert len(os.listdir(tmp_path / ".recordsmith")) == 3
    write(tmp_path, 0, shards=2, overwrite=True)
    assert os.listdir(tmp_path / ".recordsmith") == []


@pytest.mark.parametrize("out", ["out.tfrecord", "out"])
def test_a_copy_that_fails_leaves_nothing(out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path / "in", 0)
    before = file_digests(tmp_path)
    monkeypatch.setattr(RecordWriter, "write_frames", lambda *_: (_ for _ in ()).throw(OSError(5, "broken")))
    with pytest.raises(OSError, match="broken"):
        rs.copy(tmp_path / "in", tmp_path / out)
    if out == "out":
        monkeypatch.undo()
        rs.copy(tmp_path / "in", tmp_path / out, resume=True)
        assert numbers(rs.open(tmp_path / "out")) == list(range(40))
    else:
        assert file_digests(tmp_path) == before


def test_a_split_added_to_a_made_dataset_keeps_what_belongs_to_it(tmp_path: Path):
    schema = rs.Schema({"text": rs.Text()})
    texts = [{"text": f"word{n % 3} word{n % 5}"} for n in range(30)]
    rs.make(texts, tmp_path, name="data", schema=schema, preprocess=rs.preprocessing.VocabularyIds("text", 9))
    with rs.write(tmp_path, rs.open(tmp_path).schema, name="data", split="test") as writer:
        writer.add({"text": [1, 2]})
    assert (tmp_path / "vocabulary.text.json").exists()
    assert "vocabulary.text.json" in json.loads((tmp_path / "recordsmith.json").read_text())["made"]["files"]


# --- names ---


def test_where_files_are(tmp_path: Path):
    hidden = tmp_path / FOLDER
    (hidden / "shards").mkdir(parents=True)
    for name in ("a", "b", "old"):
        (tmp_path / name).write_text("old")
    (hidden / "shards" / "a").write_text("new")
    commit = {"format": "recordsmith-publication", "version": 1, "new": {"a": 3, "b": 3}, "old": ["old"]}
    (hidden / "commit.json").write_text(json.dumps(commit))
    assert files_in_force(str(tmp_path)) == {"a": str(hidden / "shards" / "a"), "b": str(tmp_path / "b")}
    assert not os.path.exists(in_force(str(tmp_path / "old")))
    assert public_path(in_force(str(tmp_path / "a"))) == str(tmp_path / "a")
    assert complete(str(tmp_path))
    assert file_digests(tmp_path).keys() == {"a", "b"}
    assert not complete(str(tmp_path))


def test_a_long_name(tmp_path: Path):
    out = str(tmp_path / ("x" * 230 + ".csv"))
    with Publication(out, is_file=True) as publication:
        write_text_atomically(publication.new_file(os.path.basename(out)), "text")
        publication.commit([os.path.basename(out)])
    assert os.listdir(tmp_path) == [os.path.basename(out)]
