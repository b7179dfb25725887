import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from tensorflow import keras

series = pd.read_csv("load.csv")["kw"].values
X, y = [], []
for i in range(len(series) - 24):
    X.append(series[i : i + 24])
    y.append(series[i + 24])
X, y = np.array(X)[..., None], np.array(y)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, shuffle=False)
model = keras.Sequential([keras.layers.LSTM(32), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(X_train, y_train, validation_data=(X_test, y_test), epochs=10)
