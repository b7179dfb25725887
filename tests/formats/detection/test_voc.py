"""Pascal VOC folders through `rs.make` and back, and what is said about broken ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.formats.detection.detection_folders import SIZES, rejects_of, voc_xml, write_image

NAMES = ("dog", "cat", "aeroplane")


def write_voc(root: Path, count: int = 8) -> dict[str, list[dict[str, Any]]]:
    """A folder as VOC2012 has it, and what is in its annotations."""
    rng = np.random.default_rng(4)
    written = {}
    for number in range(count):
        height, width = SIZES[number % len(SIZES)]
        name = f"2007_{number:06}"
        objects = []
        for _ in range(int(rng.integers(0, 4))):
            left, top = int(rng.integers(1, width // 2)), int(rng.integers(1, height // 2))
            flags = {"truncated": int(rng.integers(0, 2)), "difficult": int(rng.integers(0, 2))}
            corner = {"xmax": int(rng.integers(left, width + 1)), "ymax": int(rng.integers(top, height + 1))}
            box = {"xmin": left, "ymin": top, **corner}
            objects.append({"name": str(rng.choice(NAMES)), "pose": "Left", **flags, **box})
        written[name] = objects
        write_image(root / "JPEGImages" / f"{name}.jpg", (height, width), number)
        path = root / "Annotations" / f"{name}.xml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(voc_xml(f"{name}.jpg", (height, width), objects))
    return written


def rows_of(path: Path, split: str | None = None) -> dict[str, dict[str, Any]]:
    opened = rs.open(path) if split is None else rs.open(path, split=split)
    return {row["image/source_id"]: row for row in opened}


@pytest.mark.source("voc", keeps="boxes, classes, difficult, truncated, pose, splits of ImageSets/Main")
def test_values_and_splits(tmp_path):
    root = tmp_path / "VOCdevkit" / "VOC2012"
    written = write_voc(root)
    names = sorted(written)
    lists = root / "ImageSets" / "Main"
    lists.mkdir(parents=True)
    (lists / "train.txt").write_text("\n".join(names[:5]) + "\n")
    (lists / "val.txt").write_text("\n".join(names[5:7]) + "\n")
    (lists / "trainval.txt").write_text("\n".join(names[:7]) + "\n")
    (lists / "dog_train.txt").write_text(f"{names[0]} -1\n")
    made = rs.make(tmp_path / "VOCdevkit", tmp_path / "data")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 5, "val": 2}
    assert any("1 image in no list of a split" in warning for warning in made.warnings)
    for split, ids in (("train", names[:5]), ("val", names[5:7])):
        rows = rows_of(tmp_path / "data", split)
        assert sorted(rows) == ids
        for name, row in rows.items():
            height, width = row["image/height"], row["image/width"]
            expected = [
                [(one["ymin"] - 1) / height, (one["xmin"] - 1) / width, one["ymax"] / height, one["xmax"] / width]
                for one in written[name]
            ]
            np.testing.assert_array_equal(row["image/object/bbox"], np.array(expected, np.float32).reshape(-1, 4))
            assert row["image/object/class/text"] == [one["name"] for one in written[name]]
            assert row["image/object/view"] == ["Left"] * len(written[name])
            for flag in ("difficult", "truncated"):
                assert row[f"image/object/{flag}"].tolist() == [one[flag] for one in written[name]]
            assert row["image/encoded"] == (tmp_path / "VOCdevkit" / row["image/filename"]).read_bytes()


def test_folders_that_are_splits(tmp_path):
    for split in ("train", "valid"):
        for number in range(3):
            write_image(tmp_path / "in" / split / f"{split}{number}.jpg", (40, 50), number)
            box = {
                "name": "cat",
                "pose": "",
                "truncated": 0,
                "difficult": 0,
                "xmin": 1,
                "ymin": 1,
                "xmax": 50,
                "ymax": 40,
            }
            xml = voc_xml(f"{split}{number}.jpg", (40, 50), [box])
            (tmp_path / "in" / split / f"{split}{number}.xml").write_text(xml)
    made = rs.make(tmp_path / "in", tmp_path / "data")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 3, "valid": 3}
    row = next(iter(rs.open(tmp_path / "data", split="train")))
    assert row["image/object/bbox"].tolist() == [[0, 0, 1, 1]]


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE annotation [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><annotation><object><name>&c;</name></object></annotation>'
)
BOX = {"name": "cat", "pose": "", "truncated": 0, "difficult": 0, "xmin": 1, "ymin": 1, "xmax": 50, "ymax": 40}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "DOCTYPE"),
        (BOMB.encode("utf-16"), "DOCTYPE"),
        ("<annotation><object>", "not valid XML"),
        ("", "not valid XML"),
        ("<svg/>", "not a Pascal VOC annotation"),
        (voc_xml("../../../etc/passwd", (40, 50), [BOX]), "leaves the folder"),
        (voc_xml("other.jpg", (40, 50), [BOX]), "image is missing"),
        (voc_xml("3.jpg", (41, 50), [BOX]), "is for an image of"),
        (voc_xml("3.jpg", (40, 50), [{**BOX, "xmax": "nan"}]), "not a number of pixels"),
        (voc_xml("3.jpg", (40, 50), [{**BOX, "xmax": "9" * 400}]), "not a number of pixels"),
        (voc_xml("3.jpg", (40, 50), [{**BOX, "xmax": 80}]), "'inside'"),
        (voc_xml("3.jpg", (40, 50), [{**BOX, "xmin": 45, "xmax": 20}]), "'order'"),
        (voc_xml("3.jpg", (40, 50), [{**BOX, "name": ""}]), "An object has no name"),
        (voc_xml("3.jpg", (40, 50), [{**BOX, "difficult": "very"}]), "difficult is neither 0 nor 1: 'very'"),
    ],
    ids=range(14),
)
def test_hostile_and_broken_annotations_are_rejects(tmp_path, text, reason):
    for number in range(6):
        write_image(tmp_path / "in" / "JPEGImages" / f"{number}.jpg", (40, 50), number)
        path = tmp_path / "in" / "Annotations" / f"{number}.xml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(voc_xml(f"{number}.jpg", (40, 50), [BOX]))
    stem = "gone" if "leaves" in reason or "missing" in reason else "3"
    (tmp_path / "in" / "Annotations" / f"{stem}.xml").write_bytes(text if isinstance(text, bytes) else text.encode())
    made = rs.make(tmp_path / "in", tmp_path / "data", max_rejects=1.0)
    (reject,) = rejects_of(made.rejected_path)
    assert reason in reject["reason"], reject
    assert f"{stem}." in reject["source"], reject


def test_flags_in_words_or_missing(tmp_path):
    flags = ({"difficult": "True", "truncated": "Unspecified"}, {"difficult": "0", "truncated": "1"})
    write_image(tmp_path / "d/1.jpg", (40, 50))
    xml = voc_xml("1.jpg", (40, 50), [{**BOX, **words} for words in flags])
    (tmp_path / "d/1.xml").write_text(xml.replace("<difficult>0</difficult>", ""))
    rs.make(tmp_path / "d", tmp_path / "out")
    (row,) = rs.open(tmp_path / "out")
    assert row["image/object/difficult"].tolist() == [1, 0]
    assert row["image/object/truncated"].tolist() == [0, 1]


def test_pixels_counted_from_0(tmp_path):
    box = {"name": "cat", "pose": "", "truncated": 0, "difficult": 0, "xmin": 0, "ymin": 6, "xmax": 20, "ymax": 16}
    write_image(tmp_path / "d/1.jpg", (20, 40))
    (tmp_path / "d/1.xml").write_text(voc_xml("1.jpg", (20, 40), [box]))
    made = rs.make(tmp_path / "d", tmp_path / "out")
    assert any("pixels are counted from 0" in warning for warning in made.warnings)
    assert np.allclose(rs.open(tmp_path / "out")[0]["image/object/bbox"], [[6 / 20, 0, 16 / 20, 20 / 40]])
