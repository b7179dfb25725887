"""Plain text: folders whose files are rows, and files whose lines are rows."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import recordsmith as rs
from recordsmith.formats.tables import lines
from recordsmith.formats.text_files import source as text_source
from tests.formats.loaded_rows import stored_rows


def put(folder: Path, texts: Mapping[str, bytes | str]) -> Path:
    for name, content in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        if name.endswith(".gz"):
            data = gzip.compress(data)
        if name.endswith(".zst"):
            with pa.CompressedOutputStream(str(path), "zstd") as file:
                file.write(data)
        else:
            path.write_bytes(data)
    return folder


REVIEWS = {
    f"{split}/{kind}/{number}_{number}.txt": f"né {split} {kind} {number}\nsecond line\n"
    for split in ("train", "test")
    for kind in ("neg", "pos")
    for number in range(5)
}


@pytest.mark.source("folders of text files", keeps="the text of each file, class folders as labels, file names, splits")
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_class_folders_and_splits(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(text_source, "_CHUNK_FILES", 3)
    root = put(tmp_path / "aclImdb", {name + suffix: text for name, text in REVIEWS.items()})
    put(root, {"README.txt": "about it", "train/urls.txt": "http://a\n", "imdb.vocab": "the\n"})
    made = rs.make(root, tmp_path / "made", shuffle=False)
    assert [word for word in made.warnings if "left out" in word] == [
        "1 file in no class folder left out: 'train/urls.txt'."
    ]
    for split in ("train", "test"):
        opened = rs.open(tmp_path / "made", split=split)
        assert opened.schema["label"] == rs.Label(["neg", "pos"])
        rows = {row["filename"].removesuffix(suffix): (row["text"], int(row["label"])) for row in opened}
        expected = {name: (text, int("pos" in name)) for name, text in REVIEWS.items() if name.startswith(split)}
        assert rows == expected
    assert rs.open(tmp_path / "made", split="train")[0]["filename"] == f"train/neg/0_0.txt{suffix}"


def test_the_folder_of_imdb_as_it_is_unpacked(tmp_path):
    files = {f"aclImdb/{name}": text for name, text in REVIEWS.items()}
    extra = {"imdbEr.txt": "0.1\n", "train/urls_pos.txt": "http://a\n", "train/unsup/0_0.txt": "no label"}
    root = put(tmp_path / "source", files | {f"aclImdb/{name}": text for name, text in extra.items()})
    made = rs.make(root, tmp_path / "made")
    assert {name: split.classes for name, split in made.splits.items()} == {
        split: {"neg": 5, "pos": 5} for split in ("train", "test")
    }
    assert "3 files in no class folder left out" in made.warnings[0]


def test_a_folder_without_classes_has_a_row_per_file(tmp_path):
    source = rs.sources.text(put(tmp_path, {"b.txt": "two\n", "a.txt": "\ufeffone", "empty.txt": ""}))
    assert stored_rows(source).rows == [
        {"text": "one", "filename": "a.txt"},
        {"text": "two\n", "filename": "b.txt"},
        {"text": "", "filename": "empty.txt"},
    ]
    assert (source.row_count, source.label, source.provenance) == (3, None, ("filename",))


@pytest.mark.source("text files by line", keeps="every line that is not empty, splits in file names")
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_lines(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "WINDOW", 64)
    texts = {split: [f"né {split} {number}" for number in range(40)] for split in ("train", "test")}
    for split, rows in texts.items():
        put(tmp_path / "corpus", {f"{split}.txt{suffix}": "\ufeff" + "\r\n".join([*rows, "", "  ", "end"])})
    rs.make(tmp_path / "corpus", tmp_path / "made", shuffle=False)
    for split, rows in texts.items():
        assert [row["text"] for row in rs.open(tmp_path / "made", split=split)] == [*rows, "end"]
    stored = stored_rows(rs.sources.text(tmp_path / "corpus" / f"train.txt{suffix}"))
    assert stored.places[-1] == f"{tmp_path}/corpus/train.txt{suffix}, line 43"
    assert len(rs.sources.text(tmp_path / "corpus", per="file").schema()) == 2


def test_what_is_no_text_is_a_reject(tmp_path, monkeypatch):
    monkeypatch.setattr(text_source, "LONGEST_ROW", 100)
    put(tmp_path, {"a.txt": b"caf\xe9", "b.txt": "good", "c.txt.gz": b"x" * 1000})
    stored = stored_rows(rs.sources.text(tmp_path))
    assert [row["text"] for row in stored.rows] == ["good"]
    assert [(Path(reject.source).name, reject.reason) for reject in stored.rejects] == [
        ("a.txt", "This is not utf-8 text: unexpected end of data at byte 3."),
        ("c.txt.gz", "The text is larger than 0 MB."),
    ]
    latin = stored_rows(rs.sources.text(tmp_path / "a.txt", encoding="latin-1"))
    assert latin.rows == [{"text": "café"}]
    put(tmp_path, {"lines.txt": b"one\ncaf\xe9\nthree"})
    stored = stored_rows(rs.sources.text(tmp_path / "lines.txt"))
    assert ([row["text"] for row in stored.rows], len(stored.rejects)) == (["one", "three"], 1)


def test_options_that_cannot_be(tmp_path):
    put(tmp_path, {"a.txt": "one"})
    with pytest.raises(rs.PipelineError, match="Did you mean 'line'"):
        rs.sources.text(tmp_path, per="lines")  # type: ignore[arg-type]
    with pytest.raises(rs.PipelineError, match="Unknown encoding"):
        rs.sources.text(tmp_path, encoding="utf-9")
    with pytest.raises(rs.RecordsmithError, match="no text files"):
        rs.sources.text(put(tmp_path / "b", {"a.csv": "x"}))
