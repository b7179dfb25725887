# cause: P042
# situation: D2
# It raises: TypeError.
import os
import tempfile

import numpy as np
import tensorflow as tf

with tf.io.TFRecordWriter(os.path.join(tempfile.mkdtemp(), "matrices.tfrecord")) as writer:
    for _ in range(10):
        matrix = np.random.rand(3, 3).astype(np.float32)
        feature = {"matrix": tf.train.Feature(float_list=tf.train.FloatList(value=matrix))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
