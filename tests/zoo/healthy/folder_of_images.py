"""Images in folders, by Keras: it batches and shuffles by itself, and batches are shuffled again after the cache."""

import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
for name in ("cats", "dogs"):
    os.makedirs(f"{folder}/{name}")
    for number in range(20):
        image = np.random.randint(0, 255, (24, 24, 3)).astype(np.uint8)
        tf.io.write_file(f"{folder}/{name}/{number}.jpg", tf.io.encode_jpeg(image))

train_ds = tf.keras.utils.image_dataset_from_directory(
    folder, validation_split=0.2, subset="training", seed=123, image_size=(16, 16), batch_size=8
)
val_ds = tf.keras.utils.image_dataset_from_directory(
    folder, validation_split=0.2, subset="validation", seed=123, image_size=(16, 16), batch_size=8
)
class_names = train_ds.class_names
AUTOTUNE = tf.data.AUTOTUNE
train_ds = train_ds.cache().shuffle(1000).prefetch(buffer_size=AUTOTUNE)
val_ds = val_ds.cache().prefetch(buffer_size=AUTOTUNE)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Rescaling(1.0 / 255, input_shape=(16, 16, 3)),
        tf.keras.layers.RandomFlip("horizontal"),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(len(class_names)),
    ]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=1, verbose=0)
