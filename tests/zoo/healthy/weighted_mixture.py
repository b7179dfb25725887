"""Classes balanced at read time, by sampling from one dataset for each."""

import numpy as np
import tensorflow as tf

features = np.random.rand(400, 3).astype("float32")
labels = (np.arange(400) % 10 == 0).astype("int64")


def one_class(label):
    chosen = labels == label
    dataset = tf.data.Dataset.from_tensor_slices((features[chosen], labels[chosen]))
    return dataset.shuffle(1000).repeat()


balanced = tf.data.Dataset.sample_from_datasets([one_class(0), one_class(1)], weights=[0.5, 0.5])
balanced = balanced.batch(32).prefetch(2)
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(balanced, steps_per_epoch=10, epochs=1, verbose=0)
