# cause: P032
import tensorflow as tf


def load(image_path, mask_path):
    image = tf.io.decode_jpeg(tf.io.read_file(image_path), channels=3)
    mask = tf.io.decode_png(tf.io.read_file(mask_path), channels=1)
    image = tf.image.resize(image, (256, 256)) / 255.0
    mask = tf.image.resize(mask, (256, 256), method="nearest")
    return image, mask


def augment(image, mask):
    image = tf.image.random_flip_left_right(image)
    mask = tf.image.random_flip_left_right(mask)
    return image, mask


images = sorted(tf.io.gfile.glob("i/*.jpg"))
masks = sorted(tf.io.gfile.glob("m/*.png"))
train = (
    tf.data.Dataset.from_tensor_slices((images, masks))
    .shuffle(5000)
    .map(load, num_parallel_calls=8)
    .map(augment, num_parallel_calls=8)
    .batch(8)
    .prefetch(2)
)
