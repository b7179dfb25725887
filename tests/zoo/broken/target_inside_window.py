# cause: P209
import numpy as np
from tensorflow import keras


def windows(data, steps):
    X, y = [], []
    for i in range(len(data) - steps):
        X.append(data[i : i + steps])
        y.append(data[i + steps - 1])
    return np.array(X), np.array(y)


data = np.loadtxt("price.txt")
X, y = windows(data, 30)
cut = int(len(X) * 0.8)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(X[:cut], y[:cut], epochs=5)
