from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.survey import survey
from recordsmith.facts.value_facts import ImageFacts
from recordsmith.images import encode_image
from tests.facts.surveying import same_for_all_threads, write_rows


def images_of(facts: DatasetFacts, name: str = "image") -> ImageFacts:
    feature = facts.feature(name)
    assert feature is not None
    assert feature.images is not None
    return feature.images


def test_formats_sizes_and_what_is_no_image_are_told(tmp_path: Path) -> None:
    rows = [
        {"image": encode_image(np.full((10 + number, 20), number * 20, np.uint8), "png"), "label": 1}
        for number in range(8)
    ]
    rows[2]["image"] = encode_image(np.zeros((4, 5, 3), np.uint8), "jpeg")
    rows[5]["image"] = b"not an image"
    facts = same_for_all_threads(write_rows(tmp_path / "a", rows), decode="all")
    images = images_of(facts)
    assert images.formats == {"jpeg": 1, "png": 6}
    assert images.channels == {1: 6, 3: 1}
    assert images.heights is not None
    assert (images.heights.min, images.heights.max) == (4, 17)
    assert images.no_header == 1
    assert [place.record for place in images.no_header_places] == [5]
    assert (images.decoded, images.decoded_all, images.undecodable, images.black) == (7, True, 0, 7)
    strings = facts.features[0].strings
    assert strings is not None
    assert strings.utf8 == 1


def test_jpegs_of_one_colour_and_cut_ones_are_told(tmp_path: Path) -> None:
    plain = np.full((64, 96, 3), 90, np.uint8)
    spotted = plain.copy()
    spotted[40:44, 50:54] = 200  # where a look at a few pixels does not see it
    noisy = np.random.default_rng(4).integers(0, 255, (64, 96, 3), np.uint8)
    encoded = [encode_image(pixels, "jpeg") for pixels in (plain, spotted, noisy)]
    images = images_of(survey(write_rows(tmp_path / "a", [{"image": data} for data in [*encoded, encoded[2][:-200]]])))
    assert (images.decoded, images.black, images.undecodable) == (4, 1, 1)
    assert [place.record for place in images.undecodable_places] == [3]


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_a_sample_is_decoded_and_the_same_every_time(tmp_path: Path, compression: str | None) -> None:
    random = np.random.default_rng(9)
    good = [encode_image(random.integers(0, 255, (8, 8), np.uint8), "png") for _ in range(300)]
    rows = [{"image": data if number % 10 else data[:40], "n": number} for number, data in enumerate(good)]
    facts = same_for_all_threads(write_rows(tmp_path / "a", rows, compression=compression))
    images = images_of(facts)
    assert (images.decoded, images.decoded_all) == (200, False)
    assert 5 < images.undecodable < 50
    assert all(place.record % 10 == 0 for place in images.undecodable_places)
    assert "cannot be decoded" in images.undecodable_places[0].detail
    everything = images_of(survey(tmp_path / "a", decode="all"))
    assert (everything.decoded, everything.undecodable) == (300, 30)
    assert images_of(survey(tmp_path / "a", decode="none")).decoded == 0


def test_a_name_that_says_another_format_is_told(tmp_path: Path) -> None:
    png = encode_image(np.zeros((4, 4), np.uint8), "png")
    names = ["a.png", "b.JPG", "c.jpeg", "d.txt", "e"]
    rows = [{"image/encoded": png, "image/filename": name} for name in names]
    images = images_of(survey(write_rows(tmp_path / "a", rows)), "image/encoded")
    assert images.suffix_differs == 2
    assert [(place.record, place.detail) for place in images.suffix_places] == [
        (1, "b.JPG holds png"),
        (2, "c.jpeg holds png"),
    ]


def test_frames_of_sequences_are_images_too(tmp_path: Path) -> None:
    frames = [encode_image(np.full((6, 6), level, np.uint8), "png") for level in (10, 20, 30)]
    with rs.RecordWriter(tmp_path / "a") as writer:
        writer.write(
            rs.encode_sequence_example(
                {"id": 1}, {"frames": [[frame] for frame in frames], "t": [[1], [2], np.empty(0, np.int64)]}
            )
        )
        writer.write(rs.encode_sequence_example({"id": 2}, {"frames": [[frames[0][:30]]]}))
    facts = same_for_all_threads(tmp_path / "a", decode="all")
    feature = facts.feature("frames", in_steps=True)
    assert feature is not None
    assert feature.images is not None
    assert (feature.images.decoded, feature.images.undecodable) == (4, 1)
    assert feature.steps is not None
    assert (feature.steps.min, feature.steps.max) == (1, 3)
    times = facts.feature("t", in_steps=True)
    assert times is not None
    assert (times.records, times.missing, times.kinds) == (1, 1, {"int64": 1})
    assert times.lengths is not None
    assert (times.lengths.min, times.lengths.max) == (0, 1)
    assert facts.shards[0].payloads == {"sequence_example": 2}
