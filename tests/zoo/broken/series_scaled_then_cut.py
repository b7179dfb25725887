# cause: P048
import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler
from tensorflow.keras.layers import LSTM, Dense
from tensorflow.keras.models import Sequential

prices = pd.read_csv("tsla.csv")["Close"].values.reshape(-1, 1)
scaler = MinMaxScaler()
scaled = scaler.fit_transform(prices)
n = int(len(scaled) * 0.8)
train, test = scaled[:n], scaled[n:]


def windows(a, steps=60):
    X, y = [], []
    for i in range(steps, len(a)):
        X.append(a[i - steps : i, 0])
        y.append(a[i, 0])
    return np.array(X)[..., None], np.array(y)


X_train, y_train = windows(train)
X_test, y_test = windows(test)
model = Sequential([LSTM(50), Dense(1)])
model.compile("adam", "mse")
model.fit(X_train, y_train, epochs=20)
print(model.evaluate(X_test, y_test))
