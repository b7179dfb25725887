# cause: P256
import random
import tensorflow as tf


def augment(image, label):
    if random.random() > 0.5:
        image = tf.image.flip_left_right(image)
    angle = random.randint(0, 3)
    return tf.image.rot90(image, k=angle), label


train = (
    tf.keras.utils.image_dataset_from_directory("a", image_size=(64, 64)).map(augment, num_parallel_calls=4).prefetch(1)
)
