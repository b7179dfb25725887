import tensorflow as tf

train_ds, val_ds = tf.keras.utils.image_dataset_from_directory(
    "mushrooms", image_size=(128, 128), batch_size=32, validation_split=0.2, subset="both", seed=1
)
train_ds = train_ds.map(lambda x, y: (x / 255.0, y)).prefetch(2)
val_ds = val_ds.map(lambda x, y: (x / 255.0, y)).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(9, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train_ds, validation_data=val_ds, epochs=10)
