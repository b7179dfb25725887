import tensorflow as tf

(x, y), _ = tf.keras.datasets.mnist.load_data()
train = tf.data.Dataset.from_tensor_slices((x / 255.0, y)).shuffle(60000).batch(64).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(1e-3)
for epoch in range(5):
    for images, labels in train:
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, model(images, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
