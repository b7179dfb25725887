"""Where rules begin to speak, and how loudly: what their texts say about thresholds and severities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import recordsmith as rs
from tests.checking.made_datasets import (
    SCHEMA,
    Row,
    changed,
    image_rows,
    made,
    made_image,
    rows,
    splits,
    write,
    write_payloads,
)


def severities(path: Path, **options: Any) -> dict[str, str]:
    return {finding.code: finding.severity.value for finding in rs.check(path, **options).findings}


def labelled(counts: dict[int, int], seed: int = 0) -> list[Row]:
    labels = np.random.default_rng(seed).permutation(np.repeat(list(counts), list(counts.values())))
    return [dict(row, label=int(label)) for row, label in zip(rows(len(labels), seed), labels, strict=True)]


@pytest.mark.parametrize(("rare", "said"), [(40, {}), (30, {"D001": "info"}), (5, {"D001": "warning"})])
def test_imbalance(rare: int, said: dict[str, str], tmp_path: Path):
    assert severities(write(tmp_path / "data.tfrecord", labelled({0: 360, 1: rare}))) == said


def test_imbalance_of_a_test_split_is_nobodys_business(tmp_path: Path):
    train, test = labelled({0: 300, 1: 300}, 1), labelled({0: 80, 1: 2}, 2)
    assert "D001" not in severities(splits(tmp_path, train=train, test=test))


def test_a_rare_class_may_be_absent_from_a_small_split(tmp_path: Path):
    train, test = labelled({0: 300, 1: 300, 2: 60}, 1), labelled({0: 40, 1: 40}, 2)
    assert severities(splits(tmp_path, train=train, test=test)) == {}


def test_random_orders_are_not_clustered(tmp_path: Path):
    rng = np.random.default_rng(0)
    path = tmp_path / "data.tfrecord"
    for records in (30, 60, 300, 1200):
        for shares in ([0.5, 0.5], [0.9, 0.1], [0.97, 0.03], [0.1] * 10):
            write(path, [{"label": int(label)} for label in rng.choice(len(shares), records, p=shares)])
            assert not rs.check(path, select=["D007"]).findings


def test_a_small_sorted_file_is_clustered(tmp_path: Path):
    path = write(tmp_path / "data.tfrecord", [{"label": number // 20, "x": number / 7} for number in range(40)])
    assert severities(path) == {"D007": "warning"}


def test_runs_of_equal_labels_that_a_usual_buffer_mixes_are_only_worth_knowing(tmp_path: Path):
    labels = [block % 4 for block in range(8) for _ in range(200)]
    path = write(tmp_path / "data.tfrecord", [{"label": label, "x": n / 7} for n, label in enumerate(labels)])
    assert severities(path) == {"D007": "info"}


def test_records_that_are_all_something_else_are_only_worth_knowing(tmp_path: Path):
    path = write_payloads(tmp_path / "data.tfrecord", [f"line {number}".encode() for number in range(20)])
    assert severities(path) == {"W001": "info"}


def test_ids_as_floats_lose_digits(tmp_path: Path):
    small = changed(tmp_path / "a", lambda number, row: row.update(number=float(number)))
    assert severities(small) == {"V014": "info"}
    large = changed(tmp_path / "b", lambda number, row: row.update(number=float(2**24 + 2 * number)))
    assert severities(large)["V014"] == "warning"


def test_shifted_after_it_was_divided(tmp_path: Path):
    rng = np.random.default_rng(0)
    twice = changed(tmp_path, lambda _, row: row.update(image=(rng.random(64) / 127.5 - 1).astype(np.float32)))
    assert severities(twice) == {"V005": "warning"}


def test_copies_under_another_name_are_copies(tmp_path: Path):
    some = image_rows(60)
    some.append(dict(some[3], filename="again.jpg"))
    (found,) = rs.check(write(tmp_path / "data.tfrecord", some)).findings
    assert found.code == "D003"
    assert "except for 'filename'" in found.message


def test_a_few_common_rows_of_tables_may_be_chance(tmp_path: Path):
    train = rows(600, seed=1)
    assert severities(splits(tmp_path / "a", train=train, test=[*rows(299, seed=2), train[0]])) == {"D004": "warning"}
    assert severities(splits(tmp_path / "b", train=train, test=[*rows(290, seed=2), *train[:10]])) == {"D004": "error"}


def test_hidden_labels_of_a_test_split_are_only_worth_knowing(tmp_path: Path):
    test = [{name: value for name, value in row.items() if name != "label"} for row in rows(300, seed=2)]
    assert severities(splits(tmp_path, train=rows(600, seed=1), test=test)) == {"D014": "info"}


def test_what_is_declared_optional_may_be_rare(tmp_path: Path):
    schema = rs.Schema({**SCHEMA, "score": rs.Scalar("float32", optional=True)})
    path = changed(tmp_path, lambda number, row: row.update(score=number / 7) if number < 2 else None)
    assert severities(path, schema=schema) == {"V003": "info"}
    assert severities(path) == {"V003": "info"}


def test_how_rarely_a_feature_is_missing_decides(tmp_path: Path):
    some = rows(3000)
    some[1234].pop("label")
    path = write(tmp_path / "data.tfrecord", some)
    (found,) = rs.check(path).findings
    assert (found.code, found.severity, found.location.record) == ("V019", "warning", 1234)
    assert "missing in 1 of 3,000 records" in found.message
    path = write(tmp_path / "more.tfrecord", [row if n % 50 else {"x": row["x"]} for n, row in enumerate(rows(3000))])
    assert severities(path)["V019"] == "info"


def test_a_made_dataset_may_be_compressed_without_a_suffix(tmp_path: Path):
    assert severities(made(tmp_path / "data", compression="gzip")) == {}


def test_pixels_in_bytes_are_known_by_their_declaration(tmp_path: Path):
    rng = np.random.default_rng(0)
    for name, said in (("grid", {}), ("image", {"V011": "warning"})):
        schema = rs.Schema({name: rs.Tensor("float32", (16, 16), storage="bytes"), "label": rs.Label(["a", "b"])})
        some = [{name: rng.random((16, 16), np.float32), "label": number % 2} for number in range(40)]
        with rs.RecordWriter(tmp_path / f"{name}.tfrecord") as writer:
            writer.write_rows(some, schema)
        assert severities(tmp_path / f"{name}.tfrecord", schema=schema) == said


def test_pixels_of_different_sizes_are_known_by_what_stands_beside_them(tmp_path: Path):
    rng = np.random.default_rng(0)
    some = []
    for number in range(40):
        height, width = (int(side) for side in rng.integers(60, 120, 2))
        pixels = rng.integers(0, 256, (height, width, 3), np.uint8)
        some.append({"image_raw": pixels.tobytes(), "height": height, "width": width, "row": number})
    assert severities(write(tmp_path / "data.tfrecord", some)) == {"V011": "info"}


def test_all_categories_are_compared_not_only_the_commonest(tmp_path: Path):
    rng = np.random.default_rng(0)
    names = [f"place {number}" for number in range(60)] + ["Place 7", "place 9 "]
    path = changed(tmp_path, lambda _, row: row.update(place=str(rng.choice(names))), count=1000)
    assert severities(path) == {"V006": "warning", "V007": "warning"}


def test_masks_may_have_one_colour(tmp_path: Path):
    some = [
        {"image": made_image(number), "mask": made_image(number, ".png", side=8 + number, channels=1), "row": number}
        for number in range(30)
    ]
    for number, row in enumerate(some[:10]):
        row["mask"] = bytes(cv2.imencode(".png", np.zeros((8 + number, 9), np.uint8))[1])
    assert severities(write(tmp_path / "data.tfrecord", some), decode="all") == {}


def test_constants_that_describe_are_fine(tmp_path: Path):
    path = changed(
        tmp_path, lambda _, row: row.update(height=28, format="jpeg", attention_mask=np.ones(4, np.int64), kind="a")
    )
    assert severities(path) == {"V002": "info"}  # of 'kind'


def test_a_value_beside_nan_is_not_the_same_in_all_records(tmp_path: Path) -> None:
    rs.make({"x": np.array([1.0, np.nan, np.inf] * 10)}, tmp_path / "data")
    assert [finding.code for finding in rs.check(tmp_path / "data", select=["V001", "V002"]).findings] == ["V001"]
