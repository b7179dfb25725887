"""Splits that a source has are kept by make, copy, export and back, and fitted on training rows only."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recordsmith as rs
from recordsmith.records.shards import IncompleteShardsWarning, RepeatedFileWarning
from tests.formats.made_sources import rows_of

WORDS = {"train": ["red", "green", "blue"], "validation": ["grey"], "test": ["unseen", "hidden"]}


def _csv(path: Path, words: list[str]) -> None:
    path.with_suffix(".csv").write_text("n,text\n" + "".join(f"{n},{word}\n" for n, word in enumerate(words)))


def _jsonl(path: Path, words: list[str]) -> None:
    lines = [f'{{"n": {n}, "text": "{word}"}}\n' for n, word in enumerate(words)]
    path.with_suffix(".jsonl").write_text("".join(lines))


def _parquet(path: Path, words: list[str]) -> None:
    pq.write_table(pa.table({"n": range(len(words)), "text": words}), path.with_suffix(".parquet"))


def _tar(path: Path, words: list[str]) -> None:
    with tarfile.open(path.with_suffix(".tar"), "w") as tar:
        for n, word in enumerate(words):
            member = tarfile.TarInfo(f"{n}.text.txt")
            member.size = len(word)
            tar.addfile(member, io.BytesIO(word.encode()))


def _tfrecord(path: Path, words: list[str]) -> None:
    with rs.RecordWriter(path.with_suffix(".tfrecord")) as writer:
        for n, word in enumerate(words):
            writer.write_example({"n": n, "text": word})


WRITERS: dict[str, Callable[[Path, list[str]], None]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "webdataset": _tar,
    "tfrecords": _tfrecord,
}


def filled(folder: Path, kind: str, name: str = "{split}-00000-of-00001") -> Path:
    for split, words in WORDS.items():
        path = folder / name.format(split=split)
        path.parent.mkdir(parents=True, exist_ok=True)
        WRITERS[kind](path, words)
    return folder


def texts(folder: Path, feature: str = "text") -> dict[str, list[Any]]:
    splits = rs.MadeDataset.of_folder(str(folder)).splits
    return {split: sorted(rows_of(folder, split, feature)) for split in splits}


EXPECTED = {split: sorted(words) for split, words in WORDS.items()}


@pytest.mark.parametrize("name", ["{split}-00000-of-00001", "data/{split}", "{split}/part-0", "my_{split}_file"])
@pytest.mark.parametrize("kind", WRITERS)
def test_files_that_are_splits(kind: str, name: str, quick_path: Path) -> None:
    if kind == "tfrecords" and "/" in name:
        pytest.skip("a folder of TFRecords is one level")
    made = rs.make(filled(quick_path / "in", kind, name), quick_path / "out")
    feature = "text.txt" if kind == "webdataset" else "text"
    assert texts(quick_path / "out", feature) == EXPECTED
    assert next(iter(made.splits)) == "train"
    assert made.splits_kept


def test_one_file_or_names_that_say_nothing_are_no_splits(quick_path: Path) -> None:
    filled(quick_path, "csv")
    one = quick_path / "test-00000-of-00001.csv"
    assert list(rs.make(one, quick_path / "a").splits) == ["train"]
    assert list(rs.make(one, quick_path / "b", split="train=0.5,val=0.5").splits) == ["train", "val"]
    for name in ("a.csv", "dev.csv", "test.csv"):
        (quick_path / "c").mkdir(exist_ok=True)
        (quick_path / "c" / name).write_text("x\n1\n")
    assert list(rs.make(quick_path / "c", quick_path / "d").splits) == ["train"]


def test_shards_of_parquet_name_their_split(quick_path: Path) -> None:
    """Hugging Face names files by their split, which may have any name."""
    folder = filled(quick_path / "in", "parquet")
    shutil.copyfile(next(folder.glob("train*")), folder / "unsupervised-00000-of-00001.parquet")
    assert list(rs.make(folder, quick_path / "out").splits) == ["train", "test", "unsupervised", "validation"]


def test_missing_and_repeated_files_of_a_source_are_warned_of(quick_path: Path) -> None:
    for number in (0, 2):
        (quick_path / f"data-{number:05}-of-00003.csv").write_text("x\n1\n")
    with pytest.warns(IncompleteShardsWarning, match=r"1 of 3 \(number 1\)"):
        rs.sources.csv(quick_path)
    with pytest.warns(RepeatedFileWarning, match="1 file is given more than once"):
        rs.sources.csv([quick_path / "data-00000-of-00003.csv", quick_path / "*00000*"])


def test_files_with_and_without_a_split_are_refused(quick_path: Path) -> None:
    filled(quick_path / "in", "csv")
    (quick_path / "in" / "more.csv").write_text("n,text\n1,a\n")
    with pytest.raises(rs.RecordsmithError, match=r"no split for 'more.csv'(.|\n)*merge_splits"):
        rs.make(quick_path / "in", quick_path / "out")
    assert rs.make(quick_path / "in", quick_path / "out", merge_splits=True).rows == 7


@pytest.mark.parametrize("options", [{"split": "train=0.5,test=0.5"}, {"stratify": True}, {"group": "n"}])
def test_dividing_anew_must_be_said(options: dict[str, Any], quick_path: Path) -> None:
    filled(quick_path / "in", "csv")
    source = rs.sources.csv(quick_path / "in", label="text")
    with pytest.raises(rs.RecordsmithError, match=r"already has splits(.|\n)*'train', 'test', 'validation'"):
        rs.make(source, quick_path / "out", **options)
    assert not (quick_path / "out").exists()
    made = rs.make(source, quick_path / "out", split="train=3,test=3", merge_splits=True)
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 3, "test": 3}
    assert not made.splits_kept
    assert list(rs.make(source, quick_path / "one", merge_splits=True).splits) == ["train"]


def test_a_vocabulary_is_fitted_on_the_training_split_of_the_source(quick_path: Path) -> None:
    rs.make(filled(quick_path / "in", "csv"), quick_path / "clean")
    rs.make(quick_path / "clean", quick_path / "ids", preprocess=rs.preprocessing.VocabularyIds("text"))
    assert list(texts(quick_path / "ids", "n")) == ["train", "test", "validation"]
    words = next((quick_path / "ids").glob("*vocabulary*")).read_text()
    assert "red" in words
    assert "unseen" not in words


def folds(folder: Path, **splits: list[str]) -> None:
    """Write splits with names that no file name would be known by."""
    for split, words in splits.items():
        with rs.write(folder, rs.Schema({"text": rs.Text()}), split=split) as writer:
            writer.extend({"text": words})


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "webdataset"])
def test_export_and_back(kind: str, quick_path: Path) -> None:
    folds(quick_path / "in", fold_a=["a", "b"], fold_b=["c"])
    rs.export(quick_path / "in", quick_path / "files", to=kind)
    rs.make(quick_path / "files", quick_path / "back")
    assert texts(quick_path / "back") == {"fold_a": ["a", "b"], "fold_b": ["c"]}
    rs.export(quick_path / "in", quick_path / f"one.{'tar' if kind == 'webdataset' else kind}", split="fold_b")
    one = quick_path / f"one.{'tar' if kind == 'webdataset' else kind}"
    assert texts_of_made(one, quick_path / "one") == {"fold_b": ["c"]}
    assert list(rs.make(one, quick_path / "two", split="train").splits) == ["train"]


def texts_of_made(source: Path, out: Path) -> dict[str, list[Any]]:
    rs.make(source, out)
    return texts(out)


def test_several_datasets_keep_their_splits(quick_path: Path) -> None:
    for name in ("a", "b"):
        folds(quick_path / name, fold_a=[name], fold_b=[name])
    rs.make(rs.sources.tfrecords([quick_path / "a", quick_path / "b"]), quick_path / "out")
    assert texts(quick_path / "out") == {"fold_a": ["a", "b"], "fold_b": ["a", "b"]}


def test_copies_keep_splits_unless_told_otherwise(quick_path: Path) -> None:
    rs.make(filled(quick_path / "in", "csv"), quick_path / "data")
    rs.copy(quick_path / "data", quick_path / "kept")
    assert texts(quick_path / "kept") == EXPECTED
    with pytest.raises(rs.RecordsmithError, match=r"already has splits(.|\n)*merge_splits"):
        rs.copy(quick_path / "data", quick_path / "anew", split="train=0.5,test=0.5")
    assert not (quick_path / "anew").exists()
    copied = rs.copy(quick_path / "data", quick_path / "anew", split="train=0.5,test=0.5", merge_splits=True)
    assert list(copied.splits) == ["train", "test"]
    assert list(rs.copy(quick_path / "data", quick_path / "all", merge_splits=True).splits) == ["train"]
    with pytest.raises(rs.RecordsmithError, match=r"several splits(.|\n)*merge_splits"):
        rs.export(quick_path / "data", quick_path / "all.csv")
    assert rs.export(quick_path / "data", quick_path / "all.csv", merge_splits=True).rows == 6
    assert list(rs.make(quick_path / "all.csv", quick_path / "one").splits) == ["train"]
    one = rs.copy(quick_path / "data", quick_path / "one.tfrecord")
    assert any("several splits are in one file" in text for text in one.warnings)


def test_a_run_that_was_stopped_keeps_the_splits(quick_path: Path) -> None:
    filled(quick_path / "in", "jsonl")
    with pytest.raises(KeyboardInterrupt):
        rs.make(quick_path / "in", quick_path / "out", on_progress=_stopping, workers=1)
    rs.make(quick_path / "in", quick_path / "out", resume=True)
    assert texts(quick_path / "out") == EXPECTED


def _stopping(progress: Any) -> None:
    if progress.rows > 1:
        raise KeyboardInterrupt


def test_one_content_under_two_labels_is_in_one_split(quick_path: Path) -> None:
    rows = [{"x": n, "label": label} for n in range(100) for label in ("cat", "dog")]
    schema = rs.Schema({"x": rs.Scalar("int64"), "label": rs.Label(["cat", "dog"])})
    for stratify in (None, True):
        out = quick_path / f"out{stratify}"
        rs.make(rows, out, schema=schema, split="train=0.5,val=0.3,test=0.2", stratify=stratify)
        found = {split: set(values) for split, values in texts(out, "x").items()}
        assert not found["train"] & found["val"]
        assert not found["train"] & found["test"]
    rs.copy(out, quick_path / "copy", split="train=0.5,test=0.5", merge_splits=True)
    found = {split: set(values) for split, values in texts(quick_path / "copy", "x").items()}
    assert not found["train"] & found["test"]


def test_labels_alone_are_divided(quick_path: Path) -> None:
    rows = [{"label": n % 2} for n in range(100)]
    made = rs.make(rows, quick_path / "out", schema=rs.Schema({"label": rs.Label(2)}), split="train=0.5,test=0.5")
    assert made.splits["train"].rows == 50
