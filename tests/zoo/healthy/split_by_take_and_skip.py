"""One dataset split by take and skip, after a shuffle that stays the same."""

import os
import tempfile

import numpy as np
import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "all.tfrecord")
COUNT = 200
with tf.io.TFRecordWriter(path) as writer:
    for number in range(COUNT):
        array = np.full((4, 4), number, dtype=np.float32)
        feature = {
            "array": tf.train.Feature(bytes_list=tf.train.BytesList(value=[tf.io.serialize_tensor(array).numpy()])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 2])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(
        record, {"array": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    )
    array = tf.io.parse_tensor(parsed["array"], out_type=tf.float32)
    return tf.ensure_shape(array, (4, 4)), parsed["label"]


full = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
full = full.shuffle(COUNT, seed=1, reshuffle_each_iteration=False)
val_size = int(COUNT * 0.2)
train = full.skip(val_size).cache().shuffle(COUNT).batch(16).prefetch(tf.data.AUTOTUNE)
val = full.take(val_size).cache().batch(16).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.Input((4, 4)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=val, epochs=1, verbose=0)
