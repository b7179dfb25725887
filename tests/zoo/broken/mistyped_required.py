# cause: P021
# situation: C1
# It raises: Feature: imaeg (data type: string) is required but could not be found.
import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
path = os.path.join(folder, "train.tfrecord")


def write_data(path, count=200, size=8):
    rng = np.random.default_rng(0)
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(count):
            label = number * 2 // count
            image = rng.integers(0, 256, (size, size, 3), dtype=np.uint8)
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[tf.io.encode_jpeg(image).numpy()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(serialized):
    features = {
        "imaeg": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    parsed = tf.io.parse_single_example(serialized, features)
    image = tf.io.decode_jpeg(parsed["imaeg"], channels=3)
    image = tf.image.resize(tf.cast(image, tf.float32) / 255.0, [8, 8])
    return image, parsed["label"]


def make_model():
    model = tf.keras.Sequential(
        [tf.keras.Input((8, 8, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(2, activation="softmax")]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    return model


write_data(path)
dataset = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.shuffle(200).batch(32).prefetch(tf.data.AUTOTUNE)
make_model().fit(dataset, epochs=2, verbose=0)
