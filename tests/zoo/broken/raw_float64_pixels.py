# cause: P043
# situation: E2
import glob
import os
import tempfile

import cv2
import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
for number in range(5):
    cv2.imwrite(os.path.join(folder, f"{number}.jpg"), np.random.randint(0, 255, (40, 40, 3)).astype(np.uint8))


def load(path):
    image = cv2.imread(path)
    image = cv2.resize(image, (32, 32))
    return image / 255.0


with tf.io.TFRecordWriter(os.path.join(folder, "images.tfrecord")) as writer:
    for path in sorted(glob.glob(folder + "/*.jpg")):
        image = load(path)
        feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
