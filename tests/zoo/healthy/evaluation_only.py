"""Evaluation and prediction: no shuffle is needed, and a batch of one is fine."""

import os
import tempfile

import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "test.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for number in range(64):
        feature = {
            "x": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 64.0] * 3)),
            "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 2])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(batch):
    parsed = tf.io.parse_example(
        batch, {"x": tf.io.FixedLenFeature([3], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
    )
    return parsed["x"], parsed["y"]


model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", metrics=["accuracy"])
dataset = tf.data.TFRecordDataset(path).batch(16).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
print(model.evaluate(dataset, verbose=0))
single = tf.data.TFRecordDataset(path).batch(1).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
print(model.predict(single.take(4), verbose=0))
