"""The older style: an input function by mode, TensorFlow 1 names."""

import os
import tempfile

import tensorflow.compat.v1 as tf

path = os.path.join(tempfile.mkdtemp(), "data.tfrecord")
writer = tf.python_io.TFRecordWriter(path)
for number in range(100):
    features = {
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 100.0])),
        "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 2])),
    }
    writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
writer.close()


def parser(record):
    parsed = tf.parse_single_example(
        record, {"x": tf.FixedLenFeature([1], tf.float32), "y": tf.FixedLenFeature([], tf.int64)}
    )
    return {"x": parsed["x"]}, parsed["y"]


def input_fn(filenames, mode, batch_size=32, epochs=None):
    training = mode == "train"
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(parser, num_parallel_calls=4)
    if training:
        dataset = dataset.apply(tf.data.experimental.shuffle_and_repeat(1000, epochs))
    dataset = dataset.batch(batch_size)
    return dataset.prefetch(1)


for features, labels in input_fn([path], "train", epochs=2):
    print(features["x"].shape, labels.shape)
for features, labels in input_fn([path], "eval"):
    print(features["x"].shape)
