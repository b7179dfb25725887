# cause: P010
import os
import tempfile

import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "table.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for number in range(300):
        feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 300.0, 1.0]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    return tf.io.parse_single_example(record, {"x": tf.io.FixedLenFeature([2], tf.float32)})["x"]


dataset = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.AUTOTUNE).padded_batch(32).prefetch(1)
print(sum(len(batch) for batch in dataset))
