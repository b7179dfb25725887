"""A training loop by hand, with metrics and a validation loop."""

import numpy as np
import tensorflow as tf

x = np.random.normal(size=(512, 6)).astype(np.float32)
y = (x.sum(axis=1) > 0).astype(np.int32)
batch_size = 64

train_dataset = tf.data.Dataset.from_tensor_slices((x[:400], y[:400]))
train_dataset = train_dataset.shuffle(buffer_size=1024).batch(batch_size).prefetch(tf.data.AUTOTUNE)
val_dataset = tf.data.Dataset.from_tensor_slices((x[400:], y[400:])).batch(batch_size)

model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.SGD(0.1)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(features, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(features, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    return loss


@tf.function
def test_step(features, labels):
    accuracy.update_state(labels, model(features, training=False))


for epoch in range(2):
    for step, (features, labels) in enumerate(train_dataset):
        loss = train_step(features, labels)
    for features, labels in val_dataset:
        test_step(features, labels)
    print(epoch, float(loss), float(accuracy.result()))
    accuracy.reset_state()
