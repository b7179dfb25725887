# cause: P016
# It raises: Value for attr 'out_type' of string is not in the list of allowed values.
import os
import tempfile

import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "names.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for name in ("cat", "dog"):
        feature = {"name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[name.encode()]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

for record in tf.data.TFRecordDataset(path):
    parsed = tf.io.parse_single_example(record, {"name": tf.io.FixedLenFeature([], tf.string)})
    print(tf.io.decode_raw(parsed["name"], tf.string))
