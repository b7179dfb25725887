import tensorflow as tf


def partition(ds, size, train_split=0.8, val_split=0.1, shuffle=True, shuffle_size=10000):
    if shuffle:
        ds = ds.shuffle(shuffle_size, seed=12, reshuffle_each_iteration=False)
    train_size, val_size = int(train_split * size), int(val_split * size)
    train_ds = ds.take(train_size)
    val_ds = ds.skip(train_size).take(val_size)
    test_ds = ds.skip(train_size).skip(val_size)
    return train_ds, val_ds, test_ds


(x, y), _ = tf.keras.datasets.fashion_mnist.load_data()
data = tf.data.Dataset.from_tensor_slices((x / 255.0, y))
train, val, test = partition(data, len(x))
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train.shuffle(5000).batch(64).prefetch(1), validation_data=val.batch(64), epochs=3)
