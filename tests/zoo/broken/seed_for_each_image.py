# cause: P282
import tensorflow as tf


def augment(image, label):
    image = tf.image.stateless_random_flip_left_right(image, seed=(1, 2))
    return tf.image.stateless_random_brightness(image, 0.1, seed=(1, 2)), label


images, labels = tf.random.uniform((64, 32, 32, 3)), tf.zeros((64,), tf.int32)
train = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(64).map(augment, num_parallel_calls=4)
train = train.batch(16).prefetch(1)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, epochs=3)
