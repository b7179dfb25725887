# style: a generator that begins anew at the end of the data
import numpy as np
import tensorflow as tf

x, y = np.load("x.npy"), np.load("y.npy")


def batches(size=32):
    start = 0
    while True:
        yield x[start : start + size], y[start : start + size]
        start += size
        if start >= len(x):
            start = 0


model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(4, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(batches(), steps_per_epoch=100, epochs=5)
