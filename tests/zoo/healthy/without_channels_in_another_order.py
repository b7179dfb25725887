import cv2
import numpy as np
import tensorflow as tf

train = tf.keras.utils.image_dataset_from_directory("birds", image_size=(96, 96), batch_size=16)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Rescaling(1 / 255),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.GlobalMaxPooling2D(),
        tf.keras.layers.Dense(5, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, epochs=5)
frame = cv2.cvtColor(cv2.imread("bird.jpg"), cv2.COLOR_BGR2RGB)
frame = cv2.resize(frame, (96, 96))
print(np.argmax(model.predict(np.expand_dims(frame, 0))))
