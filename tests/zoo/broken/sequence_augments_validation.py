# cause: P019
import random
import cv2
import numpy as np
from tensorflow import keras


class Batches(keras.utils.Sequence):
    def __init__(self, paths, labels, augment=True):
        super().__init__()
        self.paths, self.labels, self.augment = paths, labels, augment

    def __len__(self):
        return len(self.paths) // 16

    def __getitem__(self, i):
        xs = []
        for p in self.paths[i * 16 : (i + 1) * 16]:
            img = cv2.resize(cv2.imread(p), (64, 64))
            if self.augment:
                if random.random() < 0.5:
                    img = cv2.flip(img, 1)
            xs.append(img / 255.0)
        return np.array(xs), np.array(self.labels[i * 16 : (i + 1) * 16])


paths, labels = open("p.txt").read().split(), np.load("l.npy")
train = Batches(paths[:800], labels[:800])
val = Batches(paths[800:], labels[800:])
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(4, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, validation_data=val, epochs=3)
