# cause: P026
import tensorflow as tf

train = tf.keras.utils.image_dataset_from_directory("leaves/train", label_mode="categorical", image_size=(128, 128))
inputs = tf.keras.Input((128, 128, 3))
x = tf.keras.layers.Rescaling(1 / 255)(inputs)
x = tf.keras.layers.Conv2D(16, 3, activation="relu")(x)
x = tf.keras.layers.GlobalAveragePooling2D()(x)
outputs = tf.keras.layers.Dense(12)(x)
model = tf.keras.Model(inputs, outputs)
model.compile("adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train, epochs=4)
