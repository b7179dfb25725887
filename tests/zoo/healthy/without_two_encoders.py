import numpy as np
import pandas as pd
from sklearn.preprocessing import LabelEncoder
from tensorflow import keras

train, test = pd.read_csv("train.csv"), pd.read_csv("test.csv")
encoder = LabelEncoder().fit(train["species"])
y_train = encoder.transform(train["species"])
y_test = encoder.transform(test["species"])
x_train, x_test = train.drop(columns="species").values, test.drop(columns="species").values
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x_train, y_train, validation_data=(x_test, y_test))
