# cause: P293
import numpy as np
from tensorflow import keras


class Rows(keras.utils.PyDataset):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x) // 32

    def __getitem__(self, index):
        return self.x[:32], self.y[:32]


model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(Rows(np.load("x.npy"), np.load("y.npy")), epochs=5)
