"""Advice is about the feature that the finding is about, and names only verbs that work on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs

RANDOM = np.random.default_rng(9)


def checked(folder: Path, schema: rs.Schema, **splits: dict[str, Any]) -> dict[str, rs.Finding]:
    for split, columns in splits.items():
        with rs.write(folder, schema, split=split) as writer:
            writer.extend(columns)
    return {finding.code: finding for finding in rs.check(folder).findings}


def test_imbalance_is_told_of_the_label_by_its_own_name_and_the_verbs_work(tmp_path: Path) -> None:
    kinds = np.array([0] * 200 + [1] * 5)
    found = checked(tmp_path / "d", rs.Schema({"species": rs.Label(["cat", "dog"])}), train={"species": kinds})
    advice = found["D001"].advice
    assert "ds.class_weights('species')" in advice
    assert "ds.balance('species')" in advice
    dataset = rs.open(tmp_path / "d", split="train")
    assert len(dataset.class_weights("species")) == 2
    assert dataset.balance("species") is not None


def test_a_label_that_some_records_lack_cannot_be_balanced_by_verbs(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path) as writer:
        for number in range(300):
            writer.write_example({"x": number, **({} if number % 50 == 0 else {"label": int(number % 90 == 1)})})
    (found,) = [one for one in rs.check(path).findings if one.code == "D001"]
    assert "ds.balance" not in found.advice
    assert "--balance" not in found.advice  # nothing declares it as the label of a made dataset
    with pytest.raises(rs.RecordsmithError):
        rs.open(path).balance("label")


def test_what_a_regression_learns_is_no_class(tmp_path: Path) -> None:
    ages = np.clip(RANDOM.normal(45, 8, 600), 18, 90).astype(np.int64)
    found = checked(tmp_path / "d", rs.Schema({"target": rs.Scalar("int64")}), train={"target": ages})
    assert not set(found) & {"D001", "D002", "D007", "D012"}
    classes = np.repeat([0, 1, 2], [500, 80, 20])
    found = checked(tmp_path / "e", rs.Schema({"target": rs.Scalar("int64")}), train={"target": classes})
    assert {"D001", "D007"} <= set(found)


def test_the_option_to_stratify_names_the_label(tmp_path: Path) -> None:
    schema = rs.Schema({"kind of animal": rs.Label(["cat", "dog"])})
    train, test = np.array([0] * 300 + [1] * 60), np.array([0] * 50 + [1] * 250)
    columns = {"train": {"kind of animal": train}, "test": {"kind of animal": test}}
    assert "--stratify 'kind of animal'`" in checked(tmp_path / "d", schema, **columns)["D012"].advice


def test_scales_of_features_are_no_matter_of_images(tmp_path: Path) -> None:
    schema = rs.Schema({"salary": rs.Scalar("float32"), "age": rs.Scalar("float32"), "price": rs.Scalar("float64")})
    columns = {
        "salary": RANDOM.normal(50_000, 9_000, 200).astype(np.float32),
        "age": RANDOM.normal(0, 1, 200).astype(np.float32),
        "price": RANDOM.normal(0, 1, 200),
    }
    advice = checked(tmp_path / "d", schema, train=columns)["V004"].advice
    assert "images" not in advice
    assert "pixels" not in advice
    assert "mean and standard deviation" in advice


def test_targets_and_times_are_no_inputs_whose_scale_matters(tmp_path: Path) -> None:
    schema = rs.Schema({name: rs.Scalar("float32") for name in ("target", "timestamp", "age")})
    columns = {
        "target": RANDOM.normal(0, 1e6, 200).astype(np.float32),
        "timestamp": RANDOM.normal(0, 1e6, 200).astype(np.float32),
        "age": RANDOM.normal(0, 1, 200).astype(np.float32),
    }
    assert "V004" not in checked(tmp_path / "d", schema, train=columns)


def test_only_pixels_are_called_pixels(tmp_path: Path) -> None:
    values = RANDOM.uniform(0, 240, (50, 64)).astype(np.float32)
    values[0, 0] = 0
    spectrum = checked(tmp_path / "s", rs.Schema({"spectrum": rs.Tensor("float32", (64,))}), train={"spectrum": values})
    assert "pixels" not in spectrum["V004"].message + spectrum["V004"].advice
    pixels = checked(
        tmp_path / "p", rs.Schema({"image": rs.Tensor("float32", (8, 8))}), train={"image": values.reshape(50, 8, 8)}
    )
    assert "pixels" in pixels["V004"].message
    assert "255" in pixels["V004"].advice
    assert ".images(" not in pixels["V004"].advice  # it decodes encoded images, which these are not


def test_a_constant_is_dropped_by_its_own_name(tmp_path: Path) -> None:
    schema = rs.Schema({"my column": rs.Scalar("float32"), "x": rs.Scalar("int64")})
    columns = {"my column": np.ones(30, np.float32), "x": np.arange(30)}
    assert "--drop 'my column'`" in checked(tmp_path / "d", schema, train=columns)["V002"].advice


def test_whole_numbers_in_wide_floats_lose_digits_later(tmp_path: Path) -> None:
    for dtype, number, loses in (("float64", 2**40, False), ("float64", 2**55, True), ("float16", 2**12, True)):
        schema = rs.Schema({"id": rs.Scalar(np.dtype(dtype))})
        values = np.arange(30) * (2**12 if dtype == "float64" else 64) + number
        finding = checked(tmp_path / f"{dtype}{number}", schema, train={"id": values.astype(dtype)})["V014"]
        assert (finding.severity == "warning") == loses
        assert not loses or dtype in finding.message
