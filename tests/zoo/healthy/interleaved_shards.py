"""Many shards: file names shuffled, interleaved, then examples shuffled; parsed by the batch."""

import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()
for shard in range(4):
    with tf.io.TFRecordWriter(os.path.join(folder, f"train-{shard:05}-of-00004.tfrecord")) as writer:
        for number in range(100):
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 100.0, shard / 4.0])),
                "y": tf.train.Feature(float_list=tf.train.FloatList(value=[float(number % 2)])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse_batch(serialized):
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32), "y": tf.io.FixedLenFeature([1], tf.float32)}
    parsed = tf.io.parse_example(serialized, spec)
    return parsed["x"], parsed["y"]


files = tf.data.Dataset.list_files(os.path.join(folder, "train-*.tfrecord"), shuffle=True)
dataset = files.interleave(
    tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False
)
dataset = dataset.shuffle(300).repeat().batch(32).map(parse_batch, num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(dataset, steps_per_epoch=10, epochs=2, verbose=0)
