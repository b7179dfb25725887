# cause: P045
import glob
import cv2
import numpy as np
from sklearn.model_selection import train_test_split
from tensorflow.keras import layers, models

data, labels = [], []
for path in sorted(glob.glob("tumour/*/*.png")):
    img = cv2.resize(cv2.imread(path), (64, 64))
    label = int("yes" in path)
    data.append(img)
    labels.append(label)
    data.append(cv2.flip(img, 1))
    labels.append(label)
data, labels = np.array(data) / 255.0, np.array(labels)
x_train, x_test, y_train, y_test = train_test_split(data, labels, test_size=0.2, stratify=labels)
model = models.Sequential(
    [layers.Conv2D(16, 3, activation="relu"), layers.Flatten(), layers.Dense(1, activation="sigmoid")]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, validation_data=(x_test, y_test))
