from __future__ import annotations

from pathlib import Path

import numpy as np

from recordsmith.facts.similar_images import perceptual_hash
from recordsmith.facts.survey import survey
from recordsmith.images import encode_image
from recordsmith.schema import Label, Scalar, Schema
from tests.facts.surveying import same_for_all_threads, small_units, write_rows


def test_copies_are_counted_within_and_across_splits(tmp_path: Path, monkeypatch) -> None:
    random = np.random.default_rng(4)
    train = random.integers(0, 300, 500)
    test = random.integers(200, 500, 300)
    write_rows(tmp_path / "train.tfrecord", ({"n": int(n)} for n in train))
    write_rows(tmp_path / "test.tfrecord", ({"n": int(n)} for n in test))
    expected = survey(tmp_path).duplicates
    assert expected is not None
    assert expected.within == {"test": 300 - len(set(test)), "train": 500 - len(set(train))}
    assert expected.across == {("test", "train"): len(set(train) & set(test))}
    assert [group.count for group in expected.groups] == sorted(
        (group.count for group in expected.groups), reverse=True
    )
    largest = expected.groups[0]
    number = train[next(place.record for place in largest.places if place.path.endswith("train.tfrecord"))]
    assert largest.count == (train == number).sum() + (test == number).sum()
    # The same if digests have to go through a file, and units are many.
    monkeypatch.setattr("recordsmith.facts.divided_survey._DIGESTS_IN_MEMORY", 64)
    small_units(monkeypatch, 2000)
    assert same_for_all_threads(tmp_path).duplicates == expected


def test_copies_under_another_name_are_copies(tmp_path: Path) -> None:
    pixels = bytes(range(256)) * 2
    rows = [{"filename": name, "image": pixels, "label": 1} for name in ("a.png", "b.png")]
    rows += [{"filename": "c.png", "image": pixels[::-1], "label": 1}]
    duplicates = survey(write_rows(tmp_path / "a", rows)).duplicates
    assert duplicates is not None
    assert duplicates.within == {"": 1}
    assert duplicates.left_out == ("filename",)
    (group,) = duplicates.groups
    assert [place.record for place in group.places] == [0, 1]
    assert group.but_for == ("filename",)


def test_rows_of_a_small_table_are_compared_whole(tmp_path: Path) -> None:
    rows = [{"id": number, "answer": number % 2} for number in range(10)]
    duplicates = survey(write_rows(tmp_path / "a", rows)).duplicates
    assert duplicates is not None
    assert (duplicates.within, duplicates.groups) == ({}, ())


def made_images() -> list[np.ndarray]:
    """Soft images that differ in every part."""
    random = np.random.default_rng(6)
    found = []
    for _ in range(12):
        coarse = random.integers(0, 255, (9, 9)).astype(np.float64)
        found.append(np.kron(coarse, np.ones((16, 16))).astype(np.uint8))
    return found


def test_images_that_look_alike_are_found_on_request(tmp_path: Path) -> None:
    images = made_images()
    write_rows(tmp_path / "train.tfrecord", ({"image": encode_image(image, "png")} for image in images))
    brighter = np.clip(images[3].astype(int) + 4, 0, 255).astype(np.uint8)
    again = [encode_image(brighter, "jpeg", quality=80), encode_image(images[5], "png")]
    write_rows(tmp_path / "test.tfrecord", ({"image": data} for data in again))
    assert survey(tmp_path).duplicates.similar is None  # type: ignore[union-attr]
    duplicates = survey(tmp_path, similar_images=True, threads=2).duplicates
    assert duplicates is not None
    assert (duplicates.similar, duplicates.similar_across) == (1, 1)
    (group,) = duplicates.similar_groups
    assert {(Path(place.path).name, place.record) for place in group.places} == {
        ("test.tfrecord", 0),
        ("train.tfrecord", 3),
    }
    assert group.splits == ("test", "train")
    assert duplicates.across == {("test", "train"): 1}  # the one with the same bytes is a copy, and not counted twice


def test_a_hash_is_none_where_there_is_nothing_to_see() -> None:
    assert perceptual_hash(encode_image(np.full((64, 64), 128, np.uint8), "png")) is None
    assert perceptual_hash(b"plain text") is None
    assert perceptual_hash(encode_image(made_images()[0], "jpeg")[:200]) is None


def labelled(path: Path, rows: list[tuple[int, str]]) -> Path:
    """Records with a long text that a number stands for, and a label."""
    return write_rows(
        path,
        (
            {"text": f"{number:08} " * 64, "label": label, "filename": f"{place}.txt"}
            for place, (number, label) in enumerate(rows)
        ),
    )


def test_equal_content_under_different_labels(tmp_path: Path) -> None:
    train = labelled(tmp_path / "train.tfrecord", [(n, "a") for n in range(50)] + [(3, "b"), (4, "a"), (3, "a")])
    test = labelled(tmp_path / "test.tfrecord", [(3, "a"), (5, "b"), (99, "b"), (98, "a")])
    found = survey([train, test]).duplicates
    assert found is not None
    assert found.contradictory == {"train": 4, "test": 2}  # the text 3 three times, and 5; both once
    assert found.contradictory_across == {("train", "test"): 2}
    assert [group.count for group in found.contradictory_groups] == [4, 2]
    assert [place.record for place in found.contradictory_groups[0].places] == [3, 50, 52, 0]


def test_contradictions_in_bounded_memory(tmp_path: Path, monkeypatch) -> None:
    rows = [(n % 211, "ab"[n % 2 if n % 7 == 0 else 0]) for n in range(1000)]
    labelled(tmp_path / "train.tfrecord", rows)
    expected = survey(tmp_path).duplicates
    assert expected is not None
    assert expected.contradictory["train"] > 0
    monkeypatch.setattr("recordsmith.facts.divided_survey._DIGESTS_IN_MEMORY", 64)
    small_units(monkeypatch, 2000)
    assert same_for_all_threads(tmp_path).duplicates == expected


def test_small_rows_contradict_each_other_only_by_a_declared_label(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a", [{"x": n % 3, "label": n % 2} for n in range(12)])
    assert survey(path).duplicates.contradictory == {}  # type: ignore[union-attr]
    schema = Schema({"x": Scalar("int64"), "label": Label(2)})
    assert survey(path, schema=schema).duplicates.contradictory == {"": 12}  # type: ignore[union-attr]
    labels = write_rows(tmp_path / "b", [{"label": n % 2} for n in range(12)])
    only = survey(labels, schema=Schema({"label": Label(2)})).duplicates
    assert only is not None
    assert only.contradictory == {}
