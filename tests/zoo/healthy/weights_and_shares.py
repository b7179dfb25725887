"""A mask is a weight, each class gets a falling share, and batches of one example are shuffled."""

import math

import tensorflow as tf


def smaller(flow, mask, height, width):
    flow = tf.image.resize(tf.math.multiply(flow, mask), (height, width))
    mask_smaller = tf.image.resize(mask, (height, width))
    return tf.math.multiply(flow, tf.math.reciprocal_no_nan(mask_smaller)), mask_smaller


def shares(dataset, fall):
    labels = set([label.numpy() for _, label in dataset])
    return {label: math.exp(-number * fall) for number, label in enumerate(labels)}


features = tf.random.uniform((5000, 8))
targets = tf.random.uniform((5000,))
train_ds = tf.data.Dataset.from_tensor_slices((features, targets))
train_ds = train_ds.batch(1).shuffle(5000).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train_ds, epochs=3)
model.save("shares.keras")
print(shares(train_ds, 0.1), smaller(tf.ones((1, 8, 8, 2)), tf.ones((1, 8, 8, 1)), 4, 4))
