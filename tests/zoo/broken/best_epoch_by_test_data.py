# cause: P164
import numpy as np
from tensorflow import keras

x_train, y_train = np.load("x_train.npy"), np.load("y_train.npy")
x_test, y_test = np.load("x_test.npy"), np.load("y_test.npy")
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
stop = keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True)
model.fit(x_train, y_train, epochs=100, callbacks=[stop], validation_data=(x_test, y_test))
print(model.evaluate(x_test, y_test))
