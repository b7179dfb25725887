"""Unpaired image translation: two domains, shuffled apart and zipped, batches of one; all on purpose."""

import numpy as np
import tensorflow as tf

BUFFER_SIZE = 1000
BATCH_SIZE = 1
horses = np.random.rand(40, 8, 8, 3).astype("float32")
zebras = np.random.rand(40, 8, 8, 3).astype("float32")


def preprocess_image_train(image):
    return tf.image.random_flip_left_right(image)


train_horses = tf.data.Dataset.from_tensor_slices(horses).cache().map(preprocess_image_train, num_parallel_calls=2)
train_horses = train_horses.shuffle(BUFFER_SIZE).batch(BATCH_SIZE)
train_zebras = tf.data.Dataset.from_tensor_slices(zebras).cache().map(preprocess_image_train, num_parallel_calls=2)
train_zebras = train_zebras.shuffle(BUFFER_SIZE).batch(BATCH_SIZE)

generator = tf.keras.Sequential([tf.keras.Input((8, 8, 3)), tf.keras.layers.Conv2D(3, 3, padding="same")])
discriminator = tf.keras.Sequential([tf.keras.Input((8, 8, 3)), tf.keras.layers.Conv2D(1, 3)])
optimizer = tf.keras.optimizers.Adam(2e-4)


@tf.function
def train_step(real_x, real_y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(generator(real_x) - real_y)) + tf.reduce_mean(discriminator(real_y))
    variables = generator.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


for image_x, image_y in tf.data.Dataset.zip((train_horses, train_zebras)):
    train_step(image_x, image_y)
