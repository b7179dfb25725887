# cause: P040
# situation: D1
# It raises: TypeError, 'cat' has type str.
import os
import tempfile

import tensorflow as tf


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


names = ["cat", "dog", "bird"]
with tf.io.TFRecordWriter(os.path.join(tempfile.mkdtemp(), "names.tfrecord")) as writer:
    for number, name in enumerate(names):
        feature = {
            "name": _bytes_feature(name),
            "number": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
