import tensorflow as tf

train = (
    tf.keras.utils.image_dataset_from_directory("a/train", image_size=(64, 64))
    .map(lambda x, y: (x / 255.0, y))
    .prefetch(2)
)
val = (
    tf.keras.utils.image_dataset_from_directory("a/val", image_size=(64, 64), shuffle=False)
    .map(lambda x, y: (x / 255.0, y))
    .prefetch(2)
)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(8, 3),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, validation_data=val, epochs=30, callbacks=[tf.keras.callbacks.EarlyStopping("val_loss")])
