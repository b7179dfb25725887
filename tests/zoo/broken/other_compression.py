# cause: P024
# It raises: corrupted record at 0.
import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()
os.chdir(folder)
with tf.io.TFRecordWriter("table.tfrecord", options=tf.io.TFRecordOptions(compression_type="GZIP")) as writer:
    for number in range(100):
        feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 100.0]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

dataset = tf.data.TFRecordDataset("table.tfrecord").shuffle(100).batch(10)
dataset = dataset.map(lambda batch: tf.io.parse_example(batch, {"x": tf.io.FixedLenFeature([], tf.float32)})["x"])
for batch in dataset:
    print(batch.shape)
