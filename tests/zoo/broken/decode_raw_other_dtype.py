# cause: P017
# situation: C2
import os
import tempfile

import numpy as np
import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "signals.tfrecord")


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


with tf.io.TFRecordWriter(path) as writer:
    for number in range(200):
        signal = np.random.rand(16).astype(np.float64) + number % 2
        feature = {
            "signal": _bytes_feature(signal.tobytes()),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 2])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(
        record,
        {"signal": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)},
    )
    signal = tf.io.decode_raw(parsed["signal"], tf.float32)
    return tf.ensure_shape(signal, [32]), parsed["label"]


dataset = (
    tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.AUTOTUNE).shuffle(200).batch(20).prefetch(1)
)
model = tf.keras.Sequential([tf.keras.Input((32,)), tf.keras.layers.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(dataset, epochs=2, verbose=0)
