import numpy as np
from tensorflow import keras

cats, dogs = np.load("cats.npy"), np.load("dogs.npy")
x = np.concatenate([cats, dogs]) / 255.0
y = np.concatenate([np.zeros(len(cats)), np.ones(len(dogs))])
order = np.random.permutation(len(x))
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x[order], y[order], validation_split=0.3, epochs=10)
