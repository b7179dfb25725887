"""Problems while generating TFRecords: speed, size, text, imbalance, memory, bad rows, crashes."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tensorflow as tf
from PIL import Image
from sklearn.feature_extraction.text import TfidfVectorizer

import recordsmith as rs
from tests.formats.made_sources import Columns, file_digests
from tests.situations.preparing import normalised


def photo(number: int, height: int = 75, width: int = 100) -> bytes:
    """A JPEG with soft colours, as photographs have them."""
    small = np.random.default_rng(number).integers(0, 255, (6, 8, 3)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC).save(file, "jpeg", quality=90)
    return file.getvalue()


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for number in range(24):
        folder = tmp_path / "photos" / ("cat" if number % 3 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:02}.jpg").write_bytes(photo(number))
    return tmp_path / "photos"


def records(folder: Path, split: str = "train") -> tf.data.TFRecordDataset:
    """A split, as plain TensorFlow reads it."""
    return tf.data.TFRecordDataset([str(path) for path in sorted(folder.glob(f"*-{split}.tfrecord-*"))])


def command(*arguments: object, **settings: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "recordsmith", *map(str, arguments)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **settings,
    )


# --- E1: decode, resize, normalise, one-hot, one by one ---


def test_e1_images_are_prepared_by_all_processors_with_one_result(photos: Path, tmp_path: Path):
    for workers in (1, 2, 3):
        rs.make(
            rs.sources.images(photos, size=(32, 48)), tmp_path / str(workers), name="pets", workers=workers, shards=2
        )
    assert file_digests(tmp_path / "1") == file_digests(tmp_path / "2") == file_digests(tmp_path / "3")
    schema = rs.open(tmp_path / "2").schema
    seen = 0
    for batch in records(tmp_path / "2").batch(8).map(schema.parse_tf):
        for data, label, name in zip(batch["image"], batch["label"], batch["filename"], strict=True):
            image = tf.io.decode_jpeg(data)
            assert image.shape == (32, 48, 3)
            hot = tf.one_hot(label, 2).numpy().tolist()
            assert hot == ([1.0, 0.0] if name.numpy().startswith(b"cat") else [0.0, 1.0])
            seen += 1
    assert seen == 24


def test_e1_a_function_of_ones_own_runs_in_processes_with_one_result(photos: Path, tmp_path: Path):
    schema = rs.Schema(
        {"pixels": rs.Tensor("float32", (8, 8, 3)), "target": rs.Tensor("float32", (2,)), "filename": rs.Text()}
    )
    for workers in (1, 2):
        rs.make(
            rs.sources.images(photos), tmp_path / str(workers), name="pets", schema=schema, map=normalised,
            workers=workers,
        )  # fmt: skip
    assert file_digests(tmp_path / "1") == file_digests(tmp_path / "2")
    (batch,) = records(tmp_path / "1").batch(100).map(schema.parse_tf)
    assert batch["pixels"].shape == (24, 8, 8, 3)
    assert 0 <= float(tf.reduce_min(batch["pixels"])) <= float(tf.reduce_max(batch["pixels"])) <= 1
    for pixels, name in zip(batch["pixels"].numpy(), batch["filename"].numpy(), strict=True):
        row = {"image": (photos / name.decode()).read_bytes(), "label": 0, "filename": ""}
        assert np.array_equal(pixels, normalised(row)["pixels"])


# --- E2: files far larger than the source ---


def test_e2_images_stay_encoded(photos: Path, tmp_path: Path):
    source = sum(path.stat().st_size for path in photos.rglob("*.jpg"))
    made = rs.make(rs.sources.images(photos), tmp_path / "out")
    assert made.source_bytes == source
    assert made.bytes < 1.1 * source
    with tf.io.TFRecordWriter(str(tmp_path / "usual.tfrecord")) as writer:
        for path in photos.rglob("*.jpg"):
            pixels = np.asarray(cv2.imread(str(path))) / 255.0  # float64: 8 bytes a channel
            value = tf.train.BytesList(value=[pixels.tobytes()])
            feature = {"image": tf.train.Feature(bytes_list=value)}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    usual = (tmp_path / "usual.tfrecord").stat().st_size
    assert usual > 30 * made.bytes
    decoded = {
        row["filename"].numpy()[0]: tf.io.decode_jpeg(row["image"][0]).numpy()
        for row in records(tmp_path / "out").batch(1).map(rs.open(tmp_path / "out").schema.parse_tf)
    }
    for name, image in decoded.items():
        expected = tf.io.decode_jpeg((photos / name.decode()).read_bytes()).numpy()
        assert np.array_equal(image, expected), "not a bit of the image has changed"


def test_e2_compact_dtypes(tmp_path: Path):
    pixels = np.random.default_rng(0).integers(0, 255, (50, 28, 28)).astype(np.uint8)
    made = rs.make({"pixels": pixels}, tmp_path / "out", shuffle=False)
    assert made.bytes < 1.06 * pixels.nbytes
    (batch,) = records(tmp_path / "out").batch(100).map(rs.open(tmp_path / "out").schema.parse_tf)
    assert batch["pixels"].dtype == tf.uint8
    assert np.array_equal(batch["pixels"].numpy(), pixels)


# --- E3: text as token ids, TF-IDF, embeddings ---

TEXTS = [f"The {['quick', 'lazy', 'old'][n % 3]} dog, number {n % 11}: {'very ' * (n % 4)}good!" for n in range(90)]


def text_source() -> Columns:
    columns = {"text": TEXTS, "n": np.arange(len(TEXTS))}
    return Columns(columns, rs.Schema({"text": rs.Text(), "n": rs.Scalar("int64")}))


def test_e3_word_ids_are_those_of_keras(tmp_path: Path):
    preprocess = rs.preprocessing.VocabularyIds("text", 12, into="ids", keep_text=True)
    rs.make(text_source(), tmp_path / "out", split="train=0.8,test=0.2", preprocess=preprocess)
    schema = rs.open(tmp_path / "out").schema
    train, test = (
        next(iter(records(tmp_path / "out", split).batch(100).map(schema.parse_tf))) for split in ("train", "test")
    )
    layer = tf.keras.layers.TextVectorization(max_tokens=12)
    layer.adapt(train["text"])
    for batch in (train, test):
        expected = layer(batch["text"]).numpy()
        assert np.array_equal(batch["ids"].to_tensor(shape=[None, expected.shape[1]]).numpy(), expected)


def test_e3_tf_idf_is_that_of_scikit_learn_and_never_dense(tmp_path: Path):
    preprocess = rs.preprocessing.Tfidf("text", 8, into="tfidf", keep_text=True)
    rs.make(text_source(), tmp_path / "out", split="train=0.8,test=0.2", preprocess=preprocess)
    schema = rs.open(tmp_path / "out").schema
    assert isinstance(schema["tfidf"], rs.Sparse)
    train, test = (
        next(iter(records(tmp_path / "out", split).batch(100).map(schema.parse_tf))) for split in ("train", "test")
    )
    assert isinstance(train["tfidf"], tf.SparseTensor)
    vectorizer = TfidfVectorizer(max_features=8)
    vectorizer.fit(text.decode() for text in train["text"].numpy())
    for batch in (train, test):
        expected = vectorizer.transform(text.decode() for text in batch["text"].numpy()).toarray()
        found = tf.sparse.to_dense(batch["tfidf"]).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_e3_embeddings_that_were_computed_before(tmp_path: Path):
    vectors = np.random.default_rng(0).normal(size=(40, 64)).astype(np.float32)
    rs.make({"embedding": vectors, "n": np.arange(40)}, tmp_path / "out")
    (batch,) = records(tmp_path / "out").batch(100).map(rs.open(tmp_path / "out").schema.parse_tf)
    assert np.array_equal(batch["embedding"].numpy(), vectors[batch["n"].numpy()])


# --- E4: class imbalance ---


def imbalanced() -> Columns:
    rng = np.random.default_rng(0)
    labels = np.array([0] * 360 + [1] * 40)
    columns = {"x": (rng.normal(size=(400, 3)) + labels[:, None]).astype(np.float32), "label": labels}
    schema = rs.Schema({"x": rs.Tensor("float32", (3,)), "label": rs.Label(["healthy", "diseased"])})
    return Columns(columns, schema, label="label")


@pytest.mark.parametrize(
    ("balance", "counts"),
    [("oversample", [288, 288]), ("undersample", [32, 32]), ("SMOTE", [288, 288]), ({"diseased": 100}, [288, 100])],
    ids=str,
)
def test_e4_the_training_split_is_balanced_and_no_other(balance, counts: list[int], tmp_path: Path):
    rs.make(imbalanced(), tmp_path / "out", split="train=0.8,test=0.2", stratify=True, balance=balance)
    schema = rs.open(tmp_path / "out").schema
    (train,) = records(tmp_path / "out").batch(1000).map(schema.parse_tf)
    (test,) = records(tmp_path / "out", "test").batch(1000).map(schema.parse_tf)
    assert np.bincount(train["label"].numpy()).tolist() == counts
    assert np.bincount(test["label"].numpy()).tolist() == [72, 8]
    seen = {row.tobytes() for row in train["x"].numpy()}
    assert not seen & {row.tobytes() for row in test["x"].numpy()}, "no row is in both, however often it is repeated"


def test_e4_class_weights_go_to_keras(tmp_path: Path):
    made = rs.make(imbalanced(), tmp_path / "out", split="train=0.8,test=0.2", stratify=True)
    stored = rs.open(tmp_path / "out", split="train")
    weights = stored.class_weights("label")
    names = stored.schema["label"].names
    assert {names[code]: weight for code, weight in weights.items()} == pytest.approx(made.weights_by_name)
    assert weights == pytest.approx(made.class_weights)
    assert weights == pytest.approx({0: 320 / (2 * 288), 1: 320 / (2 * 32)})
    (batch,) = records(tmp_path / "out").batch(1000).map(stored.schema.parse_tf)
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, activation="softmax")])
    model.compile(loss="sparse_categorical_crossentropy")
    history = model.fit(batch["x"], batch["label"], class_weight=made.class_weights, verbose=0)
    assert np.isfinite(history.history["loss"][0])


# --- E5: data larger than memory, video in chunks (memory itself is measured in tests/making/test_memory.py) ---


def test_e5_rows_are_never_all_there_at_once(tmp_path: Path):
    """A source hands out its rows a few at a time."""
    alive, most = 0, 0

    class Row(dict[str, Any]):
        def __init__(self, n: int) -> None:
            nonlocal alive, most
            super().__init__(n=n, filler="x" * 400)
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    made = rs.make((Row(n) for n in range(80_000)), tmp_path / "out", workers=1)
    assert made.rows == 80_000
    assert most < 50_000


def test_e5_a_video_becomes_clips_of_frames(tmp_path: Path):
    path = tmp_path / "videos" / "ride.avi"
    path.parent.mkdir()
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 25, (32, 24))
    for number in range(50):
        writer.write(np.full((24, 32, 3), 5 * number, np.uint8))
    writer.release()
    made = rs.make(rs.sources.video(tmp_path / "videos", clip_frames=16), tmp_path / "out", shuffle=False)
    assert made.rows == 4
    features = {"frames": tf.io.FixedLenSequenceFeature([], tf.string)}
    brightness: list[float] = []
    for record in records(tmp_path / "out"):
        context, steps = tf.io.parse_single_sequence_example(
            record, {"clip": tf.io.FixedLenFeature([], tf.int64)}, features
        )
        assert int(context["clip"]) == len(brightness) // 16
        brightness += [
            float(tf.reduce_mean(tf.cast(tf.io.decode_jpeg(frame), tf.float32))) for frame in steps["frames"]
        ]
    assert len(brightness) == 50
    np.testing.assert_allclose(brightness, 5 * np.arange(50), atol=4)


# --- E6: missing features, values out of range, corrupt inputs ---


def test_e6_bad_rows_never_reach_training(tmp_path: Path):
    rows: list[dict[str, Any]] = [{"temperature": 20.0 + n / 10, "sensor": f"s{n % 3}"} for n in range(100)]
    rows[10] = {"sensor": "s1"}
    rows[20]["temperature"] = 4000.0
    rows[30]["temperature"] = float("nan")
    rows[40]["sensor"] = "s9"
    schema = rs.Schema(
        {
            "temperature": rs.Scalar("float32", min=-60, max=60, finite=True),
            "sensor": rs.Text(one_of=["s0", "s1", "s2"]),
        }
    )
    made = rs.make(rows, tmp_path / "out", schema=schema)
    assert (made.rejects, made.rows) == (4, 96)
    reasons = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()]
    assert [reason["feature"] for reason in reasons] == ["temperature", "temperature", "temperature", "sensor"]
    (batch,) = records(tmp_path / "out").batch(1000).map(schema.parse_tf)
    temperatures = batch["temperature"].numpy()
    assert len(temperatures) == 96
    assert np.isfinite(temperatures).all()
    assert temperatures.min() >= -60
    assert temperatures.max() <= 60


def test_e6_images_that_cannot_be_decoded_are_quarantined_with_the_reason(photos: Path, tmp_path: Path):
    whole = photo(1)
    (photos / "cat" / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (photos / "dog" / "page.jpg").write_text("<html>404</html>")
    (photos / "dog" / "empty.jpg").write_bytes(b"")
    made = rs.make(rs.sources.images(photos), tmp_path / "out")
    assert (made.rejects, made.rows) == (3, 24)
    lines = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()]
    assert {os.path.basename(line["source"]) for line in lines} == {"cut.jpg", "page.jpg", "empty.jpg"}
    for row in records(tmp_path / "out").batch(1).map(rs.open(tmp_path / "out").schema.parse_tf):
        assert tf.io.decode_jpeg(row["image"][0]).shape == (75, 100, 3), "TensorFlow decodes all that are in"


def test_e6_the_command_says_so_with_its_exit_code(photos: Path, tmp_path: Path):
    (photos / "cat" / "page.jpg").write_text("<html>404</html>")
    process = command("make", photos, "-o", tmp_path / "out")
    output, _ = process.communicate()
    assert process.returncode == 1, output
    assert "page.jpg" in output


# --- E7: a crash after hours ---


def test_e7_a_killed_command_goes_on_to_the_same_bytes(tmp_path: Path):
    lines = "".join(f"{n},{n / 7},{'ab'[n % 2]},{'filler ' * 20}\n" for n in range(30_000))
    (tmp_path / "data.csv").write_text("n,x,label,text\n" + lines)
    options = ["--name", "data", "--split", "train=0.8,test=0.2", "--label", "label", "--stratify", "--shards", "6"]
    made = command("make", tmp_path / "data.csv", "-o", tmp_path / "whole", *options)
    output, _ = made.communicate()
    assert made.returncode == 0, output

    out = tmp_path / "out"
    killed = 0
    for _ in range(3):
        process = command("make", tmp_path / "data.csv", "-o", out, *options, "--resume", start_new_session=True)
        for _ in range(2000):  # until it has begun to write, and a little longer
            if (out / ".recordsmith-making" / "pieces").exists() or process.poll() is not None:
                break
            time.sleep(0.01)
        time.sleep(0.05 * killed)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
        process.communicate()
    assert killed
    final = command("make", tmp_path / "data.csv", "-o", out, *options, "--resume")
    output, _ = final.communicate()
    assert final.returncode == 0, output
    assert file_digests(out) == file_digests(tmp_path / "whole")
    schema = rs.open(out).schema
    found = [int(n) for split in ("train", "test") for batch in records(out, split).batch(5000).map(schema.parse_tf)
             for n in batch["n"].numpy()]  # fmt: skip
    assert sorted(found) == list(range(30_000))
