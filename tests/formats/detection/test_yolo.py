"""YOLO folders through `rs.make` and back: boxes, outlines, keypoints, the YAML file, and broken ones."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from pycocotools import mask as coco_mask

import recordsmith as rs
from recordsmith.errors import PipelineError
from tests.formats.detection.detection_folders import SIZES, pixels_of, rejects_of, write_image


def write_yolo(root: Path, lines: dict[str, str], *, images: str = "images", labels: str = "labels") -> None:
    for number, (name, text) in enumerate(lines.items()):
        write_image(root / images / f"{name}.jpg", SIZES[number % len(SIZES)], number)
        path = root / labels / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def rows_of(path: Path, split: str | None = None):
    opened = rs.open(path) if split is None else rs.open(path, split=split)
    return {Path(row["image/filename"]).stem: row for row in opened}


@pytest.mark.source("yolo", keeps="boxes, classes, splits of data.yaml or of folders")
@pytest.mark.parametrize("given", ["", "data.yaml"])
@pytest.mark.parametrize("inside", [True, False], ids=["images/train", "train/images"])
def test_values_and_splits(tmp_path, given, inside):
    rng = np.random.default_rng(3)
    root = tmp_path / "in"
    written: dict[str, np.ndarray] = {}
    for split in ("train", "val"):
        lines = {}
        for number in range(5):
            boxes = [[c, *rng.uniform(0.3, 0.7, 2), *rng.uniform(0.01, 0.5, 2)] for c in rng.integers(0, 2, number)]
            written[f"{split}{number}"] = np.array(boxes).reshape(-1, 5)
            lines[f"{split}{number}"] = "".join(f"{int(box[0])} {' '.join(map(str, box[1:]))}\n" for box in boxes)
        places = (f"images/{split}", f"labels/{split}") if inside else (f"{split}/images", f"{split}/labels")
        write_yolo(root, lines, images=places[0], labels=places[1])
    paths = ("images/train", "images/val") if inside else ("../train/images", "../val/images")
    (root / "data.yaml").write_text(
        f"path: ../datasets/in\ntrain: {paths[0]}\nval: {paths[1]}\nnames: {{0: cat, 1: dog}}\n"
    )
    made = rs.make(root / given, tmp_path / "data")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 5, "val": 5}
    assert any("2 images have no annotation" in warning for warning in made.warnings), made.warnings
    for split in ("train", "val"):
        rows = rows_of(tmp_path / "data", split)
        assert sorted(rows) == [f"{split}{number}" for number in range(5)]
        for name, row in rows.items():
            label, x, y, w, h = written[name].T
            expected = np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2], axis=1).astype(np.float32)
            np.testing.assert_array_equal(row["image/object/bbox"], expected)
            assert row["image/object/class/text"] == [["cat", "dog"][int(one)] for one in label]


@pytest.mark.source("yolo", keeps="polygons as masks, keypoints")
def test_outlines_become_masks_and_boxes(tmp_path):
    outline = [0.1, 0.2, 0.8, 0.25, 0.5, 0.9]
    write_yolo(tmp_path / "in", {"a": "1 " + " ".join(map(str, outline)) + "\n0 0.5 0.5 0.2 0.2\n"})
    rs.make(tmp_path / "in", tmp_path / "data")
    row = rows_of(tmp_path / "data")["a"]
    np.testing.assert_array_equal(row["image/object/bbox"][0], np.array([0.2, 0.1, 0.9, 0.8], np.float32))
    height, width = SIZES[0]
    pixels = [one * side for one, side in zip(outline, [width, height] * 3, strict=True)]
    runs = coco_mask.frPyObjects([pixels], height, width)
    mask = pixels_of(row["image/object/mask"][0])
    assert mask.shape == (height, width)
    assert int(mask.sum()) == int(coco_mask.area(coco_mask.merge(runs)))
    assert len(row["image/object/mask"]) == 2


@pytest.mark.parametrize("dims", [2, 3])
def test_keypoints(tmp_path, dims):
    points = np.random.default_rng(1).uniform(0, 1, (2, 4, dims)).round(4)
    if dims == 3:
        points[..., 2] = [0, 1, 2, 2]
    lines = "".join("0 0.5 0.5 0.4 0.4 " + " ".join(f"{v:g}" for v in one.reshape(-1)) + "\n" for one in points)
    write_yolo(tmp_path / "in", {"a": lines})
    (tmp_path / "in" / "data.yaml").write_text(f"train: images\nval: images\nkpt_shape: [4, {dims}]\nnames: [person]\n")
    rs.make(tmp_path / "in", tmp_path / "data")
    row = rows_of(tmp_path / "data")["a"]
    np.testing.assert_allclose(row["image/object/keypoint"], points[..., [1, 0]], rtol=1e-6)
    assert row["image/object/keypoint/visibility"].tolist() == [[0, 1, 2, 2] if dims == 3 else [2] * 4] * 2


def test_side_by_side_with_names(tmp_path):
    write_yolo(tmp_path / "in", {"a": "1 .5 .5 .1 .1\n", "b": "0 .5 .5 .1 .1\n"}, images=".", labels=".")
    (tmp_path / "in" / "classes.txt").write_text("cat\ndog\n")
    rs.make(tmp_path / "in", tmp_path / "data")
    assert rows_of(tmp_path / "data")["a"]["image/object/class/text"] == ["dog"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 0.5 0.5 nan 0.1", "not finite"),
        ("0 0.5 0.5 1e300 0.1", "too large"),
        ("0 0.5 0.5 0.1", "instead of"),
        ("7 0.5 0.5 0.1 0.1", "no class 7"),
        ("-1 0.5 0.5 0.1 0.1", "no class -1"),
        ("0 0.9 0.5 0.5 0.1", "'inside'"),
        ("cat 0.9 0.5 0.5 0.1", "not a number"),
    ],
)
def test_bad_lines_are_rejects(tmp_path, text, reason):
    lines = {f"{number}": "0 0.5 0.5 0.1 0.1\n" for number in range(6)}
    write_yolo(tmp_path / "in", {**lines, "bad": text})
    (tmp_path / "in" / "data.yaml").write_text("train: images\nval: images\nnames: [cat, dog]\n")
    (tmp_path / "in" / "labels" / "gone.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    made = rs.make(tmp_path / "in", tmp_path / "data", max_rejects=1.0)
    rejects = rejects_of(made.rejected_path)
    assert len(rejects) == 2
    assert any(reason in reject["reason"] and "bad" in reject["source"] for reject in rejects), rejects
    assert any("image is missing" in reject["reason"] and "gone.txt" in reject["source"] for reject in rejects)


@pytest.mark.parametrize(
    "path", ["/etc", "../../../etc", "~/other", "nowhere", "../other/images", "/elsewhere/images", "../../images"]
)
def test_paths_that_leave_the_folder_are_refused(tmp_path, path):
    write_yolo(tmp_path / "in", {"a": "0 0.5 0.5 0.1 0.1\n"})
    (tmp_path / "in" / "data.yaml").write_text(f"train: {path}\nval: images\nnames: [cat]\n")
    with pytest.raises(PipelineError, match="is outside its folder, or does not exist"):
        rs.sources.yolo(tmp_path / "in").schema()


@pytest.mark.parametrize(
    "text",
    ["a: [", "- 1", "train: images\nval: images\nnames: {0: a, 7: b}", "names: [a]\ntrain: images\nkpt_shape: 3"],
)
def test_broken_yaml_is_an_error_with_its_name(tmp_path, text):
    write_yolo(tmp_path / "in", {"a": "0 0.5 0.5 0.1 0.1\n"})
    (tmp_path / "in" / "data.yaml").write_text(text)
    with pytest.raises(PipelineError, match=r"data\.yaml"):
        rs.sources.yolo(tmp_path / "in" / "data.yaml").schema()


def test_an_image_in_no_split_is_left_out_with_its_text_file(tmp_path):
    write_yolo(tmp_path / "in", dict.fromkeys("abcde", "0 0.5 0.5 0.1 0.1\n"))
    (tmp_path / "in" / "train.txt").write_text("./images/a.jpg\n./images/b.jpg\n")
    (tmp_path / "in" / "val.txt").write_text("./images/c.jpg\n")
    (tmp_path / "in" / "data.yaml").write_text("train: train.txt\nval: val.txt\nnames: [cat]\n")
    made = rs.make(tmp_path / "in", tmp_path / "data")
    assert (made.rows, made.rejects) == (3, 0)
    assert any("2 images in no split of data.yaml: left out" in warning for warning in made.warnings)


def test_an_image_in_two_splits_is_an_error(tmp_path):
    write_yolo(tmp_path / "in", {"a": "0 0.5 0.5 0.1 0.1\n", "b": ""})
    (tmp_path / "in" / "train.txt").write_text("./images/a.jpg\n")
    (tmp_path / "in" / "val.txt").write_text("./images/a.jpg\n./images/b.jpg\n")
    (tmp_path / "in" / "data.yaml").write_text("train: train.txt\nval: val.txt\nnames: [cat]\n")
    with pytest.raises(PipelineError, match="in two splits"):
        rs.sources.yolo(tmp_path / "in").schema()


def test_an_image_without_a_text_file_does_not_get_that_of_another_split(tmp_path):
    for split in ("train", "val"):
        write_image(tmp_path / f"d/{split}/images/1.jpg", (20, 30))
    write_image(tmp_path / "d/train/images/2.jpg", (20, 30))
    write_image(tmp_path / "d/masks/1.png", (20, 30))
    for name in ("train/labels/2.txt", "val/labels/1.txt"):
        (tmp_path / "d" / name).parent.mkdir()
        (tmp_path / "d" / name).write_text("1 0.5 0.5 0.2 0.3\n")
    (tmp_path / "d/data.yaml").write_text("train: train/images\nval: val/images\nnc: 3\n")
    made = rs.make(tmp_path / "d", tmp_path / "out", shuffle=False)
    assert any("1 mask not read" in warning for warning in made.warnings)
    train, val = (rs.open(tmp_path / "out", split=split) for split in ("train", "val"))
    assert [len(row["image/object/bbox"]) for row in train] == [0, 1]
    assert [len(row["image/object/bbox"]) for row in val] == [1]
    assert train.schema["image/object/class/label"].names == ("background", "0", "1", "2")


def test_names_that_grow_without_end_are_refused(tmp_path):
    for split in ("train", "val"):
        write_image(tmp_path / f"d/images/{split}/1.jpg", (20, 30))
    aliases = "".join(
        f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n" for before, after in pairwise("abcdefghi")
    )
    text = f"a: &a [x, x, x, x, x, x, x, x, x]\n{aliases}train: images/train\nval: images/val\nnames: *i\n"
    (tmp_path / "d/data.yaml").write_text(text)
    with pytest.raises(rs.RecordsmithError, match="class names in the YAML file must be strings"):
        rs.make(tmp_path / "d", tmp_path / "out")
