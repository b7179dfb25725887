"""Looks at a few elements, and trains on data of which the source says that there is little."""

import tensorflow as tf

numbers = tf.data.Dataset.range(5).shuffle(3)
records = tf.data.TFRecordDataset("train.tfrecord").batch(8)
for batch in records.shuffle(20).take(2):
    print(batch)
first = next(iter(records.shuffle(4)))
few = tf.data.TFRecordDataset("train.tfrecord").shuffle(10).take(3)

pairs = tf.data.Dataset.from_tensor_slices((["good", "bad"], [1, 0])).batch(2)
one = tf.data.Dataset.from_tensors(([[1.0]], [[0.0]]))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(pairs)
model.fit(one)
