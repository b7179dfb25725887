"""Images from TFRecords into a functional Keras model, with validation."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

AUTOTUNE = tf.data.AUTOTUNE
BATCH_SIZE = 16
IMAGE_SIZE = (16, 16)
folder = tempfile.mkdtemp()


def _bytes_feature(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def write_split(name, count):
    with tf.io.TFRecordWriter(os.path.join(folder, f"{name}.tfrecord")) as writer:
        for number in range(count):
            image = np.random.randint(0, 255, (20, 24, 3)).astype(np.uint8)
            feature = {"image": _bytes_feature(tf.io.encode_jpeg(image)), "label": _int64_feature(number % 3)}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def decode(record):
    spec = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    example = tf.io.parse_single_example(record, spec)
    image = tf.io.decode_jpeg(example["image"], channels=3)
    image = tf.image.resize(image, IMAGE_SIZE)
    return image / 255.0, example["label"]


def augment(image, label):
    return tf.image.random_flip_left_right(image), label


def get_dataset(name, training):
    dataset = tf.data.TFRecordDataset(os.path.join(folder, f"{name}.tfrecord"), num_parallel_reads=AUTOTUNE)
    dataset = dataset.map(decode, num_parallel_calls=AUTOTUNE)
    dataset = dataset.cache()
    if training:
        dataset = dataset.shuffle(1000)
        dataset = dataset.map(augment, num_parallel_calls=AUTOTUNE)
    dataset = dataset.batch(BATCH_SIZE)
    return dataset.prefetch(AUTOTUNE)


write_split("train", 120)
write_split("val", 30)
inputs = keras.Input(shape=(*IMAGE_SIZE, 3))
x = layers.Conv2D(8, 3, activation="relu")(inputs)
x = layers.GlobalAveragePooling2D()(x)
outputs = layers.Dense(3, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(get_dataset("train", True), validation_data=get_dataset("val", False), epochs=2, verbose=0)
print(model.evaluate(get_dataset("val", False), verbose=0))
