"""What the folders of images mean: classes, splits, neither, or a form of annotations that is refused by its name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.formats.source import Source
from recordsmith.images import encode_image
from recordsmith.making.sources.detect import kind_of, source_for
from tests.formats.made_sources import rows_of

PHOTO = [encode_image(np.full((8, 8, 3), n, np.uint8), "png") for n in range(64)]
GREY = encode_image(np.zeros((8, 8, 1), np.uint8), "png")
YOLO = b"0 0.5 0.5 0.25 0.25\n3 0.1 0.2 0.3 0.4\n"
VOC = b"<annotation><filename>1.png</filename><object><name>cat</name></object></annotation>"
LABELME = json.dumps({"version": "5", "shapes": [], "imagePath": "1.png", "imageHeight": 8}).encode()
COCO = json.dumps({"images": [{"file_name": "1.png"}], "annotations": [], "categories": []}).encode()
CVAT = b'<?xml version="1.0"?><annotations><image id="0" name="1.png"><box label="cat"/></image></annotations>'
YAML = b"path: ../data\ntrain: images/train\nval: images/val\nnames: [cat, dog]\n"


def put(folder: Path, *names: str, **contents: bytes) -> Path:
    """Write images of different content under some names, and other files by name."""
    for number, name in enumerate(names):
        _write(folder / name, PHOTO[number % len(PHOTO)])
    for name, data in contents.items():
        _write(folder / name, data)
    return folder


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def numbered(*folders: str, count: int = 4) -> list[str]:
    return [f"{folder}/{number}.png" for folder in folders for number in range(count)]


def classes_of(source: Source) -> tuple[str, ...]:
    label = source.schema()["label"]
    assert isinstance(label, rs.Label)
    return label.names


def annotated(images: list[str], folder: str | None, ending: str, data: bytes) -> dict[str, bytes]:
    """A file for each image: in another folder, or beside it."""
    found = {}
    for name in images:
        place, base = os.path.split(name)
        found[f"{place if folder is None else folder}/{base.removesuffix('.png')}{ending}"] = data
    return found


REFUSED = {
    "VOC": (numbered("JPEGImages"), annotated(numbered("JPEGImages"), "Annotations", ".xml", VOC), "Pascal VOC"),
    "VOC beside": (numbered("pics"), annotated(numbered("pics"), None, ".xml", VOC), "Pascal VOC"),
    "VOC with masks": (
        numbered("JPEGImages", "SegmentationClass"),
        annotated(numbered("JPEGImages"), "Annotations", ".xml", VOC),
        "Pascal VOC",
    ),
    "two VOCs": (
        numbered("VOC2007/JPEGImages", "VOC2012/JPEGImages"),
        annotated(numbered("VOC2007/JPEGImages"), "VOC2007/Annotations", ".xml", VOC),
        "Pascal VOC",
    ),
    "YOLO": (numbered("images"), annotated(numbered("images"), "labels", ".txt", YOLO), "YOLO"),
    "YOLO by other names": (numbered("fotos"), annotated(numbered("fotos"), "kisten", ".txt", YOLO), "YOLO"),
    "YOLO with splits": (
        numbered("images/train", "images/val"),
        annotated(numbered("images/train"), "labels/train", ".txt", YOLO),
        "YOLO",
    ),
    "YOLO as Roboflow has it": (numbered("train/images", "valid/images"), {"data.yaml": YAML}, "YOLO"),
    "YOLO, most files empty": (
        numbered("images"),
        annotated(numbered("images"), "labels", ".txt", b"") | {"labels/3.txt": YOLO},
        "YOLO",
    ),
    "LabelMe": (numbered("."), annotated(numbered("."), None, ".json", LABELME), "LabelMe"),
    "COCO": (numbered("train2017", "val2017"), {"annotations/instances_val2017.json": COCO}, "COCO"),
    "COCO as Roboflow has it": (numbered("train", "valid"), {"train/_annotations.coco.json": COCO}, "COCO"),
    "CVAT": (numbered("images"), {"annotations.xml": CVAT}, "CVAT"),
    "masks": (numbered("images", "masks"), {}, "masks"),
    "masks with splits": (numbered("images/train", "masks/train"), {}, "masks"),
    "masks in splits": (numbered("train/images", "train/masks", "val/images", "val/masks"), {}, "masks"),
    "masks by ending": ([f"a/{n}{end}.png" for n in range(4) for end in ("", "_mask")], {}, "masks"),
    "masks by ending, in a folder": ([*numbered("x"), *(f"y/{n}_mask.png" for n in range(4))], {}, None),
    "masks of other names": (
        [*numbered("images"), *(f"masks/m{n}.png" for n in range(4))],
        {},
        "images and their masks",
    ),
    "labels of other names": (
        [*numbered("img"), *(f"labels/m{n}.png" for n in range(4))],
        {},
        "images and their masks",
    ),
    "a table": (
        [f"{n}.png" for n in range(4)],
        {"labels.csv": b"id,label\n0.png,a\n1.png,b\n2,a\n"},
        "a table next to",
    ),
    "a table next to a folder": (numbered("images"), {"all.csv": b"id,breed\n0,a\n1,b\n2,a\n"}, "a table next to"),
    "a table as Hugging Face has it": (
        numbered("."),
        {"metadata.jsonl": b'{"file_name": "0.png"}\n'},
        "a table next to",
    ),
    "Kaggle's test": (numbered("train/cat", "train/dog", "test"), {}, "'test' have no labels(.|\n)*drop_unlabelled"),
    "a flat val": ([*numbered("train/n01", "train/n02"), "val/ILSVRC_1.png"], {}, "'val' have no labels"),
    "a dummy class": (numbered("train/cat", "train/dog", "test/unknown"), {}, "'test' have no labels"),
    "some splits": (numbered("train", "test", "extra"), {}, "Some folders look like splits"),
    "MVTec": (numbered("bottle/train/good", "bottle/test/bad", "nut/train/good", "nut/test/bad"), {}, "separate"),
}


READ = {"Pascal VOC": "voc", "YOLO": "yolo", "COCO": "coco", "masks": "masks", "a table next to": "listed"}


@pytest.mark.parametrize("case", [case for case, (_, _, words) in REFUSED.items() if words in READ])
def test_annotated_images_are_recognised(case: str, tmp_path: Path) -> None:
    images, others, words = REFUSED[case]
    put(tmp_path / "in", *images, **others)
    kind = READ[str(words)]
    assert source_for(tmp_path / "in").kind == kind
    assert source_for(tmp_path / "in", layout="flat").kind == "images"
    with pytest.raises(rs.RecordsmithError, match=rf"{words}(.|\n)*rs\.sources\.{kind}"):
        rs.sources.images(tmp_path / "in").schema()
    assert "label" not in rs.sources.images(tmp_path / "in", layout="flat").schema()


@pytest.mark.parametrize("case", [case for case, (_, _, words) in REFUSED.items() if words not in READ])
def test_other_forms_are_refused_by_their_names(case: str, tmp_path: Path) -> None:
    images, others, words = REFUSED[case]
    put(tmp_path / "in", *images, **others)
    if words is None:
        rs.sources.images(tmp_path / "in").schema()  # two folders of images of the same names alone say nothing
        return
    for make in (lambda: source_for(tmp_path / "in").schema(), lambda: rs.sources.images(tmp_path / "in").schema()):
        with pytest.raises(rs.RecordsmithError, match=words):
            make()
    with pytest.raises(rs.RecordsmithError, match=words):
        rs.make(tmp_path / "in", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert "label" not in rs.sources.images(tmp_path / "in", layout="flat").schema()
    folders = {name.split("/")[0] for name in images if "/" in name} - {"."}
    if folders:
        taken = rs.sources.images(tmp_path / "in", layout="classes")
        assert {*classes_of(taken)} == folders
        assert taken.splits == ()


def test_masks_are_known_by_what_they_show(tmp_path: Path) -> None:
    put(tmp_path, *numbered("a"), **dict.fromkeys(numbered("b"), GREY))
    with pytest.raises(rs.RecordsmithError, match="masks"):
        rs.sources.images(tmp_path).schema()


CLASSES = {
    "numbered": (numbered("cat", "dog"), {}, ("cat", "dog")),
    "a class called images": (numbered("images", "text"), {}, ("images", "text")),
    "a class called train": (numbered("train", "bus"), {}, ("bus", "train")),
    "a train station": (numbered("train_station", "test_tube"), {}, ("test_tube", "train_station")),
    "masks as a class": ([*numbered("masks"), *numbered("hats", count=9)], {"hats/0.png": GREY}, ("hats", "masks")),
    "in a folder": (numbered("PetImages/Cat", "PetImages/Dog"), {}, ("Cat", "Dog")),
    "in images": (numbered("images/cat", "images/dog"), {}, ("cat", "dog")),
    "one class": (numbered("cat"), {}, ("cat",)),
    "captions": (numbered("cat", "dog"), annotated(numbered("cat", "dog"), None, ".txt", b"a cat"), ("cat", "dog")),
    "rubbish": (numbered("cat", "dog", "__MACOSX", ".ipynb_checkpoints", "@eaDir"), {}, ("cat", "dog")),
    "tables next to folders": (numbered("cat", "dog"), {"labels.csv": b"file,label\ncat/0.png,x\n"}, ("cat", "dog")),
    "another json": (numbered("cat", "dog"), {"info.json": b'{"name": "pets"}'}, ("cat", "dog")),
}


@pytest.mark.parametrize("case", CLASSES)
def test_class_folders_are_taken_as_such(case: str, tmp_path: Path) -> None:
    images, others, classes = CLASSES[case]
    if case == "masks as a class":  # of other sizes than what has the same name
        others = {"hats/0.png": encode_image(np.zeros((9, 9, 3), np.uint8), "png")}
    source = rs.sources.images(put(tmp_path, *images, **others))
    assert classes_of(source) == classes
    assert source.splits == ()


def test_class_folders_with_annotations_are_classes_and_it_is_said(tmp_path: Path) -> None:
    put(tmp_path, *numbered("cat", "dog"), **annotated(numbered("cat", "dog"), "Annotations", ".xml", VOC))
    source = rs.sources.images(tmp_path)
    assert classes_of(source) == ("cat", "dog")
    assert any("Annotations were found" in text for text in source.warnings)


def test_one_class_and_that_is_said(tmp_path: Path) -> None:
    assert any("same label: 'cat'" in text for text in rs.sources.images(put(tmp_path, *numbered("cat"))).warnings)


@pytest.mark.parametrize(
    ("images", "splits", "classes"),
    [
        (numbered("train/cat", "train/dog", "val/cat", "val/dog"), ("train", "val"), ("cat", "dog")),
        (numbered("data/test/cat", "data/train/cat", "data/train/dog"), ("train", "test"), ("cat", "dog")),
        (numbered("cat/train", "cat/test", "dog/train", "dog/test"), ("train", "test"), ("cat", "dog")),
        (numbered("seg_train/seg_train/sea", "seg_test/seg_test/sea"), ("train", "test"), ("sea",)),
        (numbered("Training_Set/a", "Test_Set/a"), ("training", "test"), ("a",)),
        (numbered("train", "test"), ("train", "test"), None),
        (numbered("images/train", "images/val"), ("train", "val"), None),
        (numbered("train/images", "test/images"), ("train", "test"), None),
        (numbered("train/cat", "train/dog"), ("train",), ("cat", "dog")),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_splits_are_kept(images, splits, classes, tmp_path: Path) -> None:
    put(tmp_path / "in", *images)
    source = rs.sources.images(tmp_path / "in")
    assert source.splits == splits
    made = rs.make(tmp_path / "in", tmp_path / "out", shuffle=False)
    assert tuple(made.splits) == splits
    assert made.splits_kept
    assert (source.label is None) == (classes is None)
    if classes is not None:
        assert classes_of(source) == classes
    for split in splits:
        names = rows_of(tmp_path / "out", split, "filename")
        assert len(names) == made.splits[split].rows > 0
        assert all(any(split in part.lower() for part in name.split("/")[:-1]) for name in names)


def test_splits_of_images_can_be_merged_and_left_unlabelled(tmp_path: Path) -> None:
    put(tmp_path / "in", *numbered("train/cat", "train/dog", "test"))
    made = rs.make(tmp_path / "in", tmp_path / "out", drop_unlabelled=True)
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 8}
    assert made.unlabelled == 4
    put(tmp_path / "both", *numbered("train/cat", "val/cat"))
    made = rs.make(tmp_path / "both", tmp_path / "merged", split="train=0.5,test=0.5", merge_splits=True)
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 4, "test": 4}
    with pytest.raises(rs.RecordsmithError, match="already has splits"):
        rs.make(tmp_path / "both", tmp_path / "bad", split="train=0.5,test=0.5")


def test_labels_of_a_table_and_splits_of_folders(tmp_path: Path) -> None:
    put(tmp_path / "in", *numbered("train", "test", count=2))
    table = tmp_path / "labels.csv"
    table.write_text("filename,label\ntrain/0,a\ntrain/1,b\ntest/0,a\ntest/1,b\n")
    made = rs.make(rs.sources.images(tmp_path / "in", labels=table), tmp_path / "out")
    assert [split.classes for split in made.splits.values()] == [{"a": 1, "b": 1}] * 2
    assert list(made.splits) == ["train", "test"]


def test_links_to_class_folders(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", *numbered("cat", "dog"))
    (tmp_path / "in").mkdir()
    for name in ("cat", "dog"):
        (tmp_path / "in" / name).symlink_to(tmp_path / "elsewhere" / name)
    (tmp_path / "in" / "back").symlink_to(tmp_path / "in")  # a link that leads back is not followed
    assert kind_of(tmp_path / "in") == "images"
    assert classes_of(source_for(tmp_path / "in")) == ("cat", "dog")
    (tmp_path / "tables").mkdir()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.csv").write_text("x\n1\n")
    (tmp_path / "tables" / "link").symlink_to(tmp_path / "more")
    assert source_for(tmp_path / "tables").kind == "csv"


def test_sounds_are_a_kind_of_their_own(tmp_path: Path) -> None:
    put(tmp_path, **{"cat/1.wav": b"RIFF", "dog/2.wav": b"RIFF"})
    assert kind_of(tmp_path) == "audio"


@pytest.mark.parametrize("document", [COCO, json.dumps(json.loads(COCO), indent=2).encode()])
def test_a_document_of_annotations_is_no_row(document: bytes, tmp_path: Path) -> None:
    put(tmp_path, **{"instances.json": document})
    with pytest.raises(rs.RecordsmithError, match="No image with annotations"):
        rs.make(tmp_path / "instances.json", tmp_path / "out")
    with pytest.raises(rs.RecordsmithError, match=r"COCO(.|\n)*rs\.sources\.coco"):
        rs.make(rs.sources.jsonl(tmp_path / "instances.json"), tmp_path / "out")
    (tmp_path / "rows.json").write_text('{"images": 1, "annotations": 2}\n{"images": 3, "annotations": 4}\n')
    assert rs.make(tmp_path / "rows.json", tmp_path / "rows").rows == 2
