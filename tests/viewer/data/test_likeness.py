"""Near-duplicates: images, texts and numbers that are almost the same are found, and others are not."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from recordsmith.viewer.data import likeness as module
from recordsmith.viewer.data.likeness import Likeness
from recordsmith.viewer.data.opened import OpenedDataset

WORDS = [f"{first}{second}" for first in "bcdfgklmnprst" for second in ("al", "en", "ir", "op", "un", "ast")]


def compared(path: Path, rows: list[dict[str, Any]], *, wait: bool = True) -> Likeness:
    with rs.RecordWriter(str(path)) as writer:
        for row in rows:
            writer.write_example(row)
    likeness = Likeness(OpenedDataset(str(path)))
    if wait:
        finish(likeness)
    return likeness


def finish(likeness: Likeness) -> None:
    assert likeness.start(asked=True)
    end = time.monotonic() + 60
    while not likeness.done:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert likeness.error is None


def noise(seed: int) -> Any:
    small = np.random.default_rng(seed).integers(0, 255, (9, 9, 3), dtype=np.uint8)
    return cv2.resize(small, (120, 120), interpolation=cv2.INTER_CUBIC)


def test_images_that_were_resized_or_encoded_again(tmp_path):
    images = [encode_image(noise(seed), "png") for seed in range(40)]
    images[20] = encode_image(noise(3), "jpeg", quality=70)
    images[30] = encode_image(cv2.resize(noise(3), (70, 64)), "png")
    images[31] = encode_image(np.full((20, 20, 3), 9, np.uint8), "png")  # has nothing to compare
    images[32] = images[31]
    images[33] = b"no image"
    likeness = compared(
        tmp_path / "a.tfrecord", [{"image": one, "caption": "same words here for all"} for one in images]
    )
    assert (likeness.kind, likeness.feature) == ("images", "image")
    assert sorted(likeness.near(3)) == [20, 30]
    assert sorted(likeness.near(30)) == [3, 20]
    assert [n for n in range(40) if likeness.near(n)] == [3, 20, 30]
    assert likeness.near(40) == []


def test_texts_with_a_few_other_words(tmp_path):
    random = np.random.default_rng(5)
    texts = [" ".join(random.choice(WORDS, 30)) for _ in range(200)]
    texts[50] = texts[7].upper()
    texts[60] = texts[7].replace(texts[7].split()[4], "other", 1)
    texts[61] = "short"
    likeness = compared(
        tmp_path / "a.tfrecord", [{"n": n, "name": f"row {n}", "text": one} for n, one in enumerate(texts)]
    )
    assert (likeness.kind, likeness.feature) == ("texts", "text")
    assert likeness.near(7) == [50, 60]  # the most alike first
    assert [n for n in range(200) if likeness.near(n)] == [7, 50, 60]


def test_a_text_is_like_itself_wherever_it_is(tmp_path):
    """Also at the end of a batch, where its last piece is the last of all."""
    texts = [f"{'x' * (n % 7)}" for n in range(600)]
    for place in (0, 511, 512, 599):
        texts[place] = "the very same words, in several batches"
    texts[1] = "another text that is long enough to be compared"
    likeness = compared(tmp_path / "a.tfrecord", [{"text": one} for one in texts])
    assert likeness.near(0) == [511, 512, 599]
    assert likeness.near(599) == [0, 511, 512]


@pytest.mark.parametrize("ragged", [False, True])
def test_numbers_that_are_rounded_to_the_same(tmp_path, ragged):
    random = np.random.default_rng(1)
    rows = [{"v": random.normal(size=(12 + ragged * (n % 3))).astype(np.float32), "id": n} for n in range(100)]
    rows[4]["v"] = np.linspace(1.0, 12.0, 12).astype(np.float32)
    rows[70]["v"] = rows[4]["v"] * np.float32(1.0001)
    rows[71]["v"] = rows[4]["v"][::-1].copy()
    rows[72]["v"] = np.full(12, np.nan, np.float32)
    rows[73]["v"] = np.full(12, np.nan, np.float32)
    likeness = compared(tmp_path / "a.tfrecord", rows)
    assert likeness.kind == "numbers"
    assert {n: likeness.near(n) for n in range(100) if likeness.near(n)} == {4: [70], 70: [4], 72: [73], 73: [72]}


def test_records_with_nothing_to_compare(tmp_path):
    likeness = compared(tmp_path / "a.tfrecord", [{"n": n, "x": 0.5, "word": "cat"} for n in range(30)])
    assert likeness.kind == ""
    assert likeness.near(0) == []


def test_much_is_read_only_when_asked_and_within_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_UNASKED_RECORDS", 10)
    monkeypatch.setattr(module, "_MOST_RECORDS", 25)
    rows = [{"text": "always the same text in all the records"} for _ in range(40)]
    likeness = compared(tmp_path / "a.tfrecord", rows, wait=False)
    assert not likeness.start(asked=False)
    finish(likeness)
    assert likeness.compared == likeness.limit == 25
    assert likeness.near(0) == list(range(1, 25))
    assert likeness.near(30) == []
