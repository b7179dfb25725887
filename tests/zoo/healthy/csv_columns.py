"""A CSV file by make_csv_dataset, which shuffles and batches by itself, and preprocessing layers."""

import os
import tempfile

import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "people.csv")
with open(path, "w") as file:
    file.write("age,fare,survived\n")
    for number in range(200):
        file.write(f"{20 + number % 50},{number % 90}.5,{number % 2}\n")

train = tf.data.experimental.make_csv_dataset(path, batch_size=16, label_name="survived", num_epochs=1)
normalization = tf.keras.layers.Normalization()
normalization.adapt(
    train.map(lambda features, label: tf.stack([features["age"], tf.cast(features["fare"], tf.int32)], 1))
)


def pack(features, label):
    return tf.stack([tf.cast(features["age"], tf.float32), features["fare"]], axis=1), label


model = tf.keras.Sequential([normalization, tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train.map(pack).prefetch(1), epochs=1, verbose=0)
