"""A loss that grows statement by statement inside the tape, and an optimizer for each model of a search."""

import tensorflow as tf

(x, y), _ = tf.keras.datasets.mnist.load_data()
data = tf.data.Dataset.from_tensor_slices((x.astype("float32") / 255.0, y)).shuffle(60000).batch(128).prefetch(1)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def build(width):
    layers = [tf.keras.layers.Flatten(), tf.keras.layers.Dense(width, activation="relu"), tf.keras.layers.Dense(10)]
    return tf.keras.Sequential(layers)


for width in (32, 64):
    model = build(width)
    optimizer = tf.keras.optimizers.Adam(1e-3)
    for epoch in range(3):
        for images, labels in data:
            with tf.GradientTape() as tape:
                loss = loss_of(labels, model(images, training=True))
                for weight in model.trainable_variables:
                    loss += 1e-4 * tf.nn.l2_loss(weight)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
