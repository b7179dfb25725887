"""Images and sounds that a table lists."""

from __future__ import annotations

import gc
import io
import json
import os
import warnings
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import PIL.Image
import pytest
import soundfile

import recordsmith as rs
from tests.formats.detection.detection_folders import rejects_of, write_image


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_sound(path: Path, seed: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.random.default_rng(seed).normal(scale=0.1, size=200 + seed), 8000)


def rows_of(made: rs.MadeDataset, split: str = "train") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [dict(row) for row in rs.open(made.folder, split=split)]
    return sorted(rows, key=lambda row: str(row["filename"]))


@pytest.mark.source("imagefolder, audiofolder (metadata.csv, .jsonl)", keeps="files byte for byte, all columns, splits")
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_folder_of_hugging_face(form, tmp_path):
    root = tmp_path / "in"
    for split in ("train", "test"):
        rows: list[dict[str, Any]] = [
            {"file_name": f"in side/{n} ü.PNG", "caption": f"{split}, {n}", "n": n} for n in range(3)
        ]
        for row in rows:
            write_image(root / split / "in side" / f"{row['n']}.png", (10, 12), int(row["n"]))
            os.rename(root / split / "in side" / f"{row['n']}.png", root / split / str(row["file_name"]))
        lines = [json.dumps(row) for row in rows]
        if form == "csv":
            lines = ["file_name,caption,n", *(f'{row["file_name"]},"{row["caption"]}",{row["n"]}' for row in rows)]
        put(root / split / f"metadata.{form}", "\n".join(lines) + "\n")
    made = rs.make(root, tmp_path / "out")
    assert made.splits_kept
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # datasets leaves files open
        theirs = datasets.load_dataset("imagefolder", data_dir=str(root), cache_dir=str(tmp_path / "cache"))
        gc.collect()
    for split in ("train", "test"):
        ours = rows_of(made, split)
        assert len(ours) == len(theirs[split]) == 3
        for row, their in zip(ours, theirs[split], strict=True):
            assert (row["caption"], row["n"]) == (their["caption"], their["n"])
            np.testing.assert_array_equal(PIL.Image.open(io.BytesIO(row["image"])), their["image"])
            assert row["image"] == (root / row["filename"]).read_bytes()


@pytest.mark.source(
    "sounds with a table (LJSpeech, Common Voice, ESC-50)", keeps="sounds byte for byte, all columns, splits"
)
def test_sounds_with_a_table(tmp_path):
    lj, voice, esc = (tmp_path / name for name in ("lj", "voice", "esc"))
    for number in range(4):
        write_sound(lj / f"LJSpeech-1.1/wavs/LJ001-{number:04}.wav", number)
        write_sound(voice / f"clips/{number}.mp3", 500 + number)
        write_sound(esc / f"audio/fold{number % 2}/1-{number}.wav", number)
    put(lj / "LJSpeech-1.1/metadata.csv", "".join(f'LJ001-{n:04}|"One, {n}|one\n' for n in range(4)))
    for split, numbers in {"train": [0, 1], "test": [2], "validated": [0, 1, 2]}.items():
        put(voice / f"{split}.tsv", "id\tpath\tsentence\n" + "".join(f"c\t{n}.mp3\tWört {n}\n" for n in numbers))
    put(esc / "meta/esc50.csv", "filename,target\n" + "".join(f"1-{n}.wav,{n}\n" for n in range(4)))
    made = rs.make(lj, tmp_path / "out_lj")
    assert [row["column_2"] for row in rows_of(made)] == [f'"One, {n}' for n in range(4)]
    assert rows_of(made)[2]["audio"] == (lj / "LJSpeech-1.1/wavs/LJ001-0002.wav").read_bytes()
    made = rs.make(voice, tmp_path / "out_voice")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 2, "test": 1}
    assert "validated.tsv" in made.warnings[0]
    assert "1 file in no row" in made.warnings[1]
    made = rs.make(esc, tmp_path / "out_esc", label="target")
    assert [int(row["target"]) for row in rows_of(made)] == [0, 2, 1, 3]  # those of fold0, and then those of fold1


def test_a_table_of_kaggle(tmp_path):
    root = tmp_path / "in"
    for number in range(4):
        write_image(root / f"train_images/00{number}.jpg", (10, 12), number)
    write_image(root / "test_images/009.jpg", (10, 12), 9)
    put(root / "train.csv", "image_id,label\n" + "".join(f"00{n},{n % 2}\n" for n in range(4)))
    put(root / "sample_submission.csv", "image_id,label\n009,0\n")
    made = rs.make(root, tmp_path / "out", label="label")
    assert [int(row["label"]) for row in rows_of(made)] == [0, 1, 0, 1]
    assert list(rs.open(made.folder).schema) == ["image", "label", "filename"]
    assert made.warnings == ("1 file in no row of 'train.csv': left out.",)


def test_what_cannot_be_read_is_a_reject(tmp_path):
    root = tmp_path / "in"
    for number in range(30):
        write_image(root / f"{number}.png", (10, 12), number)
    (root / "bad.png").write_bytes(b"no image")
    write_image(tmp_path / "secret.png", (10, 12))
    names = [
        *(f"{number}.png" for number in range(30)),
        "bad.png",
        "gone.png",
        "../secret.png",
        str(tmp_path / "secret.png"),
    ]
    put(root / "metadata.csv", "file_name,n\n" + "".join(f"{name},{n}\n" for n, name in enumerate(names)))
    made = rs.make(root, tmp_path / "out")
    assert made.rows == 30
    found = {reject["value"]: reject["reason"] for reject in rejects_of(made.rejected_path)}
    assert found["gone.png"] == "The file is missing."
    assert found["../secret.png"] == found[names[-1]] == "The path of the file leaves the folder."
    assert "not a JPEG" in found["bad.png"]
    assert f"{root}/metadata.csv, line 33" in {reject["source"] for reject in rejects_of(made.rejected_path)}


def test_a_table_of_boxes_is_refused_with_lines_that_run(tmp_path):
    for number in range(3):
        write_image(tmp_path / f"in/{number}.jpg", (20, 40), number)
    boxes = [f"{number}.jpg,40,20,{name},4,2,20,10" for number in range(3) for name in ("cat", "dog")]
    put(tmp_path / "in/_annotations.csv", "\n".join(["filename,width,height,class,xmin,ymin,xmax,ymax", *boxes]))
    with pytest.raises(rs.RecordsmithError, match="a row for each box") as caught:
        rs.make(tmp_path / "in", tmp_path / "out")
    lines = str(caught.value).partition("pass the rows:")[2].replace("\n    ", "\n")
    exec(lines.replace('"data"', repr(str(tmp_path / "made"))), {"rs": rs})
    row = rs.open(tmp_path / "made")[0]
    np.testing.assert_allclose(row["objects/bbox"], [[0.1, 0.1, 0.5, 0.5]] * 2)
    assert row["objects/label"].tolist() == [0, 1]


def test_several_tables_must_be_chosen_from(tmp_path):
    write_image(tmp_path / "in/1.jpg", (10, 12))
    for name in ("a", "b"):
        put(tmp_path / f"in/{name}.csv", f"file,{name}\n1.jpg,x\n")
    with pytest.raises(rs.RecordsmithError, match=r"(?s)Several tables list.*'a.csv', 'b.csv'.*--table NAME"):
        rs.make(tmp_path / "in", tmp_path / "out")
    made = rs.make(rs.sources.listed(tmp_path / "in", table="b.csv"), tmp_path / "out")
    assert rs.open(made.folder)[0]["b"] == "x"
