# cause: P284
import numpy as np
from tensorflow import keras

x, y = np.random.rand(100, 8).astype("float32"), np.random.randint(0, 2, 100)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x, y, epochs=3)
