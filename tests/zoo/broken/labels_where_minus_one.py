# cause: P029
import numpy as np
from tensorflow import keras

data = np.load("d.npy")
x, y = data[:, :-1], np.where(data[:, -1] > 0, 1, -1)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=5)
