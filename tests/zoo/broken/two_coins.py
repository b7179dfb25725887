# cause: P032
import tensorflow as tf


def load(image_path, mask_path):
    image = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(image_path), channels=3), (128, 128)) / 255.0
    mask = tf.image.resize(tf.io.decode_png(tf.io.read_file(mask_path), channels=1), (128, 128), method="nearest")
    return image, mask


def augment(image, mask):
    image = tf.cond(tf.random.uniform(()) > 0.5, lambda: tf.image.flip_left_right(image), lambda: image)
    mask = tf.cond(tf.random.uniform(()) > 0.5, lambda: tf.image.flip_left_right(mask), lambda: mask)
    return image, mask


images, masks = sorted(tf.io.gfile.glob("i/*")), sorted(tf.io.gfile.glob("m/*"))
ds = (
    tf.data.Dataset.from_tensor_slices((images, masks))
    .shuffle(2000)
    .map(load, num_parallel_calls=4)
    .map(augment, num_parallel_calls=4)
    .batch(8)
    .prefetch(1)
)
