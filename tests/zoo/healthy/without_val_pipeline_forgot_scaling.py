import tensorflow as tf


class Data:
    def __init__(self, root, size=128):
        self.root, self.size = root, size

    def _decode(self, path):
        img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        img = tf.image.resize(img, (self.size, self.size))
        label = tf.cast(tf.strings.regex_full_match(path, ".*dog.*"), tf.int32)
        return img, label

    def _norm(self, img, label):
        return img / 127.5 - 1.0, label

    def train(self):
        ds = tf.data.Dataset.list_files(self.root + "/train/*.jpg").map(self._decode, num_parallel_calls=8)
        return ds.map(self._norm, num_parallel_calls=8).shuffle(2000).batch(32).prefetch(2)

    def val(self):
        ds = tf.data.Dataset.list_files(self.root + "/val/*.jpg", shuffle=False).map(self._decode, num_parallel_calls=8)
        return ds.map(self._norm, num_parallel_calls=8).batch(32).prefetch(2)


data = Data("pets")
model = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(data.train(), validation_data=data.val(), epochs=5)
