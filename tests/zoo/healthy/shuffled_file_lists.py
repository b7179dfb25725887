"""Paths and labels from a list that is shuffled and split by scikit-learn before the dataset is made."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

folder = tempfile.mkdtemp()
paths, labels = [], []
for number in range(40):
    path = os.path.join(folder, f"{number}.png")
    tf.io.write_file(path, tf.io.encode_png(np.random.randint(0, 255, (10, 10, 3)).astype(np.uint8)))
    paths.append(path)
    labels.append(number % 2)

train_paths, val_paths, train_labels, val_labels = train_test_split(paths, labels, test_size=0.25, random_state=0)


def load(path, label):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), (8, 8)), label


train = tf.data.Dataset.from_tensor_slices((train_paths, train_labels)).shuffle(len(train_paths))
train = train.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(8).prefetch(1)
val = tf.data.Dataset.from_tensor_slices((val_paths, val_labels)).map(load, num_parallel_calls=4).batch(8)
model = tf.keras.Sequential([tf.keras.Input((8, 8, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=val, epochs=1, verbose=0)
