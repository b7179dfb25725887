import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.flat = tf.keras.layers.Flatten()
        self.hidden = tf.keras.layers.Dense(64, activation="relu")
        self.out = tf.keras.layers.Dense(classes)

    def call(self, x, training=False):
        return self.out(self.hidden(self.flat(x)))


(x, y), _ = tf.keras.datasets.mnist.load_data()
net = Net(10)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
net.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
net.fit(x / 255.0, y, epochs=2)
