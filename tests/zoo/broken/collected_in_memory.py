# cause: P046
# situation: E5
import multiprocessing
import os
import tempfile

import cv2
import numpy as np
import tensorflow as tf


def make_image(seed):
    rng = np.random.default_rng(seed)
    return cv2.imencode(".jpg", rng.integers(0, 255, (16, 16, 3), dtype=np.uint8))[1].tobytes()


def main():
    path = os.path.join(tempfile.mkdtemp(), "images.tfrecord")
    with multiprocessing.Pool(2) as pool, tf.io.TFRecordWriter(path) as writer:
        for image in pool.map(make_image, range(100)):
            feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image]))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


if __name__ == "__main__":
    main()
