import numpy as np
from sklearn.model_selection import train_test_split
from tensorflow import keras

images, labels = np.load("i.npy"), np.load("l.npy")
x_train, x_test, y_train, y_test = train_test_split(images, labels, test_size=0.2)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x_train, y_train, validation_data=(x_test, y_test))
