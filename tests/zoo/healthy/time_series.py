"""A time series in windows; the order within a window matters, and the windows are shuffled."""

import numpy as np
import tensorflow as tf

series = np.sin(np.arange(2000) / 10).astype("float32")
WINDOW = 20


def windowed(values, training):
    dataset = tf.data.Dataset.from_tensor_slices(values)
    dataset = dataset.window(WINDOW + 1, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(WINDOW + 1))
    if training:
        dataset = dataset.shuffle(1000)
    dataset = dataset.map(lambda window: (window[:-1], window[-1]))
    return dataset.batch(32).prefetch(1)


model = tf.keras.Sequential([tf.keras.Input((WINDOW,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mae")
model.fit(windowed(series[:1500], True), validation_data=windowed(series[1500:], False), epochs=2, verbose=0)
