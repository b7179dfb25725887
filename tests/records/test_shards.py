"""What names say about files, and which files a path stands for."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.records.shards import (
    IncompleteShardsWarning,
    ShardName,
    files_in,
    looks_like_tfrecord,
    parse_shard_name,
    resolve_files,
    warn_if_incomplete,
)


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("pets-train.tfrecord-00003-of-00010", ShardName("pets-train.tfrecord", "train", 3, 10)),
        ("data-00000-of-00012.gz", ShardName("data.gz", None, 0, 12)),
        ("data_tfrecord-00011-of-00012.gz", ShardName("data_tfrecord.gz", None, 11, 12)),
        ("train-00001-of-00008", ShardName("train", "train", 1, 8)),
        (
            "golden.training_examples.tfrecord.gz-00000-of-00003",
            ShardName("golden.training_examples.tfrecord.gz", "training", 0, 3),
        ),
        ("a-000000-of-123456", ShardName("a", None, 0, 123456)),
        ("x-0-of-3", ShardName("x-0-of-3", None)),
        ("iris.tfrecords", ShardName("iris.tfrecords", None)),
        ("validation.tfrecord", ShardName("validation.tfrecord", "validation")),
        ("my_test_set.tfrecord", ShardName("my_test_set.tfrecord", "test")),
        ("constraints.tfrecord", ShardName("constraints.tfrecord", None)),
        ("TRAIN.tfrecord", ShardName("TRAIN.tfrecord", "train")),
        ("pretrain-test-00000-of-00001", ShardName("pretrain-test", "test", 0, 1)),
    ],
)
def test_names(name: str, parsed: ShardName):
    assert parse_shard_name(name) == parsed


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a.tfrecord", True),
        ("a.tfrecords", True),
        ("a.TFRecord", True),
        ("a.tfrec", True),
        ("a.record", True),
        ("adult_test.recordio", True),
        ("adult_test.recordio.gz", True),
        ("a.tfrecord.gz", True),
        ("train-00000-of-00008", True),
        ("a.tfrecord.gz-00000-of-00003", True),
        ("data-00000-of-00012.gz", True),
        ("data-00000-of-00012.json", False),
        ("data-00000-of-00012.parquet", False),
        ("a.tfrecord.idx", False),
        ("a.tfindex", False),
        ("labels.txt", False),
        ("a.gz", False),
        ("README.md", False),
        ("dataset_info.json", False),
    ],
)
def test_which_names_are_those_of_tfrecords(name: str, is_one: bool):  # noqa: FBT001 - a table of answers
    assert looks_like_tfrecord(name) is is_one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.tfrecord", "a.tfrecord", "c-00001-of-00002", "c-00000-of-00002", "README.md", ".hidden.tfrecord"):
        (tmp_path / name).touch()
    (tmp_path / "sub.tfrecord").mkdir()
    (tmp_path / ".recordsmith").mkdir()
    return tmp_path


def names(files: list[str]) -> list[str]:
    return [os.path.basename(file) for file in files]


def test_the_files_of_a_folder(folder: Path):
    assert names(files_in(str(folder))) == ["a.tfrecord", "b.tfrecord", "c-00000-of-00002", "c-00001-of-00002"]


def test_what_paths_stand_for(folder: Path):
    assert resolve_files(folder / "a.tfrecord") == [str(folder / "a.tfrecord")]
    assert resolve_files(str(folder)) == [str(folder)]
    assert names(resolve_files(folder / "*.tfrecord")) == ["a.tfrecord", "b.tfrecord"]
    assert names(resolve_files(folder / "c-?????-of-00002")) == ["c-00000-of-00002", "c-00001-of-00002"]
    # A list keeps its order; each glob in it is sorted.
    listed = resolve_files([folder / "c-*", str(folder / "b.tfrecord"), folder / "a.tfrecord"])
    assert names(listed) == ["c-00000-of-00002", "c-00001-of-00002", "b.tfrecord", "a.tfrecord"]
    assert names(resolve_files(iter([folder / "b.tfrecord"]))) == ["b.tfrecord"]


def test_a_glob_through_folders(folder: Path):
    (folder / "sub.tfrecord" / "deep.tfrecord").touch()
    assert names(resolve_files(folder / "**" / "*.tfrecord")) == ["a.tfrecord", "b.tfrecord", "deep.tfrecord"]


def test_a_file_whose_name_looks_like_a_glob(tmp_path: Path):
    (tmp_path / "a[1].tfrecord").touch()
    assert names(resolve_files(tmp_path / "a[1].tfrecord")) == ["a[1].tfrecord"]


def test_what_is_not_there_is_said_with_what_is(folder: Path):
    with pytest.raises(FileNotFoundError, match="no such file or folder") as caught:
        resolve_files(folder / "a.tfrecrod")
    assert "Did you mean 'a.tfrecord'?" in caught.value.__notes__[0]
    with pytest.raises(FileNotFoundError, match="No file matches") as caught:
        resolve_files(folder / "*.parquet")
    assert "'a.tfrecord'" in caught.value.__notes__[0]
    with pytest.raises(FileNotFoundError) as caught:
        resolve_files(folder / "no" / "such")
    assert "cannot be read" in caught.value.__notes__[0]
    with pytest.raises(rs.RecordsmithError, match="list of files is empty"):
        resolve_files([])


def test_missing_shards_are_warned_of():
    whole = [f"d/a-{shard:05}-of-00004" for shard in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_incomplete(whole)
        warn_if_incomplete([*whole, "d/b.tfrecord"])
        warn_if_incomplete([])
    with pytest.warns(IncompleteShardsWarning, match=r"'d/a' are missing: 1 of 4 \(number 2\)"):
        warn_if_incomplete([whole[0], whole[1], whole[3]])
    with pytest.warns(IncompleteShardsWarning, match=r"3 of 4 \(numbers 0, 1, 2\)"):
        warn_if_incomplete(whole[3:])
    with pytest.warns(IncompleteShardsWarning, match=r"99 of 100 \(numbers 1, 2, 3, 4, 5, \.\.\.\)"):
        warn_if_incomplete(["x-00000-of-00100"])


def test_sets_are_told_apart_by_folder_name_and_count():
    with pytest.warns(IncompleteShardsWarning) as caught:
        warn_if_incomplete(["d/a-00000-of-00002", "e/a-00001-of-00002"])
    assert len(caught) == 2
