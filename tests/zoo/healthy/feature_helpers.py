"""Helpers that take a value or a list of them, and text or bytes."""

import collections.abc

import six
import tensorflow as tf


def whole_numbers(values):
    if not isinstance(values, collections.abc.Iterable):
        values = [values]
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def as_bytes(value):
    return value.encode() if isinstance(value, str) and six.PY3 else value


def texts(value):
    if type(value) is not list:
        value = [value]
    for position in range(len(value)):
        if not isinstance(value[position], bytes):
            value[position] = value[position].encode("utf-8")
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))


def text(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[as_bytes(value)]))


def name(value: str | bytes):
    if hasattr(value, "encode"):
        value = value.encode()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


with tf.io.TFRecordWriter("a.tfrecord") as writer:
    features = {"n": whole_numbers(3), "t": texts("png"), "u": text("png"), "v": name("png")}
    writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
