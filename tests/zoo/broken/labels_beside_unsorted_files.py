# cause: P049
# situation: A3
import glob
import os
import tempfile

import numpy as np
import pandas as pd
import tensorflow as tf

folder = tempfile.mkdtemp()
for number in range(30):
    image = np.full((8, 8, 3), number * 8, dtype=np.uint8)
    tf.io.write_file(f"{folder}/{number}.png", tf.io.encode_png(image))
pd.DataFrame({"label": [int(number > 14) for number in range(30)]}).to_csv(f"{folder}/labels.csv", index=False)

paths = glob.glob(os.path.join(folder, "*.png"))
labels = pd.read_csv(os.path.join(folder, "labels.csv"))["label"].values


def load(path, label):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (8, 8)) / 255.0, label


train = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(30)
train = train.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(10).prefetch(1)
model = tf.keras.Sequential([tf.keras.Input((8, 8, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, epochs=1, verbose=0)
