# cause: P295
import numpy as np
import tensorflow as tf

x, y = np.load("x.npy"), np.load("y.npy")


def batches(size=32):
    while True:
        start = 0
        yield x[start : start + size], y[start : start + size]
        start += size


model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(4, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(batches(), steps_per_epoch=100, epochs=5)
