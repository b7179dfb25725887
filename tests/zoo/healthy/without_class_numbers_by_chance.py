import os
import cv2
import numpy as np
from tensorflow import keras


def load(folder):
    x, y = [], []
    for number, name in enumerate(sorted(os.listdir(folder))):
        for file in os.listdir(os.path.join(folder, name)):
            x.append(cv2.resize(cv2.imread(os.path.join(folder, name, file)), (64, 64)))
            y.append(number)
    return np.array(x) / 255.0, np.array(y)


x_train, y_train = load("data/train")
x_test, y_test = load("data/test")
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x_train, y_train, validation_data=(x_test, y_test))
