"""What is wrong with data, found by `check` before training: C5, C6, E2, E6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import recordsmith as rs


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with rs.RecordWriter(path) as writer:
        for row in rows:
            writer.write_example(row)
    return path


def found(path: Path, **options: Any) -> dict[str, Any]:
    """The findings, by code; one of each is enough here."""
    return {finding.code: finding for finding in rs.check(path, **options).findings}


# --- C5: a buffer smaller than the run of equal labels ---


def labelled(labels: Any) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [{"x": rng.normal(size=3).astype(np.float32), "label": int(label)} for label in labels]


def test_c5_sorted_labels_are_measured_against_a_shuffle_buffer(tmp_path: Path):
    by_class = np.repeat(np.arange(5), 3000)
    finding = found(write(tmp_path / "sorted.tfrecord", labelled(by_class)))["D007"]
    assert finding.severity == "warning"
    assert finding.evidence["longest_run"] == 3000
    assert "shuffle buffer of 1,000" in finding.message
    assert finding.evidence["variety_behind_buffer"]["1000"] < 0.5

    mixed = np.random.default_rng(0).permutation(by_class)
    assert "D007" not in found(write(tmp_path / "mixed.tfrecord", labelled(mixed)))


def test_c5_runs_that_a_usual_buffer_mixes_are_only_worth_knowing(tmp_path: Path):
    blocks = np.repeat(np.tile(np.arange(4), 2), 200)
    assert found(write(tmp_path / "blocks.tfrecord", labelled(blocks)))["D007"].severity == "info"
    finding = found(write(tmp_path / "small.tfrecord", labelled(np.repeat(np.arange(4), 120))))["D007"]
    assert (finding.severity, "is sorted by 'label'" in finding.message) == ("warning", True)


# --- C6: features constant, missing, or not normalised ---


def test_c6_constant_missing_and_badly_scaled_features(tmp_path: Path):
    rng = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    for number in range(200):
        pixels = rng.integers(0, 256, 300)
        row = {
            "whole": (pixels + rng.random(300) * 0.01).clip(0, 255).astype(np.float32),
            "twice": (pixels / 255 / 255).astype(np.float32),
            "constant": 1.0,
            "fine": rng.normal(size=300).astype(np.float32),
        }
        if number < 3:
            row["rare"] = float(rng.random())
        rows.append(row)
    by_feature = {(one.code, one.location.feature) for one in rs.check(write(tmp_path / "a.tfrecord", rows)).findings}
    expected = {("V004", "whole"), ("V005", "twice"), ("V002", "constant"), ("V003", "rare")}
    assert expected <= by_feature
    assert "fine" not in {feature for _, feature in by_feature}


# --- E2: files far larger than the source ---


def made_images(count: int = 24, side: int = 96) -> list[Any]:
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (count, 6, 6, 3), dtype=np.uint8)
    return [cv2.resize(one, (side, side), interpolation=cv2.INTER_CUBIC) for one in small]


def test_e2_eight_bytes_for_each_channel_are_flagged_with_the_saving(tmp_path: Path):
    """As the usual advice stores them: divided by 255.0, which makes float64 of uint8, and tobytes()."""
    path = write(tmp_path / "raw.tfrecord", [{"image": (one / 255.0).tobytes()} for one in made_images()])
    finding = found(path)["V011"]
    assert finding.severity == "warning"
    assert "8 bytes for each channel" in finding.message
    total = 24 * 96 * 96 * 3 * 8
    assert finding.evidence["bytes"] == total
    assert finding.evidence["saving"] > 0.85 * total

    encoded = [{"image": bytes(cv2.imencode(".jpg", one)[1])} for one in made_images()]
    smaller = write(tmp_path / "encoded.tfrecord", encoded)
    assert not found(smaller)
    saved = path.stat().st_size - smaller.stat().st_size
    assert saved == pytest.approx(finding.evidence["saving"], rel=0.1)


def test_e2_pixels_as_floats_are_flagged_with_the_saving(tmp_path: Path):
    rows = [{"image": (one.reshape(-1) / np.float32(255))} for one in made_images(side=32)]
    finding = found(write(tmp_path / "floats.tfrecord", rows))["V012"]
    assert finding.severity == "warning"
    assert finding.evidence["saving"] == 24 * 32 * 32 * 3 * 3


def test_e2_dense_tf_idf_is_flagged_with_the_saving(tmp_path: Path):
    rng = np.random.default_rng(0)
    rows = []
    for number in range(40):
        vector = np.zeros(2000, np.float32)
        vector[rng.choice(2000, 30, replace=False)] = rng.random(30)
        rows.append({"tfidf": vector, "label": number % 2})
    finding = found(write(tmp_path / "dense.tfrecord", rows))["V018"]
    assert finding.evidence["saving"] > 0.9 * 40 * 2000 * 4


# --- E6: missing features, values out of range, corrupt inputs ---


def test_e6_what_breaks_training_is_found_before_it(tmp_path: Path):
    schema = rs.Schema(
        {"image": rs.Image(), "score": rs.Scalar("float32", min=0, max=1), "label": rs.Label(["cat", "dog"])}
    )
    rows: list[dict[str, Any]] = [
        {"image": bytes(cv2.imencode(".jpg", one)[1]), "score": number / 24, "label": number % 2}
        for number, one in enumerate(made_images())
    ]
    rows[5].pop("label")
    rows[7]["score"] = 100.0
    rows[9]["label"] = 2
    rows[11]["image"] = rows[11]["image"][:300]
    findings = found(write(tmp_path / "data.tfrecord", rows), schema=schema, decode="all")
    places = {code: finding.location.record for code, finding in findings.items()}
    assert places == {"S001": 5, "S005": 7, "S006": 9, "V008": 11}
    assert all(finding.severity == "error" for finding in findings.values())


def test_e6_what_make_writes_is_sound(tmp_path: Path):
    for number, one in enumerate(made_images(40)):
        folder = tmp_path / "photos" / ("cat" if number % 2 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / f"{number}.jpg"), one)
    (tmp_path / "photos" / "cat" / "broken.jpg").write_bytes(b"no image")
    result = rs.make(rs.sources.images(tmp_path / "photos"), tmp_path / "data", split={"train": 0.75, "val": 0.25})
    assert result.rejects == 1
    report = rs.check(tmp_path / "data", decode="all")
    assert report.ok, str(report)
