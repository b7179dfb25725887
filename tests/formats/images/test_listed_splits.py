"""Splits that text files list, in the layouts that have such files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

import recordsmith as rs
from tests.formats.detection.detection_folders import voc_xml, write_image

BOX = {"name": "cat", "pose": "Left", "truncated": 0, "difficult": 0, "xmin": 5, "ymin": 6, "xmax": 20, "ymax": 16}


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def food101(root: Path) -> None:
    for name in ("pie/1", "pie/2", "soup/1", "soup/3"):
        write_image(root / "images" / f"{name}.jpg", (20, 30))
    put(root / "meta/train.txt", "pie/1\nsoup/1\nsoup/3\n")
    put(root / "meta/test.txt", "pie/2\n")
    put(root / "meta/classes.txt", "pie\nsoup\n")


def darknet(root: Path) -> None:
    for number in range(4):
        write_image(root / f"obj/{number}.jpg", (20, 30))
        put(root / f"obj/{number}.txt", "0 0.5 0.5 0.2 0.3\n")
    put(root / "train.txt", "data/obj/0.jpg\ndata/obj/1.jpg\n/home/me/data/obj/2.jpg\n")
    put(root / "test.txt", "data/obj/3.jpg\n")


def oxford_pets(root: Path) -> None:
    for number in range(4):
        name = f"pug_{number}"
        write_image(root / f"images/{name}.jpg", (20, 30))
        write_image(root / f"annotations/trimaps/{name}.png", (20, 30))
        put(root / f"annotations/xmls/{name}.xml", voc_xml(f"{name}.jpg", (20, 30), [BOX]))
    put(root / "annotations/list.txt", "#Image CLASS-ID\npug_0 1 1 1\n")
    put(root / "annotations/trainval.txt", "pug_0 1 1 1\npug_1 1 1 1\npug_2 1 1 1\n")
    put(root / "annotations/test.txt", "pug_3 1 1 1\n")


def voc_segmentation(root: Path) -> None:
    for number in range(4):
        write_image(root / f"JPEGImages/{number}.jpg", (20, 30))
        mask = root / f"SegmentationClass/{number}.png"
        mask.parent.mkdir(exist_ok=True)
        mask.write_bytes(rs.images.encode_image(np.full((20, 30, 1), number, np.uint8), "png"))
    put(root / "ImageSets/Main/train.txt", "0\n")
    put(root / "ImageSets/Main/test.txt", "1\n")
    put(root / "ImageSets/Segmentation/train.txt", "0\n1\n2\n")
    put(root / "ImageSets/Segmentation/test.txt", "3\n")


def speech_commands(root: Path) -> None:
    for number in range(4):
        path = root / ("yes" if number % 2 else "no") / f"{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, np.zeros(100), 8000)
    put(root / "testing_list.txt", "yes/3.wav\n")


@pytest.mark.parametrize("layout", [food101, darknet, oxford_pets, voc_segmentation, speech_commands])
def test_lists_are_splits(layout, tmp_path):
    layout(tmp_path / "source")
    made = rs.make(tmp_path / "source", tmp_path / "data")
    assert made.splits_kept
    assert [split.rows for split in made.splits.values()] == [3, 1]
    names = {str(row.get("filename", row.get("image/filename"))) for row in rs.open(tmp_path / "data")}
    assert not any("trimaps" in name or "Segmentation" in name for name in names)
    if layout is food101:
        assert made.splits["test"].classes == {"pie": 1, "soup": 0}


def test_a_list_of_something_else_is_no_split(tmp_path):
    food101(tmp_path / "source")
    for name in ("train", "test"):
        put(tmp_path / f"source/meta/{name}.txt", "cake/1\ncake/2\npie/1\n" if name == "train" else "cake/3\n")
    assert not rs.make(tmp_path / "source", tmp_path / "data").splits_kept


def test_a_file_in_two_lists_is_an_error(tmp_path):
    food101(tmp_path / "source")
    put(tmp_path / "source/meta/test.txt", "pie/2\npie/1\n")
    with pytest.raises(rs.RecordsmithError, match="Two lists have the same file, in the splits train and test"):
        rs.make(tmp_path / "source", tmp_path / "data")
