"""Rows without tokens, red and blue swapped, and values that wrap: named, with real programs, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import Epochs, codes, images, write, wrong

RANDOM = np.random.default_rng(3)
ROWS = 256
SIDE = 32


def photographs(count: int = ROWS) -> tuple[Any, Any]:
    """Smooth images in colours of their own, and two classes."""
    labels = RANDOM.integers(0, 2, count)
    places = np.linspace(0, 2 * np.pi, SIDE)
    values = np.empty((count, SIDE, SIDE, 3))
    for number in range(count):
        for channel in range(3):
            across, down = RANDOM.uniform(0.3, 1.2, 2)
            wave = np.add.outer(np.sin(across * places + RANDOM.uniform(0, 6)), np.cos(down * places))
            values[number, ..., channel] = 100 + 35 * wave + 20 * labels[number]
        values[number] += RANDOM.uniform(-25, 25, (4, 4, 1)).repeat(SIDE // 4, 0).repeat(SIDE // 4, 1)
    return np.clip(values + RANDOM.normal(0, 2, values.shape), 0, 255).astype(np.uint8), labels.astype(np.int64)


PHOTOS, KINDS = photographs()
SCALED = PHOTOS.astype(np.float32) / 255
CAFFE = PHOTOS[..., ::-1].astype(np.float32) - np.array([104, 117, 123], np.float32)
MIRRORED = np.where(RANDOM.random((ROWS, 1, 1, 1)) < 0.5, SCALED, SCALED[:, :, ::-1])


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("photos") / "a.tfrecord", PHOTOS, KINDS)


def tokens(*, empty: int = 0, start: int = 0) -> tuple[Any, Any]:
    """Ids of different lengths, padded with 0, of which some rows hold none."""
    ids = RANDOM.integers(1, 50, (ROWS, 12))
    lengths = RANDOM.integers(3, 13, ROWS)
    lengths[start : start + empty] = 0
    return np.where(np.arange(12) < lengths[:, None], ids, 0), (ids[:, 0] > 25).astype(np.int64)


# --- colours ---


@pytest.mark.parametrize(
    "fed",
    [PHOTOS[..., ::-1], SCALED[..., ::-1], SCALED[..., ::-1] * 2 - 1, MIRRORED[..., ::-1] * 0.9],
    ids=["bytes", "scaled", "from -1 to 1", "mirrored and darker"],
)
def test_red_and_blue_swapped(path: str, fed: Any) -> None:
    report = rs.diagnose(Epochs(fed, KINDS), path)
    assert codes(report, least="warning") == ["T038"]
    (found,) = [one for one in report.findings if one.code == "T038"]
    assert found.corrected == "image = image[..., ::-1]"


@pytest.mark.parametrize(
    "fed",
    [PHOTOS, SCALED, MIRRORED, CAFFE, np.moveaxis(SCALED, 3, 1), SCALED.mean(axis=3, keepdims=True).repeat(3, 3)],
    ids=["bytes", "scaled", "mirrored", "as VGG takes it", "channels first", "grey"],
)
def test_the_right_order_is_left_alone(path: str, fed: Any) -> None:
    assert "T038" not in codes(rs.diagnose(Epochs(fed, KINDS), path))


def test_grey_records_have_no_order_of_colours(tmp_path: Path) -> None:
    grey = PHOTOS[..., :1].repeat(3, 3)
    assert wrong(rs.diagnose(Epochs(grey[..., ::-1], KINDS), write(tmp_path / "grey.tfrecord", grey, KINDS))) == []


def test_opencv_in_a_program_of_tensorflow(path: str) -> None:
    tf, cv2 = pytest.importorskip("tensorflow"), pytest.importorskip("cv2")

    def decode(data: bytes) -> Any:
        return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)  # blue, green, red

    def parse(record: Any) -> tuple[Any, Any]:
        spec = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
        row = tf.io.parse_single_example(record, spec)
        image = tf.ensure_shape(tf.numpy_function(decode, [row["image"]], tf.uint8), (SIDE, SIDE, 3))
        return tf.cast(image, tf.float32) / 255, row["label"]

    fed = tf.data.TFRecordDataset(path).map(parse).shuffle(ROWS).batch(32).prefetch(1)
    assert codes(rs.diagnose(fed, path), least="warning") == ["T038"]


# --- values that wrap ---


@pytest.mark.parametrize("severity", ["error", "warning"])
@pytest.mark.parametrize(
    "fed",
    [PHOTOS + np.uint8(200), (PHOTOS + np.uint8(200)).astype(np.float32) / 255, PHOTOS * np.uint8(2)],
    ids=["added", "scaled afterwards", "doubled"],
)
def test_values_that_wrap(path: str, fed: Any, severity: str) -> None:
    report = rs.diagnose(Epochs(fed, KINDS), path if severity == "error" else None)
    (found,) = [one for one in report.findings if one.code == "T039"]
    assert found.severity == severity


def test_even_noise_that_wraps_is_known_by_its_record(tmp_path: Path) -> None:
    noise = RANDOM.integers(0, 256, (64, 16, 16, 3)).astype(np.uint8)
    path = write(tmp_path / "noise.tfrecord", noise, KINDS[:64])
    assert "T039" in codes(rs.diagnose(Epochs(noise + np.uint8(200), KINDS[:64]), path), least="error")
    assert "T039" not in codes(rs.diagnose(Epochs(noise, KINDS[:64]), path))
    dark = noise // 2
    path = write(tmp_path / "dark.tfrecord", dark, KINDS[:64])
    assert "T039" not in codes(rs.diagnose(Epochs(dark + np.uint8(100), KINDS[:64]), path))  # nothing ran over


def test_a_program_of_tensorflow_that_wraps(path: str) -> None:
    tf = pytest.importorskip("tensorflow")

    def parse(record: Any) -> tuple[Any, Any]:
        spec = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
        row = tf.io.parse_single_example(record, spec)
        image = tf.ensure_shape(tf.io.decode_png(row["image"], 3), (SIDE, SIDE, 3)) + tf.constant(200, tf.uint8)
        return tf.cast(image, tf.float32) / 255, row["label"]

    fed = tf.data.TFRecordDataset(path).map(parse).shuffle(ROWS).batch(32).prefetch(1)
    assert codes(rs.diagnose(fed, path), least="warning") == ["T039"]


@pytest.mark.parametrize(
    "fed",
    [
        PHOTOS,
        SCALED,
        np.clip(SCALED + 0.3, 0, 1),
        np.where(PHOTOS > 128, 255, 0).astype(np.uint8),
        255 - PHOTOS,
        images(ROWS)[0],
        RANDOM.integers(0, 256, PHOTOS.shape).astype(np.uint8),
    ],
    ids=["bytes", "scaled", "brighter and clipped", "two tones", "inverted", "others", "noise"],
)
def test_nothing_wraps(path: str, fed: Any) -> None:
    assert "T039" not in codes(rs.diagnose(Epochs(fed, KINDS), path))
    assert "T039" not in codes(rs.diagnose(Epochs(fed, KINDS)))


def test_hard_edges_on_disk_are_no_overflow(tmp_path: Path) -> None:
    digits = np.zeros((ROWS, 28, 28, 3), np.uint8)
    for number, (left, top) in enumerate(RANDOM.integers(0, 14, (ROWS, 2))):
        digits[number, top : top + 12, left : left + 3] = 253
    report = rs.diagnose(Epochs(digits, KINDS), write(tmp_path / "digits.tfrecord", digits, KINDS))
    assert "T039" not in codes(report)


# --- rows without tokens ---


def test_rows_without_tokens_are_a_warning_without_a_model() -> None:
    report = rs.diagnose(Epochs(*tokens(empty=5)))
    (found,) = [one for one in report.findings if one.code == "T037"]
    assert (found.severity, found.count) == ("warning", 5)
    lists = [(list(map(np.trim_zeros, ids)), labels) for ids, labels in Epochs(*tokens(empty=5))]
    assert "T037" in codes(rs.diagnose(lists), least="warning")


@pytest.mark.parametrize(
    "inputs",
    [
        tokens()[0],
        RANDOM.poisson(0.4, (ROWS, 8)),
        (RANDOM.random((ROWS, 12)) < 0.2).astype(np.int64),
        np.eye(5, dtype=np.int64)[RANDOM.integers(0, 5, ROWS)],
        RANDOM.integers(0, 2, ROWS),
    ],
    ids=["ids", "counts", "flags", "one-hot", "a number"],
)
def test_zeros_that_are_no_padding(inputs: Any) -> None:
    assert "T037" not in codes(rs.diagnose(Epochs(inputs, KINDS)))


@pytest.mark.parametrize("start", [0, 200])
def test_a_masked_mean_in_keras_is_named(start: int) -> None:
    tf = pytest.importorskip("tensorflow")
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            tf.keras.Input((12,), dtype="int32"),
            layers.Embedding(50, 8, mask_zero=True),
            layers.GlobalAveragePooling1D(),
            layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    report = rs.diagnose(Epochs(*tokens(empty=3, start=start), seed=None), model=model)
    errors = [one for one in report.findings if one.severity == "error"]
    assert [one.code for one in errors] == ["T037"], wrong(report)
    assert "NaN" in errors[0].message
    assert "error" not in [one.severity for one in rs.diagnose(Epochs(*tokens()), model=model).findings]


def test_attention_over_nothing_in_torch_is_named() -> None:
    torch = pytest.importorskip("torch")

    class Reader(torch.nn.Module):  # type: ignore[misc, name-defined] # torch has no types here
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(50, 8, padding_idx=0)
            self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
            self.last = torch.nn.Linear(8, 2)

        def forward(self, ids: Any) -> Any:
            seen = self.embedding(ids)
            mixed, _ = self.attention(seen, seen, seen, key_padding_mask=ids == 0)
            return self.last(mixed.mean(dim=1))

    def loader(empty: int) -> Any:
        data = torch.utils.data.TensorDataset(*map(torch.as_tensor, tokens(empty=empty)))
        return torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)

    report = rs.diagnose(loader(4), model=Reader(), loss=torch.nn.CrossEntropyLoss())
    assert [one.code for one in report.findings if one.severity == "error"] == ["T037"], wrong(report)
    healthy = rs.diagnose(loader(0), model=Reader(), loss=torch.nn.CrossEntropyLoss())
    assert "error" not in [one.severity for one in healthy.findings]


def test_a_model_that_copes_with_empty_rows_makes_it_worth_knowing_only() -> None:
    tf = pytest.importorskip("tensorflow")
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            tf.keras.Input((12,), dtype="int32"),
            layers.Embedding(50, 8),
            layers.GlobalAveragePooling1D(),
            layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    report = rs.diagnose(Epochs(*tokens(empty=3)), model=model)
    assert [one.severity for one in report.findings if one.code == "T037"] == ["info"]


# --- names ---


def test_classes_are_told_with_their_names(tmp_path: Path) -> None:
    schema = rs.Schema({"image": rs.Image(encoding="png"), "label": rs.Label(["cat", "dog"])})
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_columns({"image": list(PHOTOS), "label": KINDS}, schema)
    dataset = rs.open(path, schema=schema)
    report = rs.diagnose(Epochs(SCALED, np.roll(KINDS, 1)), dataset)
    (found,) = [one for one in report.findings if one.code == "T060"]
    assert "(cat)" in found.message
    assert "(dog)" in found.message
    (table,) = [one for one in report.to_json()["sections"] if one["title"] == "Labels"]
    assert {row[0] for row in table["rows"]} == {"0 (cat)", "1 (dog)"}
