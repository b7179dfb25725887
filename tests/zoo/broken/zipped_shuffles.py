# cause: P013
# situation: A3
import numpy as np
import tensorflow as tf

features = np.random.default_rng(0).normal(size=(1000, 8)).astype("float32")
targets = (features.sum(axis=1) > 0).astype("int64")

feature_ds = tf.data.Dataset.from_tensor_slices(features).shuffle(1000)
label_ds = tf.data.Dataset.from_tensor_slices(targets).shuffle(1000)
train = tf.data.Dataset.zip((feature_ds, label_ds)).batch(32).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=2, verbose=0)
