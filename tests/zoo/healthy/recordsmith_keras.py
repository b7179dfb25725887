"""Recordsmith from end to end."""

import tempfile

import numpy as np
import tensorflow as tf

import recordsmith as rs

folder = tempfile.mkdtemp()
schema = rs.Schema({"x": rs.Tensor("float32", (4,)), "label": rs.Label(["no", "yes"])})
with rs.write(folder, schema, name="points", split="train", shards=2) as writer:
    for number in range(200):
        x = np.random.rand(4).astype("float32")
        writer.add({"x": x, "label": int(x.sum() > 2)})

train = rs.open(folder, split="train").shuffle(seed=7).batch(32).prefetch(2).pairs("x", "label")
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train.to_tf(), epochs=2, verbose=0)
