# cause: P235
import numpy as np
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(3, activation="softmax")])
model.compile(keras.optimizers.Adam(learning_rate=1.0), "sparse_categorical_crossentropy")
model.fit(x, y, epochs=50)
