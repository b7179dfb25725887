"""Images that are flipped at random, with and without the masks or boxes that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import codes, wrong

COUNT, SIDE = 96, 24
Flip = Callable[[Any, Any], Any]


def made() -> tuple[Any, Any, Any]:
    """Return images with a bright square each, its mask, and its box."""
    random = np.random.default_rng(0)
    corners = random.integers(0, SIDE - 8, (COUNT, 2))
    masks = np.zeros((COUNT, SIDE, SIDE, 1), np.int64)
    for mask, (top, left) in zip(masks, corners, strict=True):
        mask[top : top + 8, left : left + 8] = 1
    images = (masks * 0.6 + random.random((COUNT, SIDE, SIDE, 3)) * 0.3).astype(np.float32)
    return images, masks, (np.concatenate([corners, corners + 8], axis=1) / SIDE).astype(np.float32)


IMAGES, MASKS, BOXES = made()


class Batches:
    """Images with what belongs to them, of which each row is flipped left to right by chance."""

    def __init__(self, beside: Any, flip: Flip, *, brighter: bool = False) -> None:
        self._beside, self._flip, self._brighter = beside, flip, brighter
        self._random = np.random.default_rng(0)

    def __iter__(self) -> Iterator[Any]:
        order = self._random.permutation(COUNT)
        for start in range(0, COUNT, 16):
            pairs = [self._row(place) for place in order[start : start + 16]]
            yield np.stack([image for image, _ in pairs]), np.stack([beside for _, beside in pairs])

    def _row(self, place: int) -> tuple[Any, Any]:
        image, beside = IMAGES[place], self._beside[place]
        if self._random.random() < 0.5:
            image, beside = image[:, ::-1], self._flip(image, beside)
        return image * (self._random.uniform(0.6, 1) if self._brighter else 1), beside


def kept(_image: Any, beside: Any) -> Any:
    return beside


def flipped_mask(_image: Any, mask: Any) -> Any:
    return mask[:, ::-1]


def flipped_box(_image: Any, box: Any) -> Any:
    return np.array([box[0], 1 - box[3], box[2], 1 - box[1]], np.float32)


@pytest.mark.parametrize(
    ("beside", "flip", "brighter", "said"),
    [
        (MASKS, kept, False, "their mask stays as before"),
        (MASKS, kept, True, "their mask stays as before"),
        (MASKS, flipped_mask, False, ""),
        (MASKS, flipped_mask, True, ""),
        (BOXES, kept, False, "their boxes stay as before"),
        (BOXES, kept, True, "their boxes stay as before"),
        (BOXES * SIDE, kept, False, "their boxes stay as before"),
        (BOXES, flipped_box, True, ""),
    ],
)
def test_flipping_without_the_mask_or_the_boxes(beside: Any, flip: Flip, said: str, *, brighter: bool) -> None:
    report = rs.diagnose(Batches(beside, flip, brighter=brighter), progress=False)
    if said:
        assert codes(report, least="warning") == ["T059"], wrong(report)
        assert said in report.findings[0].message
        assert "(left to right)" in report.findings[0].message
    else:
        assert not wrong(report)


def test_flipping_a_class_image_is_no_fault() -> None:
    classes = (np.arange(COUNT) % 4).astype(np.int64)
    assert "T059" not in codes(rs.diagnose(Batches(classes, kept), progress=False))
    one_hot = np.eye(4, dtype=np.float32)[classes]
    assert "T059" not in codes(rs.diagnose(Batches(one_hot, kept), progress=False))


def test_an_empty_mask_may_stay() -> None:
    assert "T059" not in codes(rs.diagnose(Batches(np.zeros_like(MASKS), kept), progress=False))
