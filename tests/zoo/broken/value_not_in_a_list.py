# cause: P041
# situation: D2
# It raises: TypeError.
import os
import tempfile

import numpy as np
import tensorflow as tf

with tf.io.TFRecordWriter(os.path.join(tempfile.mkdtemp(), "arrays.tfrecord")) as writer:
    for number in range(10):
        array = np.full((4,), number, dtype=np.uint8)
        feature = {"array": tf.train.Feature(bytes_list=tf.train.BytesList(value=array.tobytes()))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
