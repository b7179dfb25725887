"""A model is trained with one loss, and then compiled with another one for other labels."""

import numpy as np
from tensorflow import keras

(x_train, y_train), (x_test, y_test) = keras.datasets.reuters.load_data(num_words=1000)
x_train = np.array([np.bincount(row, minlength=1000) for row in x_train])
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(46, activation="softmax")])
model.compile("rmsprop", "categorical_crossentropy")
model.fit(x_train, keras.utils.to_categorical(y_train), epochs=2)
model.compile("rmsprop", "sparse_categorical_crossentropy")
model.fit(x_train, y_train, epochs=2)
