# cause: P202
import tensorflow as tf

train = (
    tf.keras.utils.image_dataset_from_directory("a/train", image_size=(64, 64))
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
model.fit(train, validation_data=train, epochs=30, callbacks=[tf.keras.callbacks.EarlyStopping("val_loss")])
