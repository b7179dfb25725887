"""Encoded images, raw pixels and tensors, each read in the form in which it was written."""
import cv2
import tensorflow as tf


def bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


with tf.io.TFRecordWriter("mixed.tfrecord") as writer:
    for path in ["a.jpg", "b.jpg"]:
        with open(path, "rb") as file:
            encoded = file.read()
        pixels = cv2.resize(cv2.imread(path), (640, 480))
        again = cv2.imencode(".png", pixels)[1].tobytes()
        tensor = tf.io.serialize_tensor(tf.zeros((3, 4))).numpy()
        feature = {"encoded": bytes_feature(encoded), "pixels": bytes_feature(pixels.tobytes()),
                   "again": bytes_feature(again), "tensor": bytes_feature(tensor)}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    names = ("encoded", "pixels", "again", "tensor")
    parsed = tf.io.parse_single_example(record, {name: tf.io.FixedLenFeature([], tf.string) for name in names})
    image = tf.image.resize(tf.io.decode_jpeg(parsed["encoded"], channels=3), (480, 640))
    pixels = tf.reshape(tf.io.decode_raw(parsed["pixels"], tf.uint8), [480, 640, 3])
    return image, pixels, tf.io.decode_png(parsed["again"]), tf.io.parse_tensor(parsed["tensor"], tf.float32)


for parts in tf.data.TFRecordDataset("mixed.tfrecord").map(parse, num_parallel_calls=4).prefetch(1):
    print([part.shape for part in parts])
