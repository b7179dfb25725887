"""Every series is scaled on its own, which learns nothing from the others; then the series are split."""

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

series = np.load("series.npy")
labels = np.load("labels.npy")
scaler = MinMaxScaler()
scaled = [scaler.fit_transform(one.reshape(-1, 1)) for one in series]
x_train, x_test, y_train, y_test = train_test_split(scaled, labels, test_size=0.2)
