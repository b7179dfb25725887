# cause: P032
import tensorflow as tf


def parse(r):
    f = tf.io.parse_single_example(
        r, {"image": tf.io.FixedLenFeature([], tf.string), "bbox": tf.io.FixedLenFeature([4], tf.float32)}
    )
    image = tf.image.resize(tf.io.decode_jpeg(f["image"], channels=3), (224, 224)) / 255.0
    return image, f["bbox"]


def augment(image, bbox):
    if tf.random.uniform(()) > 0.5:
        image = tf.image.flip_left_right(image)
    return image, bbox


train = (
    tf.data.TFRecordDataset("faces.tfrecord")
    .shuffle(5000)
    .map(parse, num_parallel_calls=8)
    .map(augment, num_parallel_calls=8)
    .batch(32)
    .prefetch(2)
)
model = tf.keras.Sequential(
    [tf.keras.layers.Conv2D(8, 3), tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(4)]
)
model.compile("adam", "mse")
model.fit(train, epochs=3)
