# cause: P032
# situation: C4
import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
for number in range(12):
    image = np.random.randint(0, 255, (16, 16, 1)).astype(np.uint8)
    tf.io.write_file(os.path.join(folder, f"image{number:02}.png"), tf.io.encode_png(image))
    tf.io.write_file(os.path.join(folder, f"mask{number:02}.png"), tf.io.encode_png(image // 128 * 255))


def load(number):
    name = tf.strings.as_string(number, width=2, fill="0")
    image = tf.io.decode_png(tf.io.read_file(folder + "/image" + name + ".png"), channels=1)
    mask = tf.io.decode_png(tf.io.read_file(folder + "/mask" + name + ".png"), channels=1)
    image = tf.image.resize(image, (16, 16)) / 255.0
    mask = tf.cast(tf.image.resize(mask, (16, 16)) > 127.0, tf.float32)
    return image, mask


def augment(image, mask):
    image = tf.image.random_flip_left_right(image)
    return image, mask


train = tf.data.Dataset.range(12).shuffle(12).map(load, num_parallel_calls=tf.data.AUTOTUNE)
train = train.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(4).prefetch(1)
model = tf.keras.Sequential(
    [tf.keras.Input((16, 16, 1)), tf.keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(train, epochs=1, verbose=0)
