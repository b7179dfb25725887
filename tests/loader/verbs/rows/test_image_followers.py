"""Boxes, points and masks move with their image: a coloured rectangle stays inside of its box."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import recordsmith as rs
from recordsmith.augment import Augmentation
from recordsmith.errors import PipelineError

COUNT = 12
GROUP = "image/object"
SCHEMA = rs.Schema(
    {
        "image/encoded": rs.Image(encoding="png"),
        f"{GROUP}/bbox": rs.Boxes(),
        f"{GROUP}/class/label": rs.Labels(["background", "a", "b"]),
        f"{GROUP}/class/text": rs.Text((None,)),
        f"{GROUP}/keypoint": rs.Points(2),
        f"{GROUP}/mask": rs.Masks(),
        "mask": rs.Mask(),
        "n": rs.Scalar("int64"),
    }
)


def rectangles(number: int) -> tuple[np.ndarray[Any, Any], list[tuple[int, int, int, int]]]:
    """An image with rectangles, each in a colour of its own, and their (top, left, bottom, right) in pixels."""
    rng = np.random.default_rng(number)
    height, width = int(rng.integers(60, 120)), int(rng.integers(60, 120))
    image = np.zeros((height, width, 3), np.uint8)
    found = []
    for at in range(number % 3):
        left, top = 2 + at * width // 3, int(rng.integers(2, height // 2))
        bottom, right = top + int(rng.integers(10, height // 2 - 2)), left + int(rng.integers(8, width // 3 - 3))
        image[top:bottom, left:right] = (60 + 60 * at, 250 - 70 * at, 255)
        found.append((top, left, bottom, right))
    return image, found


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out: Path = tmp_path_factory.mktemp("boxes") / "data"
    with rs.write(out, SCHEMA) as writer:
        for number in range(COUNT):
            image, boxes = rectangles(number)
            height, width = image.shape[:2]
            masks = []
            semantic = np.zeros((height, width), np.uint8)
            for at, (top, left, bottom, right) in enumerate(boxes):
                mask = np.zeros((height, width), np.uint8)
                mask[top:bottom, left:right] = 1
                semantic[top:bottom, left:right] = at + 1
                masks.append(mask)
            relative = np.array(boxes, np.float64).reshape(-1, 4) / [height, width, height, width]
            writer.add(
                {
                    "image/encoded": image,
                    f"{GROUP}/bbox": relative.astype(np.float32),
                    f"{GROUP}/class/label": [at % 2 + 1 for at in range(len(boxes))],
                    f"{GROUP}/class/text": [f"{number}-{at}" for at in range(len(boxes))],
                    f"{GROUP}/keypoint": relative.reshape(-1, 2, 2).astype(np.float32),
                    f"{GROUP}/mask": masks,
                    "mask": semantic,
                    "n": number,
                }
            )
    return out


def rows_of(loader: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for batch in loader.batch(5):
        found += [{name: column[row] for name, column in batch.items()} for row in range(len(batch["n"]))]
    return found


GEOMETRY: dict[str, list[Augmentation]] = {
    "none": [],
    "left-right": [rs.augment.flip_left_right(p=0.5)],
    "up-down": [rs.augment.flip_up_down(p=0.5)],
    "crop": [rs.augment.crop(0.3, 0.9)],
    "two crops and flips": [
        rs.augment.flip_left_right(),
        rs.augment.crop(0.5, 0.9),
        rs.augment.brightness(0.01),
        rs.augment.flip_up_down(),
        rs.augment.crop(0.5, 0.9),
    ],
    "rotation": [rs.augment.rotation(20, border="black")],
    "all": [rs.augment.crop(0.6, 0.9), rs.augment.rotation(10, border="black"), rs.augment.flip_left_right()],
}


@pytest.mark.parametrize("size", [(64, 80), None])
@pytest.mark.parametrize("case", GEOMETRY)
def test_what_is_on_the_image_stays_in_its_box(folder, case, size):
    loader = rs.open(folder).shuffle(seed=1).images(size=size, augment=GEOMETRY[case], seed=3)
    for row in rows_of(loader):
        pixels, boxes = row["image/encoded"], np.asarray(row[f"{GROUP}/bbox"])
        height, width = pixels.shape[:2]
        assert row["mask"].shape == (height, width, 1)
        labels, texts = np.asarray(row[f"{GROUP}/class/label"]), list(row[f"{GROUP}/class/text"])
        assert len(boxes) == len(labels) == len(texts) == len(row[f"{GROUP}/mask"]) == len(row[f"{GROUP}/keypoint"])
        if case not in ("crop", "two crops and flips", "all"):
            assert len(boxes) == int(row["n"]) % 3
        for box, text, mask in zip(boxes, texts, row[f"{GROUP}/mask"], strict=True):
            number, at = map(int, text.split("-"))
            assert number == row["n"]
            shape = mask if size is not None else cv2.imdecode(np.frombuffer(mask, np.uint8), cv2.IMREAD_UNCHANGED)
            assert shape is not None
            assert shape.shape == (height, width)
            np.testing.assert_array_equal(shape > 0, row["mask"][:, :, 0] == at + 1)
            down, right = np.nonzero(shape)
            around = np.array([down.min(), right.min(), down.max() + 1, right.max() + 1])
            slack = 1.5 if "rotation" not in case and case != "all" else 6
            np.testing.assert_allclose(box * [height, width, height, width], around, atol=slack)
            inside = pixels[down, right].astype(int)
            colour = np.array([60 + 60 * at, 250 - 70 * at, 255])
            assert np.median(np.abs(inside - colour)) <= 12


def test_the_same_for_any_number_of_threads_and_new_every_epoch(folder):
    def values(epoch: int, threads: int) -> list[Any]:
        loader = rs.open(folder).shuffle(seed=1).images((32, 32), augment=GEOMETRY["two crops and flips"])
        loader = loader.batch(4).prefetch(threads)
        loader.set_epoch(epoch)
        return [column for batch in loader for column in (batch[f"{GROUP}/bbox"].values, batch["mask"])]

    first = values(0, 0)
    for again in (values(0, 1), values(0, 4)):
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, other)
    assert any(one.shape != other.shape or (one != other).any() for one, other in zip(first, values(1, 0), strict=True))


def test_keypoints_follow(folder):
    flipped = rs.open(folder).images((40, 40), augment=rs.augment.flip_left_right(p=1))
    for before, after in zip(rs.open(folder), rows_of(flipped), strict=True):
        expected = np.asarray(before[f"{GROUP}/keypoint"]) * [1, -1] + [0, 1]
        np.testing.assert_allclose(after[f"{GROUP}/keypoint"], expected, atol=1e-6)


def test_colours_leave_boxes_as_they_are(folder):
    loader = rs.open(folder).images((40, 40), augment=[rs.augment.brightness(0.2), rs.augment.contrast()])
    for before, after in zip(rs.open(folder), rows_of(loader), strict=True):
        np.testing.assert_array_equal(before[f"{GROUP}/bbox"], after[f"{GROUP}/bbox"])


def test_what_would_be_left_behind_is_refused(folder, tmp_path):
    class Mirror(Augmentation):
        def draw(self, rng: Any) -> Any:
            return rng.random()

        def change(self, image: Any, drawn: Any) -> Any:  # noqa: ARG002 - always
            return image[:, ::-1]

    opened = rs.open(folder)
    with pytest.raises(PipelineError, match=r"not known how .* move"):
        opened.images((32, 32), augment=Mirror())
    with pytest.raises(PipelineError, match=r"before \.map"):
        opened.map(lambda row: row).images((32, 32), feature="image/encoded", augment=rs.augment.flip_left_right())
    schema = rs.Schema({"image": rs.Image(), "boxes": rs.Boxes(), "label": rs.Labels(["a"])})
    with rs.write(tmp_path / "plain", schema) as writer:
        writer.add({"image": rectangles(1)[0], "boxes": [[0, 0, 0.1, 0.1]], "label": [0]})
    with pytest.raises(PipelineError, match="which other lists"):
        rs.open(tmp_path / "plain").images((32, 32), augment=rs.augment.crop())
    with pytest.raises(PipelineError, match="TensorFlow's own operations"):
        opened.select("image/encoded", "mask", "n").images((32, 32)).batch(2).to_tf(graph=True)


def test_boxes_that_stay_go_through_the_graph(folder):
    names = ("image/encoded", f"{GROUP}/bbox", "n")
    loader = rs.open(folder).select(*names).images((32, 32)).padded_batch(COUNT)
    (batch,) = list(loader.to_tf(graph=True))
    np.testing.assert_array_equal(batch[f"{GROUP}/bbox"], next(iter(loader))[f"{GROUP}/bbox"])


def test_masks_with_channels_first(folder):
    batch = next(iter(rs.open(folder).images((32, 40), layout="NCHW").batch(3)))
    assert batch["mask"].shape == (3, 1, 32, 40)
    assert batch["image/encoded"].shape == (3, 3, 32, 40)


def test_frameworks_take_them(folder):
    import torch

    names = ("image/encoded", f"{GROUP}/bbox", f"{GROUP}/class/label", "mask")
    loader = rs.open(folder).select(*names).images((32, 40), augment=GEOMETRY["crop"]).padded_batch(4)
    batch = next(iter(loader.to_torch()))
    assert batch["mask"].dtype == torch.uint8
    assert batch[f"{GROUP}/bbox"].shape[2] == 4
    example = next(iter(loader.to_tf()))
    assert example[f"{GROUP}/bbox"].shape[-1] == 4
