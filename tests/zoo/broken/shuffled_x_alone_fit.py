# cause: P013
import numpy as np
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")
np.random.shuffle(x)
model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, validation_split=0.1, epochs=5)
