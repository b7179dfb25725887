# cause: P292
import numpy as np
import tensorflow as tf

train = tf.keras.utils.image_dataset_from_directory("pets", image_size=(64, 64)).prefetch(1)
model = tf.keras.Sequential([tf.keras.layers.Rescaling(1 / 255), tf.keras.layers.Flatten(),
                             tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, epochs=5)
NAMES = ["dog", "cat", "bird"]
image = tf.keras.utils.img_to_array(tf.keras.utils.load_img("x.jpg", target_size=(64, 64)))
print(NAMES[np.argmax(model.predict(image[None])[0])])
