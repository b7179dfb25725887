"""COCO folders made with pycocotools, through `rs.make` and back: every value is that of the annotations."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from pycocotools.coco import COCO

import recordsmith as rs
from recordsmith.errors import PipelineError
from tests.formats.detection.detection_folders import coco_document, pixels_of, rejects_of, write_coco, write_image


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root: Path = tmp_path_factory.mktemp("coco")
    write_coco(root, {"train2017": coco_document(1, 9), "val2017": coco_document(2, 4, start=100)})
    return root


@pytest.fixture(scope="module")
def dataset(folder, tmp_path_factory) -> Path:
    out: Path = tmp_path_factory.mktemp("made") / "data"
    result = rs.make(folder, out)
    assert {name: split.rows for name, split in result.splits.items()} == {"train": 9, "val": 4}
    assert result.splits_kept
    return out


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools, in decode
@pytest.mark.source("coco", keeps="boxes, classes, areas, crowd flags, polygons and run lengths as masks, splits")
@pytest.mark.parametrize("split", ["train", "val"])
def test_values_are_those_of_pycocotools(folder, dataset, split):
    coco = COCO(folder / "annotations" / f"instances_{split}2017.json")
    opened = rs.open(dataset, split=split)
    rows = {int(row["image/source_id"]): row for row in opened}
    assert sorted(rows) == sorted(coco.getImgIds())
    names = opened.schema["image/object/class/label"].names
    assert names == ("background", "person", "car", "toothbrush")
    for number, row in rows.items():
        image = coco.loadImgs([number])[0]
        height, width = image["height"], image["width"]
        assert (row["image/height"], row["image/width"]) == (height, width)
        assert row["image/filename"] == f"{split}2017/{image['file_name']}"
        assert row["image/encoded"] == (folder / row["image/filename"]).read_bytes()
        annotations = [one for one in coco.dataset["annotations"] if one["image_id"] == number]
        boxes = [
            [y / height, x / width, (y + h) / height, (x + w) / width]
            for x, y, w, h in (a["bbox"] for a in annotations)
        ]
        np.testing.assert_array_equal(row["image/object/bbox"], np.array(boxes, np.float32).reshape(-1, 4))
        texts = [coco.cats[one["category_id"]]["name"] for one in annotations]
        assert row["image/object/class/text"] == texts
        assert [names[label] for label in row["image/object/class/label"]] == texts
        assert row["image/object/is_crowd"].tolist() == [one["iscrowd"] for one in annotations]
        np.testing.assert_array_equal(
            row["image/object/area"], np.array([one["area"] for one in annotations], np.float32)
        )
        assert len(row["image/object/mask"]) == len(annotations)
        for png, one in zip(row["image/object/mask"], annotations, strict=True):
            pixels = pixels_of(png)
            np.testing.assert_array_equal(pixels, coco.annToMask(one))


def test_tensorflow_reads_the_standard_names(dataset):
    spec = {
        "image/encoded": tf.io.FixedLenFeature((), tf.string),
        "image/height": tf.io.FixedLenFeature((), tf.int64),
        "image/width": tf.io.FixedLenFeature((), tf.int64),
        "image/source_id": tf.io.FixedLenFeature((), tf.string),
        **{f"image/object/bbox/{side}": tf.io.VarLenFeature(tf.float32) for side in ("xmin", "xmax", "ymin", "ymax")},
        "image/object/class/label": tf.io.VarLenFeature(tf.int64),
        "image/object/class/text": tf.io.VarLenFeature(tf.string),
        "image/object/area": tf.io.VarLenFeature(tf.float32),
        "image/object/is_crowd": tf.io.VarLenFeature(tf.int64),
        "image/object/mask": tf.io.VarLenFeature(tf.string),
    }
    opened = rs.open(dataset, split="train")
    records = tf.data.TFRecordDataset([str(path) for path in sorted(dataset.glob("*train.tfrecord*"))])
    seen = 0
    for serialized, row in zip(records, opened, strict=True):
        parsed = tf.io.parse_single_example(serialized, spec)
        corners = [
            tf.sparse.to_dense(parsed[f"image/object/bbox/{side}"]).numpy() for side in ("ymin", "xmin", "ymax", "xmax")
        ]
        np.testing.assert_array_equal(np.stack(corners, axis=1), row["image/object/bbox"])
        np.testing.assert_array_equal(parsed["image/object/class/label"].values, row["image/object/class/label"])
        pixels = tf.io.decode_image(parsed["image/encoded"])
        assert pixels.shape[:2] == (parsed["image/height"].numpy(), parsed["image/width"].numpy())
        ours = opened.schema.parse_tf(serialized)
        np.testing.assert_array_equal(ours["image/object/bbox"], row["image/object/bbox"])
        seen += len(corners[0])
    assert seen


def test_tfds_names_are_read_by_tfds(folder, tmp_path):
    import tensorflow_datasets as tfds

    rs.make(rs.sources.coco(folder, names="tfds"), tmp_path / "data")
    builder = tfds.builder_from_directory(tmp_path / "data")
    assert builder.info.features["objects"]["label"].feature.names == ["person", "car", "toothbrush"]
    rows = list(rs.open(tmp_path / "data", split="val"))
    examples = list(tfds.as_numpy(builder.as_dataset(split="val")))
    assert len(rows) == len(examples) == 4
    for row, example in zip(rows, examples, strict=True):
        np.testing.assert_array_equal(example["objects"]["bbox"], row["objects/bbox"])
        np.testing.assert_array_equal(example["objects"]["label"], row["objects/label"])
        np.testing.assert_array_equal(example["objects"]["is_crowd"], row["objects/is_crowd"])
        assert list(example["objects"]["mask"]) == row["objects/mask"]


@pytest.mark.source("coco", keeps="keypoints")
def test_keypoints(tmp_path):
    document = coco_document(3, 4, keypoints=5)
    write_coco(tmp_path / "in", {"val": document})
    source = rs.sources.coco(tmp_path / "in")
    rs.make(source, tmp_path / "data", split={"all": 1.0})
    rows = {int(row["image/source_id"]): row for row in rs.open(tmp_path / "data")}
    for image in document["images"]:
        annotations = [one for one in document["annotations"] if one["image_id"] == image["id"]]
        points = np.array([one["keypoints"] for one in annotations]).reshape(-1, 5, 3)
        found = rows[image["id"]]
        expected = points[..., [1, 0]] / [image["height"], image["width"]]
        np.testing.assert_array_equal(found["image/object/keypoint"], expected.astype(np.float32))
        np.testing.assert_array_equal(found["image/object/keypoint/visibility"], points[..., 2])


def test_one_file_is_detected_and_images_are_beside_it(tmp_path):
    document = coco_document(1, 3)
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "_annotations.coco.json"
    path.write_text(json.dumps(document))
    for image in document["images"]:
        write_image(tmp_path / "in" / image["file_name"], (image["height"], image["width"]))
    for given in (path, tmp_path / "in"):
        made = rs.make(given, tmp_path / f"data-{given.name}")
        assert made.rejects == 0
        assert sum(split.rows for split in made.splits.values()) == 3


def test_images_without_annotations_are_kept_and_counted(folder):
    source = rs.sources.coco(folder)
    assert any("2 images have no annotation" in warning for warning in source.warnings), source.warnings


def test_missing_images_outside_paths_and_bad_numbers_are_rejects(tmp_path):
    document = coco_document(5, 8)
    images = document["images"]
    for annotation in document["annotations"]:
        annotation["segmentation"] = []
    write_coco(tmp_path, {"val": document})
    (tmp_path / "val" / images[0]["file_name"]).unlink()
    images[1]["file_name"] = "../../etc/passwd"
    images[2]["file_name"] = "/etc/passwd"
    images[3]["width"] += 1
    document["annotations"] = [one for one in document["annotations"] if one["image_id"] < 5]
    nan = {"id": 900, "image_id": images[4]["id"], "category_id": 1, "bbox": [0, 0, float("nan"), 1]}
    huge = {"id": 901, "image_id": images[5]["id"], "category_id": 1, "bbox": [0, 0, 10**400, 1]}
    unknown = {"id": 902, "image_id": images[6]["id"], "category_id": 77, "bbox": [0, 0, 1, 1]}
    outside = {"id": 903, "image_id": images[7]["id"], "category_id": 1, "bbox": [1, 1, 1000, 5], "area": 5}
    orphan = {"id": 904, "image_id": 12345, "category_id": 1, "bbox": [1, 1, 2, 5]}
    document["annotations"] += [nan, huge, unknown, outside, orphan]
    (tmp_path / "annotations" / "instances_val.json").write_text(json.dumps(document))
    source = rs.sources.coco(tmp_path)
    rejects = [reject for chunk in source.chunks() for reject in pickle.loads(pickle.dumps(chunk)).load().rejects]
    reasons = " ".join(reject.reason for reject in rejects)
    for words in (
        "image is missing",
        "leaves the folder",
        "is for an image of",
        "not a finite number",
        "no category 77",
        "image_id that no image has",
    ):
        assert words in reasons, (words, reasons)
    assert reasons.count("leaves the folder") == 2
    document["images"].append({"id": 99, "file_name": "good.jpg"})
    write_image(tmp_path / "val" / "good.jpg", (20, 30))
    (tmp_path / "annotations" / "instances_val.json").write_text(json.dumps(document))
    result = rs.make(tmp_path, tmp_path / "out" / "data", max_rejects=1.0)
    assert result.rejects == 9
    lines = rejects_of(result.rejected_path)
    assert any("relative to the size of the image" in line["reason"] for line in lines), lines


def test_an_annotation_without_an_area_is_rejected_if_others_have_one(tmp_path):
    document = coco_document(5, 8)
    write_coco(tmp_path, {"val": document})
    lacking = document["annotations"][0]
    del lacking["area"]
    (tmp_path / "annotations" / "instances_val.json").write_text(json.dumps(document))
    made = rs.make(tmp_path, tmp_path / "out" / "data")
    (reject,) = rejects_of(made.rejected_path)
    assert reject["reason"] == "The area is not a number: None."
    assert f"{lacking['image_id']:06}.jpg" in reject["source"]


def test_boxes_outside_can_be_clipped(tmp_path):
    document = coco_document(5, 2)
    box = document["annotations"][0]
    document["annotations"] = [{**box, "bbox": [-5, 3, 1000, 20], "segmentation": [], "iscrowd": 0}]
    write_coco(tmp_path / "in", {"val": document})
    rs.make(rs.sources.coco(tmp_path / "in", clip=True), tmp_path / "data")
    boxes = next(iter(rs.open(tmp_path / "data")))["image/object/bbox"]
    assert boxes[0, 1] == 0
    assert boxes[0, 3] == 1


@pytest.mark.parametrize(
    "text", ['{"images": [', "[]", '{"images": 3}', '{"images": [], "annotations": 1}', "[" * 100_000]
)
def test_broken_files_are_errors_with_the_file(tmp_path, text):
    (tmp_path / "broken.json").write_text(text)
    with pytest.raises(PipelineError) as raised:
        rs.sources.coco(tmp_path / "broken.json").schema()
    assert "broken.json" in str(raised.value)


def test_masks_follow_the_size_and_bytes_do_not_depend_on_workers(folder, tmp_path):
    digests = []
    for workers in (1, 2):
        out = tmp_path / f"data{workers}"
        rs.make(rs.sources.coco(folder, size=(32, 40)), out, workers=workers)
        digests.append([path.read_bytes() for path in sorted(out.glob("*.tfrecord*"))])
    assert digests[0] == digests[1]
    row = next(row for row in rs.open(out, split="train") if len(row["image/object/mask"]))
    mask = pixels_of(row["image/object/mask"][0])
    assert mask.shape == (32, 40)
    assert set(np.unique(mask)) <= {0, 1}


@pytest.mark.parametrize("declared", ["as shown", "as stored"])
def test_rotated_images(tmp_path, declared):
    """An image with an EXIF orientation is rotated; boxes are those of the image as it is shown, or it is rejected."""
    from PIL import Image

    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[5:15, 10:30] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # shown after a turn to the right: 60 high, 40 wide
    (tmp_path / "in" / "val").mkdir(parents=True)
    Image.fromarray(pixels).save(tmp_path / "in" / "val" / "a.jpg", exif=exif, quality=95)
    size = {"height": 60, "width": 40} if declared == "as shown" else {"height": 40, "width": 60}
    box = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [25, 10, 10, 20]}
    document = {"images": [{"id": 1, "file_name": "a.jpg", **size}], "annotations": [box], "categories": []}
    (tmp_path / "in" / "instances_val.json").write_text(json.dumps(document))
    source = rs.sources.coco(tmp_path / "in")
    (loaded,) = [chunk.load() for chunk in source.chunks()]
    if declared == "as stored":
        assert "is for an image of 60×40 pixels, and the image has 40×60" in loaded.rejects[0].reason
        return
    ((top, left, bottom, right),) = (loaded.columns["image/object/bbox"][0] * [60, 40, 60, 40]).round().astype(int)
    stored = pixels_of(loaded.columns["image/encoded"][0])
    assert stored.shape == (60, 40, 3)
    assert stored[top:bottom, left:right].mean() > 240
    assert (stored > 128).sum() == pytest.approx(3 * 200, rel=0.1)


def test_outlines_far_outside_are_rejects_and_can_be_left_out(tmp_path):
    document = coco_document(1, 3)
    document["annotations"][0]["segmentation"] = [[0, 0, 1e8, 0, 1e8, 1e8]]
    write_coco(tmp_path, {"val": document})
    (loaded,) = [chunk.load() for chunk in rs.sources.coco(tmp_path).chunks()]
    assert [reject.reason for reject in loaded.rejects] == ["A polygon is far outside of the image."]
    source = rs.sources.coco(tmp_path, masks=False)
    assert "image/object/mask" not in source.schema()
    assert [len(chunk.load().rejects) for chunk in source.chunks()] == [0]


def test_files_of_others_with_the_standard_names(dataset):
    """Without our description, boxes are read as boxes once they are declared."""
    files = sorted(dataset.glob("*train.tfrecord*"))
    plain = rs.open(files)
    assert "image/object/bbox/ymin" in plain.schema
    schema = rs.Schema({"image/encoded": rs.Image(), "image/object/bbox": rs.Boxes()})
    flipped = rs.open(files, schema=schema).images((32, 32), augment=rs.augment.flip_left_right(p=1)).batch(100)
    (batch,) = list(flipped)
    for number, row in enumerate(plain):
        np.testing.assert_allclose(
            batch["image/object/bbox"][number][:, 1], 1 - row["image/object/bbox/xmax"], atol=1e-6
        )
