# cause: P015
# situation: A4
# It raises: Attempting to slice scalar input.
import os
import tempfile

import numpy as np
import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "blobs.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for number in range(100):
        blob = np.zeros(64, dtype=np.uint8).tobytes() + np.array([number % 2], dtype=np.int64).tobytes()
        feature = {"blob": tf.train.Feature(bytes_list=tf.train.BytesList(value=[blob]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    blob = tf.io.parse_single_example(record, {"blob": tf.io.FixedLenFeature([], tf.string)})["blob"]
    pixels = tf.io.decode_raw(blob[:64], tf.uint8)
    return tf.reshape(pixels, (8, 8, 1))


dataset = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(10).prefetch(1)
for batch in dataset:
    print(batch.shape)
