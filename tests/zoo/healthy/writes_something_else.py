"""The records that are written here are not the ones that are read."""

import tensorflow as tf


def write_scores(path, scores):
    with tf.io.TFRecordWriter(path) as writer:
        for score in scores:
            feature = {
                "score": tf.train.Feature(float_list=tf.train.FloatList(value=[score])),
                "image": tf.train.Feature(float_list=tf.train.FloatList(value=[0.0])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(serialized):
    spec = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "scores": tf.io.FixedLenFeature([], tf.float32, default_value=0.0),
    }
    return tf.io.parse_single_example(serialized, spec)


def read(files):
    return tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(8)


write_scores("scores.tfrecord", [0.1, 0.2])


def read_beside(folder, other):
    with tf.io.TFRecordWriter(f"{folder}/part.tfrecord") as writer:
        feature = {"mean": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    spec = {"mean": tf.io.FixedLenFeature([], tf.string), "name": tf.io.FixedLenFeature([], tf.string)}
    spec["size"] = tf.io.FixedLenFeature([], tf.int64)
    return tf.data.TFRecordDataset(f"{other}/part.tfrecord").map(lambda row: tf.io.parse_single_example(row, spec))
