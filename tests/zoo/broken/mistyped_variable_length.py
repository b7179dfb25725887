# cause: P020
# situation: C1
# data: sorted
import sys

import tensorflow as tf

FILES = sorted(tf.io.gfile.glob((sys.argv[1] if len(sys.argv) > 1 else "data") + "/*.tfrecord*"))


def parse(record):
    parsed = tf.io.parse_single_example(
        record, {"tokenz": tf.io.VarLenFeature(tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)}
    )
    return tf.sparse.to_dense(parsed["tokenz"]), parsed["label"]


dataset = tf.data.TFRecordDataset(FILES).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.shuffle(2000).padded_batch(32).prefetch(tf.data.AUTOTUNE)
for tokens, labels in dataset:
    print(tokens.shape, labels.shape)
