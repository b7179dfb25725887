"""What people write in plain TensorFlow gives the same batches as the chain that replaces it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image

tf = pytest.importorskip("tensorflow")

COUNT = 23


def write(path: Path, schema: rs.Schema, columns: dict[str, Any]) -> str:
    with rs.RecordWriter(path) as writer:
        writer.write_columns(columns, schema)
    return str(path)


def as_numpy(dataset: Any) -> list[Any]:
    return list(dataset.as_numpy_iterator())


def test_features_paired_with_labels_and_batched(tmp_path: Path) -> None:
    schema = rs.Schema({"image": rs.Tensor("float32", (6,)), "label": rs.Label(10)})
    images = np.random.default_rng(0).random((COUNT, 6), np.float32)
    path = write(tmp_path / "a.tfrecord", schema, {"image": images, "label": np.arange(COUNT) % 10})

    def parse(record: Any) -> tuple[Any, Any]:
        description = {
            "image": tf.io.FixedLenFeature([6], tf.float32),
            "label": tf.io.FixedLenFeature([], tf.int64),
        }
        row = tf.io.parse_single_example(record, description)
        return row["image"], row["label"]

    theirs = tf.data.TFRecordDataset(path).map(parse).batch(5)
    chain = rs.open(path, schema=schema).batch(5).pairs("image", "label")
    assert chain.to_tf().element_spec == theirs.element_spec
    for ours in (chain, as_numpy(chain.to_tf()), as_numpy(chain.to_tf(graph=True))):
        for (inputs, target), (their_inputs, their_target) in zip(ours, as_numpy(theirs), strict=True):
            np.testing.assert_array_equal(inputs, their_inputs)
            np.testing.assert_array_equal(target, their_target)


def test_features_and_label_packed_in_one_blob(tmp_path: Path) -> None:
    schema = rs.Schema({"blob": rs.Packed({"pixels": ("uint8", (32, 16, 1)), "label": ("int64", ())})})
    random = np.random.default_rng(1)
    pixels = random.integers(0, 256, (COUNT, 32, 16, 1), np.uint8)
    labels = random.integers(-(2**40), 2**40, COUNT)
    path = write(tmp_path / "a.tfrecord", schema, {"blob": {"pixels": pixels, "label": labels}})

    def parse(record: Any) -> tuple[Any, Any]:
        row = tf.io.parse_single_example(record, {"blob": tf.io.FixedLenFeature([], tf.string)})
        image = tf.io.decode_raw(tf.strings.substr(row["blob"], 0, 512), tf.uint8)
        label = tf.io.decode_raw(tf.strings.substr(row["blob"], 512, 8), tf.int64)
        return tf.reshape(image, (32, 16, 1)), label[0]

    theirs = as_numpy(tf.data.TFRecordDataset(path).map(parse).batch(8))
    chain = rs.open(path, schema=schema).batch(8)
    for ours in (chain, as_numpy(chain.to_tf()), as_numpy(chain.to_tf(graph=True))):
        for batch, (image, label) in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(batch["blob"]["pixels"], image)
            np.testing.assert_array_equal(batch["blob"]["label"], label)


@pytest.mark.parametrize("encoding", ["jpeg", "png"])
def test_images_decoded_repeated_batched(tmp_path: Path, encoding: str) -> None:
    y, x = np.mgrid[0:48, 0:64]
    images = [np.stack([(x + n) * 3, y * 4, x + 2 * y], axis=-1).astype(np.uint8) for n in range(6)]
    schema = rs.Schema({"image": rs.Image(height=48, width=64, encoding=encoding), "label": rs.Label(3)})
    columns = {"image": [encode_image(one, encoding) for one in images], "label": np.arange(6) % 3}
    path = write(tmp_path / "a.tfrecord", schema, columns)

    def parse(record: Any) -> tuple[Any, Any]:
        description = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
        row = tf.io.parse_single_example(record, description)
        if encoding == "jpeg":
            image = tf.io.decode_jpeg(row["image"], channels=3, dct_method="INTEGER_ACCURATE")
        else:
            image = tf.io.decode_png(row["image"], channels=3)
        image = tf.image.resize(image, (24, 32))
        return image / 255.0, row["label"]

    theirs = as_numpy(tf.data.TFRecordDataset(path).map(parse).repeat(2).batch(4).prefetch(2))
    ds = rs.open(path, schema=schema)
    chain = ds.images(size=(24, 32), scale=1 / 255).repeat(2).batch(4).prefetch(2).pairs("image", "label")
    for ours in (chain, as_numpy(chain.to_tf()), as_numpy(chain.to_tf(graph=True))):
        for (image, label), (their_image, their_label) in zip(ours, theirs, strict=True):
            difference = np.abs(image - their_image)
            assert difference.mean() < 1 / 255
            assert difference.max() < 3 / 255
            np.testing.assert_array_equal(label, their_label)


def test_text_to_padded_numbers(tmp_path: Path) -> None:
    texts = ["The cat sat on the mat.", "A dog!", "the DOG, the cat", "", "mat mat mat unseen-word", "on and on"] * 3
    schema = rs.Schema({"text": rs.Text(), "label": rs.Label(2)})
    path = write(tmp_path / "a.tfrecord", schema, {"text": texts, "label": np.arange(len(texts)) % 2})

    def parse(record: Any) -> tuple[Any, Any]:
        description = {"text": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
        row = tf.io.parse_single_example(record, description)
        return row["text"], row["label"]

    rows = tf.data.TFRecordDataset(path).map(parse)
    layer = tf.keras.layers.TextVectorization(max_tokens=8, ragged=True)
    layer.adapt(rows.map(lambda text, _: text).batch(4))
    single = rows.map(lambda text, label: (layer(text[tf.newaxis])[0], label))
    theirs = as_numpy(single.padded_batch(4, padded_shapes=([None], [])))
    ds = rs.open(path, schema=schema)
    chain = ds.vectorize("text", rs.Vocabulary.fit(ds, "text", size=8)).padded_batch(4).pairs("text", "label")
    for ours in (chain, as_numpy(chain.to_tf()), as_numpy(chain.to_tf(graph=True))):
        for (tokens, label), (their_tokens, their_label) in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(tokens, their_tokens)
            np.testing.assert_array_equal(label, their_label)
