# cause: P253
import tensorflow as tf


def parse(r):
    f = tf.io.parse_single_example(
        r, {"pixels": tf.io.VarLenFeature(tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}
    )
    return tf.reshape(f["pixels"], [28, 28, 1]), f["label"]


train = tf.data.TFRecordDataset("d.tfrecord").map(parse, num_parallel_calls=4).shuffle(6000).batch(32).prefetch(1)
