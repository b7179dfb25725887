"""Mixing examples: two shuffled datasets of pairs are zipped, on purpose."""

import numpy as np
import tensorflow as tf

x_train = np.random.rand(320, 8, 8, 1).astype("float32")
y_train = tf.one_hot(np.random.randint(0, 10, 320), 10)
BATCH_SIZE = 32

train_ds_one = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(BATCH_SIZE * 100).batch(BATCH_SIZE)
train_ds_two = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(BATCH_SIZE * 100).batch(BATCH_SIZE)
train_ds = tf.data.Dataset.zip((train_ds_one, train_ds_two))


def mix_up(ds_one, ds_two, alpha=0.2):
    images_one, labels_one = ds_one
    images_two, labels_two = ds_two
    weight = tf.random.uniform([tf.shape(images_one)[0], 1, 1, 1])
    flat = tf.reshape(weight, [-1, 1])
    return images_one * weight + images_two * (1 - weight), labels_one * flat + labels_two * (1 - flat)


train_ds_mu = train_ds.map(mix_up, num_parallel_calls=tf.data.AUTOTUNE).prefetch(1)
model = tf.keras.Sequential(
    [tf.keras.Input((8, 8, 1)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10, "softmax")]
)
model.compile("adam", "categorical_crossentropy")
model.fit(train_ds_mu, epochs=1, verbose=0)
