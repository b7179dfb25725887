# cause: P029
# situation: C7
# data: sorted
import sys

import tensorflow as tf

FILES = sorted(tf.io.gfile.glob((sys.argv[1] if len(sys.argv) > 1 else "data") + "/*.tfrecord*"))
SPEC = {"x": tf.io.FixedLenFeature([4], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}


def parse(batch):
    parsed = tf.io.parse_example(batch, SPEC)
    return parsed["x"], parsed["label"]


dataset = tf.data.TFRecordDataset(FILES).shuffle(2000).batch(32).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
if FILES:
    model.fit(dataset.prefetch(2), epochs=2, verbose=0)
