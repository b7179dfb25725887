"""Token sequences of different length, as ragged features and padded batches."""

import os
import tempfile

import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "tokens.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for number in range(200):
        feature = {
            "tokens": tf.train.Feature(int64_list=tf.train.Int64List(value=list(range(1, number % 9 + 2)))),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 2])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


@tf.function
def parse(record):
    spec = {"tokens": tf.io.RaggedFeature(tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)}
    parsed = tf.io.parse_single_example(record, spec)
    return parsed["tokens"], parsed["label"]


train = (
    tf.data.TFRecordDataset(path)
    .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    .cache()
    .shuffle(200)
    .padded_batch(16)
    .prefetch(tf.data.AUTOTUNE)
)
model = tf.keras.Sequential(
    [tf.keras.layers.Embedding(12, 4), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(2, "softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, epochs=2, verbose=0)
