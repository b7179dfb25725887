"""A subclassed model with its own train_step; arrays as the source."""

import numpy as np
import tensorflow as tf


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(16, activation="relu")
        self.out = tf.keras.layers.Dense(4)

    def call(self, inputs, training=None):
        return self.out(self.hidden(inputs))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


(x_train, y_train), (x_test, y_test) = (
    (np.random.rand(256, 10).astype("float32"), np.random.randint(0, 4, 256)),
    (np.random.rand(64, 10).astype("float32"), np.random.randint(0, 4, 64)),
)
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train)).batch(32).prefetch(2)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(32)
model = Classifier()
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train_ds, epochs=2, verbose=0)
model.evaluate(test_ds, verbose=0)
