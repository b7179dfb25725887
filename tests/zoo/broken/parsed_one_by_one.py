# cause: P008
import os
import tempfile

import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "table.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for number in range(500):
        values = [float(number % 7), float(number % 5)]
        example = tf.train.Example(
            features=tf.train.Features(
                feature={
                    "x": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
                    "y": tf.train.Feature(float_list=tf.train.FloatList(value=[values[0] + values[1]])),
                }
            )
        )
        writer.write(example.SerializeToString())

features = {"x": tf.io.FixedLenFeature([2], tf.float32), "y": tf.io.FixedLenFeature([], tf.float32)}


def parse(record):
    row = tf.io.parse_single_example(record, features)
    return row["x"], row["y"]


rows = tf.data.TFRecordDataset(path).shuffle(500).map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(64).prefetch(1)
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(rows, epochs=2, verbose=0)
