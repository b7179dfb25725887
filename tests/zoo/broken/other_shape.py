# cause: P023
# situation: C3
# data: sorted
# It raises: Key: tokens. Can't parse serialized Example.
import sys

import tensorflow as tf

FILES = sorted(tf.io.gfile.glob((sys.argv[1] if len(sys.argv) > 1 else "data") + "/*.tfrecord*"))
SPEC = {
    "tokens": tf.io.FixedLenFeature([12], tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def parse(records):
    parsed = tf.io.parse_example(records, SPEC)
    return parsed["tokens"], parsed["label"]


dataset = tf.data.TFRecordDataset(FILES).shuffle(2000).batch(32).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
for tokens, labels in dataset.prefetch(1):
    print(tokens.shape)
