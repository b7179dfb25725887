# cause: P287
import numpy as np
import tensorflow as tf

x, y = np.random.rand(512, 8).astype("float32"), np.random.rand(512).astype("float32")
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512).repeat().batch(32).prefetch(1)
model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train, epochs=10)
