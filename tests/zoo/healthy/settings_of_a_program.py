"""Whether to shuffle is an option, and so is how large the batches are."""

import argparse

import tensorflow as tf


def make(files, *, shuffle=True, repeat=True, batch_size=32):
    dataset = tf.data.TFRecordDataset(files)
    if shuffle:
        dataset = dataset.shuffle(10_000)
    if repeat:
        dataset = dataset.repeat()
    return dataset.batch(batch_size).prefetch(1)


class Reader:
    def __init__(self, files, should_shuffle=False, should_repeat=False):
        self.files = files
        self.should_shuffle = should_shuffle
        self.should_repeat = should_repeat

    def dataset(self):
        dataset = tf.data.TFRecordDataset(self.files)
        if self.should_shuffle:
            dataset = dataset.shuffle(1000)
        if self.should_repeat:
            dataset = dataset.repeat()
        return dataset.batch(8)


parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--no-shuffle", action="store_true")
args = parser.parse_args()
count = 0
for _ in tf.data.TFRecordDataset("train.tfrecord"):
    count += 1
train = tf.data.TFRecordDataset("train.tfrecord").shuffle(count // 4).batch(args.batch_size)
