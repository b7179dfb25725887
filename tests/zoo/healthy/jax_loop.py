"""JAX, fed from tf.data as numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import tensorflow as tf

x = np.random.normal(size=(512, 3)).astype("float32")
y = x @ np.array([1.0, -2.0, 0.5], dtype="float32")


def batches(seed):
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=seed).batch(64, drop_remainder=True)
    return dataset.prefetch(1).as_numpy_iterator()


def loss(weights, features, targets):
    return jnp.mean((features @ weights - targets) ** 2)


@jax.jit
def update(weights, features, targets):
    return weights - 0.1 * jax.grad(loss)(weights, features, targets)


weights = jnp.zeros(3)
for epoch in range(3):
    for features, targets in batches(epoch):
        weights = update(weights, features, targets)
print(weights)
