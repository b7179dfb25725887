"""Masks beside images, in all layouts, with palettes and colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

import recordsmith as rs
from tests.formats.detection.detection_folders import SIZES, pixels_of, rejects_of, write_image

LAYOUTS = {
    "two folders": ("images/{n}.jpg", "masks/{n}.png"),
    "VOC": ("JPEGImages/{n}.jpg", "SegmentationClass/{n}.png"),
    "endings": ("{n}.jpg", "{n}_mask.png"),
    "folders and endings": ("images/{n}.jpg", "masks/{n}_mask.png"),
    "splits outside": ("{split}/images/{n}.jpg", "{split}/masks/{n}.png"),
    "splits inside": ("images/{split}/{n}.jpg", "annotations/{split}/{n}.png"),
}
PALETTE = [value for number in range(256) for value in (number * 7 % 256, number * 91 % 256, number * 151 % 256)]


def save_mask(path: Path, pixels: np.ndarray, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(pixels)
    if kind.startswith("palette"):
        image.putpalette(PALETTE)
        image.save(path, bits=int(kind[-1]))
    else:
        image.save(path)


@pytest.mark.source("masks", keeps="images and masks (palettes by number), splits")
@pytest.mark.parametrize("kind", ["grey", "palette 8", "palette 4", "palette 2"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values(tmp_path, layout, kind):
    rng = np.random.default_rng(5)
    image_name, mask_name = LAYOUTS[layout]
    written = {}
    for split in ("train", "val"):
        for number in range(3):
            size = SIZES[number]
            name = {"n": f"{split}{number}", "split": split}
            pixels = rng.integers(0, 4, size, np.uint8)
            write_image(tmp_path / "in" / image_name.format(**name), size, number)
            save_mask(tmp_path / "in" / mask_name.format(**name), pixels, kind)
            written[image_name.format(**name)] = pixels
    made = rs.make(tmp_path / "in", tmp_path / "data")
    expected = {"train", "val"} if "split" in layout else {"train"}
    assert set(made.splits) == expected
    assert made.rejects == 0
    rows = [row for split in expected for row in rs.open(tmp_path / "data", split=split)]
    assert {row["image/filename"] for row in rows} == set(written)
    for row in rows:
        mask = tf.io.decode_png(row["image/segmentation/class/encoded"])
        np.testing.assert_array_equal(mask[:, :, 0], written[row["image/filename"]])
        assert mask.shape[2] == 1


def test_colours(tmp_path):
    colours = {"void": (0, 0, 0), "road": (128, 64, 128), "sky": (70, 130, 180)}
    numbers = np.random.default_rng(0).integers(0, 3, (20, 30))
    pixels = np.array(list(colours.values()), np.uint8)[numbers]
    write_image(tmp_path / "in" / "images" / "1.jpg", (20, 30))
    save_mask(tmp_path / "in" / "masks" / "1.png", pixels, "colour")
    with pytest.raises(
        rs.RecordsmithError, match=r"(?s)have colours.*'\(70, 130, 180\)'.*rs.sources.masks\(folder, colours="
    ):
        rs.make(tmp_path / "in", tmp_path / "data")
    rs.make(rs.sources.masks(tmp_path / "in", colours=colours), tmp_path / "data")
    opened = rs.open(tmp_path / "data")
    assert opened.schema["image/segmentation/class/encoded"].names == ("void", "road", "sky")
    mask = pixels_of(opened[0]["image/segmentation/class/encoded"])
    np.testing.assert_array_equal(mask, numbers)


def test_sizes_follow_with_the_nearest_pixel(tmp_path):
    pixels = np.random.default_rng(0).choice(np.array([0, 7, 200], np.uint8), (40, 60))
    write_image(tmp_path / "in" / "images" / "1.jpg", (40, 60))
    save_mask(tmp_path / "in" / "masks" / "1.png", pixels, "grey")
    rs.make(tmp_path / "in", tmp_path / "data") if False else rs.make(
        rs.sources.masks(tmp_path / "in", size=(20, 30)), tmp_path / "data"
    )
    row = rs.open(tmp_path / "data")[0]
    mask = pixels_of(row["image/segmentation/class/encoded"])
    assert mask.shape == (20, 30)
    np.testing.assert_array_equal(mask, pixels[1::2, 1::2])


def test_what_does_not_belong_together_is_a_reject(tmp_path):
    for number in range(8):
        write_image(tmp_path / "in" / "images" / f"{number}.jpg", (20, 30), number)
        save_mask(tmp_path / "in" / "masks" / f"{number}.png", np.zeros((20, 30), np.uint8), "grey")
    source = rs.sources.masks(tmp_path / "in")
    assert source.row_count == 8
    (tmp_path / "in" / "masks" / "0.png").unlink()
    (tmp_path / "in" / "images" / "1.jpg").unlink()
    (tmp_path / "in" / "masks" / "2.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    pixels = np.random.default_rng(0).integers(0, 255, (20, 30, 3), np.uint8)
    save_mask(tmp_path / "in" / "masks" / "3.png", pixels, "colour")
    made = rs.make(tmp_path / "in", tmp_path / "data", max_rejects=1.0)
    rejects = [reject["reason"] for reject in rejects_of(made.rejected_path)]
    assert len(rejects) == 4, rejects
    for words in ("no mask", "image of this mask is missing", "2.png", "colours instead of class numbers"):
        assert any(words in reason for reason in rejects), (words, rejects)
