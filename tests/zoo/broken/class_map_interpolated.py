# cause: P243
import tensorflow as tf

paths = sorted(tf.io.gfile.glob("scenes/*.jpg"))


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    mask = tf.io.decode_png(tf.io.read_file(tf.strings.regex_replace(path, ".jpg", "_mask.png")), channels=1)
    image = tf.image.resize(image, (96, 96)) / 255.0
    mask = tf.image.resize(mask, (96, 96))
    return image, mask


train = tf.data.Dataset.from_tensor_slices(paths).shuffle(5000).map(load, num_parallel_calls=8).batch(16).prefetch(2)
model = tf.keras.Sequential(
    [tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"), tf.keras.layers.Conv2D(4, 1)]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, epochs=2)
