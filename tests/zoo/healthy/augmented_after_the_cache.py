"""One function for both splits: it caches what was read, and augments only for training."""

import tensorflow as tf


def flip(image, label):
    if tf.random.uniform(()) > 0.5:
        image = tf.image.flip_left_right(image)
    return image, label


def load(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (64, 64)) / 255.0, tf.strings.length(path)


def make(pattern, split, batch=32):
    dataset = tf.data.Dataset.list_files(pattern, shuffle=False).map(load, num_parallel_calls=4).cache()
    if split == "train":
        dataset = dataset.shuffle(5000).map(flip, num_parallel_calls=4)
    return dataset.batch(batch).prefetch(2)


model = tf.keras.Sequential([tf.keras.Input((64, 64, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(make("train/*.jpg", "train"), validation_data=make("val/*.jpg", "val"))
