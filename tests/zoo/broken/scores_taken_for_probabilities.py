# cause: P028
# situation: C7
import numpy as np
import tensorflow as tf

x = np.random.default_rng(0).normal(size=(600, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int64")
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(600).batch(32).prefetch(tf.data.AUTOTUNE)
inputs = tf.keras.Input((8,))
hidden = tf.keras.layers.Dense(16, activation="relu")(inputs)
outputs = tf.keras.layers.Dense(2)(hidden)
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(), metrics=["accuracy"])
model.fit(train, epochs=2, verbose=0)
