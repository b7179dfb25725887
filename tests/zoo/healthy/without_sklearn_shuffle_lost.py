import numpy as np
from sklearn.utils import shuffle
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")
x, y = shuffle(x, y, random_state=0)
split = int(0.8 * len(x))
model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x[:split], y[:split], validation_data=(x[split:], y[split:]))
