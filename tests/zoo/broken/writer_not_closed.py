# cause: P047
import os
import tempfile

import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "numbers.tfrecord")
writer = tf.io.TFRecordWriter(path)
for number in range(100):
    feature = {"number": tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))}
    writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

count = sum(1 for _ in tf.data.TFRecordDataset(path))
print(count, "records so far")
