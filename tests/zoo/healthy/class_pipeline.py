"""A pipeline as a class, configured by a dataclass."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    batch_size: int = 32
    buffer: int = 2_000
    training: bool = True


class Pipeline:
    AUTOTUNE = tf.data.AUTOTUNE

    def __init__(self, config, arrays):
        self.config = config
        self.arrays = arrays
        self.layer = tf.keras.layers.Normalization()
        self.layer.adapt(arrays[0])

    def _prepare(self, x, y):
        return self.layer(x), y

    def build(self):
        dataset = tf.data.Dataset.from_tensor_slices(self.arrays)
        if self.config.training:
            dataset = dataset.shuffle(self.config.buffer, reshuffle_each_iteration=True)
        dataset = dataset.batch(self.config.batch_size)
        dataset = dataset.map(self._prepare, num_parallel_calls=self.AUTOTUNE)
        return dataset.prefetch(self.AUTOTUNE)


arrays = (np.random.rand(500, 5).astype("float32"), np.random.rand(500, 1).astype("float32"))
train = Pipeline(Config(), arrays).build()
test = Pipeline(Config(training=False), arrays).build()
model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train, epochs=2, verbose=0)
print(model.evaluate(test, verbose=0))
