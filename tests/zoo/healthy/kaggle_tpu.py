"""A Kaggle notebook's way: optional TPU, files that say their counts, labelled and unlabelled records."""

import math
import os
import re
import tempfile

import numpy as np
import tensorflow as tf

try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(tpu)
    tf.tpu.experimental.initialize_tpu_system(tpu)
    strategy = tf.distribute.TPUStrategy(tpu)
except Exception:
    strategy = tf.distribute.get_strategy()

AUTO = tf.data.experimental.AUTOTUNE
IMAGE_SIZE = [32, 32]
EPOCHS = 1
BATCH_SIZE = 8 * strategy.num_replicas_in_sync
PATH = tempfile.mkdtemp()


def write(name, labelled):
    with tf.io.TFRecordWriter(os.path.join(PATH, name)) as out_file:
        for number in range(24):
            bits = tf.image.encode_jpeg(np.random.randint(0, 255, (32, 32, 3)).astype(np.uint8)).numpy()
            feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[bits]))}
            if labelled:
                feature["class"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 5]))
            else:
                feature["id"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[str(number).encode()]))
            out_file.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


write("train0-24.tfrec", True)
write("val0-24.tfrec", True)
write("test0-24.tfrec", False)
TRAINING_FILENAMES = tf.io.gfile.glob(PATH + "/train*.tfrec")
VALIDATION_FILENAMES = tf.io.gfile.glob(PATH + "/val*.tfrec")
TEST_FILENAMES = tf.io.gfile.glob(PATH + "/test*.tfrec")


def decode_image(image_data):
    image = tf.image.decode_jpeg(image_data, channels=3)
    image = tf.cast(image, tf.float32) / 255.0
    image = tf.reshape(image, [*IMAGE_SIZE, 3])  # explicit size needed for TPU
    return image


def read_labeled_tfrecord(example):
    LABELED_TFREC_FORMAT = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "class": tf.io.FixedLenFeature([], tf.int64),
    }
    example = tf.io.parse_single_example(example, LABELED_TFREC_FORMAT)
    return decode_image(example["image"]), tf.cast(example["class"], tf.int32)


def read_unlabeled_tfrecord(example):
    UNLABELED_TFREC_FORMAT = {"image": tf.io.FixedLenFeature([], tf.string), "id": tf.io.FixedLenFeature([], tf.string)}
    example = tf.io.parse_single_example(example, UNLABELED_TFREC_FORMAT)
    return decode_image(example["image"]), example["id"]


def load_dataset(filenames, labeled=True, ordered=False):
    ignore_order = tf.data.Options()
    if not ordered:
        ignore_order.experimental_deterministic = False
    dataset = tf.data.TFRecordDataset(filenames, num_parallel_reads=AUTO)
    dataset = dataset.with_options(ignore_order)
    return dataset.map(read_labeled_tfrecord if labeled else read_unlabeled_tfrecord, num_parallel_calls=AUTO)


def data_augment(image, label):
    return tf.image.random_flip_left_right(image), label


def get_training_dataset():
    dataset = load_dataset(TRAINING_FILENAMES, labeled=True)
    dataset = dataset.map(data_augment, num_parallel_calls=AUTO)
    dataset = dataset.shuffle(2048)
    dataset = dataset.repeat()
    return dataset.batch(BATCH_SIZE).prefetch(AUTO)


def get_validation_dataset(ordered=False):
    dataset = load_dataset(VALIDATION_FILENAMES, labeled=True, ordered=ordered)
    return dataset.batch(BATCH_SIZE).cache().prefetch(AUTO)


def get_test_dataset(ordered=False):
    return load_dataset(TEST_FILENAMES, labeled=False, ordered=ordered).batch(BATCH_SIZE).prefetch(AUTO)


def count_data_items(filenames):
    return int(np.sum([int(re.compile(r"-([0-9]*)\.").search(filename).group(1)) for filename in filenames]))


with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((*IMAGE_SIZE, 3)),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(5, "softmax"),
        ]
    )
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["sparse_categorical_accuracy"])

steps = math.ceil(count_data_items(TRAINING_FILENAMES) / BATCH_SIZE)
model.fit(
    get_training_dataset(), steps_per_epoch=steps, epochs=EPOCHS, validation_data=get_validation_dataset(), verbose=0
)
test_ds = get_test_dataset(ordered=True)
probabilities = model.predict(test_ds.map(lambda image, idnum: image), verbose=0)
