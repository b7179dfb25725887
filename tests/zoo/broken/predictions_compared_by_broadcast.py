# cause: P285
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from tensorflow import keras

table = pd.read_csv("patients.csv")
x_train, x_test, y_train, y_test = train_test_split(table[["age", "weight"]].values, table["ill"].values)
model = keras.Sequential([keras.layers.Normalization(), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x_train, y_train, epochs=5)
print(np.mean((model.predict(x_test) > 0.5) == y_test))
