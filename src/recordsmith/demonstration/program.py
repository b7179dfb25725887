"""A training program as one finds it: it runs, and the model does not learn."""

from __future__ import annotations

__all__ = ["BROKEN_PROGRAM"]

BROKEN_PROGRAM = """\
import glob

import tensorflow as tf

files = sorted(glob.glob("data/photos-train.tfrecord*"))
spec = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "lable": tf.io.FixedLenFeature([], tf.int64, default_value=0),
}


def image_of(record):
    parsed = tf.io.parse_single_example(record, spec)
    return tf.image.convert_image_dtype(tf.io.decode_png(parsed["image"], channels=3), tf.float32)


def label_of(record):
    return tf.io.parse_single_example(record, spec)["lable"]


images = tf.data.TFRecordDataset(files).map(image_of).shuffle(1000)
labels = tf.data.TFRecordDataset(files).map(label_of).shuffle(1000)
train = tf.data.Dataset.zip((images, labels)).batch(32).repeat()

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(4, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=5, steps_per_epoch=20)
"""
