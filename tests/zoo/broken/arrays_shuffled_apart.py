# cause: P013
# situation: A3
import numpy as np
import tensorflow as tf

x = np.random.rand(500, 6).astype("float32")
y = (x.sum(axis=1) > 3).astype("int64")
np.random.shuffle(x)
np.random.shuffle(y)

train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(500).batch(32).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, epochs=2, verbose=0)
