"""Writing well: encoded images, several shards, labels looked up by name, writers closed."""

import glob
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
CLASSES = ["cat", "dog"]
for name in CLASSES:
    os.makedirs(f"{folder}/{name}")
    for number in range(10):
        image = np.random.randint(0, 255, (16, 16, 3)).astype(np.uint8)
        tf.io.write_file(f"{folder}/{name}/{number}.jpg", tf.io.encode_jpeg(image))

paths = glob.glob(f"{folder}/*/*.jpg")
labels = [CLASSES.index(os.path.basename(os.path.dirname(path))) for path in paths]


def example_of(path, label):
    with open(path, "rb") as file:
        encoded = file.read()
    feature = {
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[encoded])),
        "path": tf.train.Feature(bytes_list=tf.train.BytesList(value=[path.encode("utf-8")])),
        "class": tf.train.Feature(bytes_list=tf.train.BytesList(value=[CLASSES[label].encode()])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


writers = [tf.io.TFRecordWriter(f"{folder}/pets-{shard:05}-of-00002.tfrecord") for shard in range(2)]
with ThreadPoolExecutor() as pool:
    for number, record in enumerate(pool.map(example_of, paths, labels)):
        writers[number % 2].write(record)
for writer in writers:
    writer.close()

dataset = tf.data.TFRecordDataset(sorted(glob.glob(f"{folder}/pets-*.tfrecord")))
print(sum(1 for _ in dataset))
