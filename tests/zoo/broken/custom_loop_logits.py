# cause: P028
import tensorflow as tf

(x, y), _ = tf.keras.datasets.mnist.load_data()
train = tf.data.Dataset.from_tensor_slices((x[..., None] / 255.0, y)).shuffle(60000).batch(64).prefetch(2)
model = tf.keras.Sequential(
    [tf.keras.layers.Conv2D(8, 3, activation="relu"), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)]
)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy()
optimizer = tf.keras.optimizers.Adam()


@tf.function
def step(images, labels):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        loss = loss_fn(labels, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(3):
    for images, labels in train:
        step(images, labels)
