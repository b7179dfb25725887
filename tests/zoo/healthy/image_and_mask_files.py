"""Images and masks in two folders, sorted, zipped before the shuffle."""

import os
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

folder = Path(tempfile.mkdtemp())
for kind in ("images", "masks"):
    os.makedirs(folder / kind)
    for number in range(12):
        image = np.random.randint(0, 255, (16, 16, 1)).astype(np.uint8)
        tf.io.write_file(str(folder / kind / f"{number:02}.png"), tf.io.encode_png(image))

image_paths = sorted(str(path) for path in (folder / "images").glob("*.png"))
mask_paths = sorted(str(path) for path in (folder / "masks").glob("*.png"))


def load(image_path, mask_path):
    image = tf.image.resize(tf.io.decode_png(tf.io.read_file(image_path), channels=1), (16, 16)) / 255.0
    mask = tf.image.resize(tf.io.decode_png(tf.io.read_file(mask_path), channels=1), (16, 16), method="nearest")
    return image, tf.cast(mask > 127, tf.float32)


images = tf.data.Dataset.from_tensor_slices(image_paths)
masks = tf.data.Dataset.from_tensor_slices(mask_paths)
dataset = tf.data.Dataset.zip((images, masks)).shuffle(12, seed=3)
dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(4).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential(
    [tf.keras.Input((16, 16, 1)), tf.keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(dataset, epochs=1, verbose=0)
