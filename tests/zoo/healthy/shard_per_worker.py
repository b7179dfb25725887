"""Each worker writes a shard of its own and returns a number only."""

import multiprocessing
import os
import tempfile

import numpy as np


def write_shard(task):
    import tensorflow as tf

    path, start = task
    options = tf.io.TFRecordOptions(compression_type="GZIP")
    writer = tf.io.TFRecordWriter(path, options)
    try:
        for number in range(start, start + 20):
            values = np.full(5, number, dtype=np.float32)
            feature = {"values": tf.train.Feature(float_list=tf.train.FloatList(value=values))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    finally:
        writer.close()
    return 20


if __name__ == "__main__":
    folder = tempfile.mkdtemp()
    tasks = [(os.path.join(folder, f"part-{shard}.tfrecord.gz"), shard * 20) for shard in range(2)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(sum(pool.map(write_shard, tasks)))
