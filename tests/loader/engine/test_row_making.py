"""Batches whose rows are fetched and decoded a few at a time: the same as those that are made at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from recordsmith.loader.engine import row_making

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "image": rs.Image(), "tokens": rs.Tensor("int64", (None,))})


@pytest.fixture
def photos(tmp_path: Path) -> rs.Dataset:
    """Images of different sizes, of which the fourth is none."""
    random = np.random.default_rng(0)
    rows = []
    for number in range(21):
        pixels = random.integers(0, 256, (30 + number, 40, 3)).astype(np.uint8)
        data = b"\xff\xd8 not an image" if number == 4 else encode_image(pixels, "jpeg")
        rows.append({"n": number, "image": data, "tokens": np.arange(number % 4)})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_rows(rows, rs.Schema({**SCHEMA, "image": rs.Bytes()}))
    return rs.open(tmp_path / "a.tfrecord", schema=SCHEMA)


def same(one: list[Any], other: list[Any]) -> None:
    assert len(one) == len(other)
    for ours, theirs in zip(one, other, strict=True):
        assert ours.keys() == theirs.keys()
        for name, column in ours.items():
            assert type(column) is type(theirs[name])
            values = [np.asarray(row).tolist() for row in column]
            assert values == [np.asarray(row).tolist() for row in theirs[name]]


CHAINS = {
    "images": lambda ds: ds.shuffle(seed=1).images((16, 16), scale=1 / 255),
    "mapped after": lambda ds: ds.images((16, 16)).map(lambda row: {**row, "image": row["image"] // 2}),
    "of their own size": lambda ds: ds.images(),
    "filtered": lambda ds: ds.filter(lambda row: row["n"] % 3 == 0).images((16, 16)),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("threads", [1, 2])
def test_pieces_make_the_same_batches(
    photos: rs.Dataset, monkeypatch: pytest.MonkeyPatch, chain: str, threads: int
) -> None:
    sound = photos[:4]
    expected = list(CHAINS[chain](sound).batch(3, threads=threads))
    whole = list(CHAINS[chain](photos[5:]).batch(6, threads=threads))
    for size in (1, 2_500, 6_000):
        monkeypatch.setattr(row_making, "_PIECE_BYTES", size)
        same(list(CHAINS[chain](sound).batch(3, threads=threads)), expected)
        same(list(CHAINS[chain](photos[5:]).batch(6, threads=threads)), whole)


def test_a_state_in_the_middle(photos: rs.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = CHAINS["images"](photos[5:])
    expected = list(chain.batch(3))
    monkeypatch.setattr(row_making, "_PIECE_BYTES", 1)
    loader = CHAINS["images"](photos[5:]).batch(3)
    batches = iter(loader)
    first = [next(batches), next(batches)]
    same(first, expected[:2])
    rest = CHAINS["images"](photos[5:]).batch(3)
    rest.restore(loader.state())
    same(list(rest), expected[2:])


def test_a_skipped_row_leaves_the_others(photos: rs.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_making, "_PIECE_BYTES", 1)
    loader = photos.images((16, 16)).batch(3, on_error="skip")
    assert [batch["n"].tolist() for batch in loader][:3] == [[0, 1, 2], [3, 5], [6, 7, 8]]
    assert loader.skipped.count == 1
    alone = photos[4:5].images((16, 16)).batch(3, on_error="skip")
    assert list(alone) == []


def test_an_error_names_the_record(photos: rs.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_making, "_PIECE_BYTES", 1)
    with pytest.raises(rs.RecordsmithError) as caught:
        list(photos.images((16, 16)).batch(8))
    assert caught.value.record == 4
    assert caught.value.feature == "image"
