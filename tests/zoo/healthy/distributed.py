"""A distribution strategy, with a distributed dataset and a step that it runs."""

import numpy as np
import tensorflow as tf

strategy = tf.distribute.get_strategy()
GLOBAL_BATCH_SIZE = 16 * strategy.num_replicas_in_sync
x, y = np.random.rand(256, 4).astype("float32"), np.random.rand(256, 1).astype("float32")
train_dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(256).batch(GLOBAL_BATCH_SIZE).prefetch(1)
train_dist_dataset = strategy.experimental_distribute_dataset(train_dataset)

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)


def train_step(inputs):
    features, targets = inputs
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features, training=True) - targets) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


@tf.function
def distributed_train_step(dataset_inputs):
    return strategy.run(train_step, args=(dataset_inputs,))


for epoch in range(2):
    total = 0.0
    for batch in train_dist_dataset:
        total += distributed_train_step(batch)
    print(epoch, float(total))
