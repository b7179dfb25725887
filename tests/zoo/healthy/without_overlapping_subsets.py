import tensorflow as tf

train = tf.keras.utils.image_dataset_from_directory(
    "flowers", validation_split=0.2, subset="training", seed=1, image_size=(180, 180)
)
val = tf.keras.utils.image_dataset_from_directory(
    "flowers", validation_split=0.2, subset="validation", seed=1, image_size=(180, 180)
)
model = tf.keras.Sequential(
    [tf.keras.layers.Rescaling(1 / 255), tf.keras.layers.Flatten(), tf.keras.layers.Dense(5, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, validation_data=val)
