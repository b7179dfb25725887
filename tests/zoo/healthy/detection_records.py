"""Object detection: variable numbers of boxes, optional keys with defaults, one image a batch for testing."""

import os
import tempfile

import numpy as np
import tensorflow as tf


def int64_list_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def bytes_list_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))


def float_list_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


def create_example(number):
    image = tf.io.encode_jpeg(np.random.randint(0, 255, (32, 48, 3)).astype(np.uint8)).numpy()
    boxes = np.random.rand(number % 3 + 1, 4)
    return tf.train.Example(
        features=tf.train.Features(
            feature={
                "image/height": int64_list_feature([32]),
                "image/width": int64_list_feature([48]),
                "image/filename": bytes_list_feature([f"{number}.jpg".encode("utf8")]),
                "image/encoded": bytes_list_feature([image]),
                "image/format": bytes_list_feature([b"jpeg"]),
                "image/object/bbox/xmin": float_list_feature(boxes[:, 0].tolist()),
                "image/object/bbox/ymin": float_list_feature(boxes[:, 1].tolist()),
                "image/object/class/label": int64_list_feature([1] * len(boxes)),
            }
        )
    )


KEYS = {
    "image/encoded": tf.io.FixedLenFeature((), tf.string, default_value=""),
    "image/format": tf.io.FixedLenFeature((), tf.string, default_value="jpeg"),
    "image/source_id": tf.io.FixedLenFeature((), tf.string, default_value=""),
    "image/height": tf.io.FixedLenFeature((), tf.int64, default_value=1),
    "image/object/bbox/xmin": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/ymin": tf.io.VarLenFeature(tf.float32),
    "image/object/class/label": tf.io.VarLenFeature(tf.int64),
    "image/object/is_crowd": tf.io.VarLenFeature(tf.int64),
}


def decode(serialized):
    parsed = tf.io.parse_single_example(serialized, KEYS)
    image = tf.io.decode_jpeg(parsed["image/encoded"], channels=3)
    boxes = tf.stack(
        [tf.sparse.to_dense(parsed["image/object/bbox/xmin"]), tf.sparse.to_dense(parsed["image/object/bbox/ymin"])], 1
    )
    return tf.image.resize(image, [32, 32]), boxes, tf.sparse.to_dense(parsed["image/object/class/label"])


path = os.path.join(tempfile.mkdtemp(), "boxes.record")
with tf.io.TFRecordWriter(path) as writer:
    for number in range(40):
        writer.write(create_example(number).SerializeToString())

train = tf.data.TFRecordDataset(path).shuffle(400).map(decode, num_parallel_calls=tf.data.AUTOTUNE)
train = train.padded_batch(8, padded_shapes=([32, 32, 3], [None, 2], [None])).prefetch(tf.data.AUTOTUNE)
test_dataset = tf.data.TFRecordDataset(path).map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(1)
for images, boxes, classes in train:
    print(images.shape, boxes.shape, classes.shape)
for images, boxes, classes in test_dataset.take(2):
    print(images.shape)
