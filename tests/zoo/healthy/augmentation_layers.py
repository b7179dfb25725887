"""Keras layers augment the training data only; raw pixels are written as uint8 and read as uint8."""

import os
import tempfile

import numpy as np
import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "pixels.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for number in range(60):
        pixels = np.random.randint(0, 255, size=(12, 12, 3), dtype=np.uint8)
        feature = {
            "pixels": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels.tobytes()])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 3])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

augmentation = tf.keras.Sequential([tf.keras.layers.RandomFlip("horizontal"), tf.keras.layers.RandomRotation(0.1)])


def parse(record):
    parsed = tf.io.parse_single_example(
        record, {"pixels": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    )
    pixels = tf.reshape(tf.io.decode_raw(parsed["pixels"], tf.uint8), (12, 12, 3))
    return tf.cast(pixels, tf.float32) / 255.0, parsed["label"]


def prepare(ds, shuffle=False, augment=False):
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    if shuffle:
        ds = ds.shuffle(1000)
    ds = ds.batch(16)
    if augment:
        ds = ds.map(lambda x, y: (augmentation(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(buffer_size=tf.data.AUTOTUNE)


train_ds = prepare(tf.data.TFRecordDataset(path), shuffle=True, augment=True)
val_ds = prepare(tf.data.TFRecordDataset(path))
model = tf.keras.Sequential([tf.keras.Input((12, 12, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train_ds, validation_data=val_ds, epochs=1, verbose=0)
