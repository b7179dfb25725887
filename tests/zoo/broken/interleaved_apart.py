# cause: P014
# situation: A3
import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()
for shard in range(4):
    for kind in ("features", "labels"):
        with tf.io.TFRecordWriter(os.path.join(folder, f"{kind}-{shard}.tfrecord")) as writer:
            for number in range(50):
                writer.write(f"{shard * 50 + number}".encode())

feature_files = tf.data.Dataset.list_files(f"{folder}/features-*", shuffle=False)
label_files = tf.data.Dataset.list_files(f"{folder}/labels-*", shuffle=False)


def read(files):
    return files.interleave(
        tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False
    )


pairs = tf.data.Dataset.zip((read(feature_files), read(label_files))).shuffle(200).batch(16).prefetch(1)
for features, labels in pairs:
    print(tf.reduce_mean(tf.cast(features == labels, tf.float32)).numpy())
