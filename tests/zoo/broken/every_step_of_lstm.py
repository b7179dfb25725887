# cause: P288
import numpy as np
from tensorflow import keras

x, y = np.random.rand(256, 24, 3).astype("float32"), np.random.rand(256).astype("float32")
model = keras.Sequential([keras.layers.Input((24, 3)), keras.layers.LSTM(16, return_sequences=True), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=3)
