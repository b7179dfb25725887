import tensorflow as tf


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    angle = tf.random.uniform((), 0, 4, tf.int32)
    return tf.image.rot90(image, k=angle), label


train = (
    tf.keras.utils.image_dataset_from_directory("a", image_size=(64, 64)).map(augment, num_parallel_calls=4).prefetch(1)
)
