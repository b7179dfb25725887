"""Boxes that are divided by the right sides, in one order of coordinates."""
import cv2
import pandas as pd
import tensorflow as tf
from PIL import Image


def floats(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


with tf.io.TFRecordWriter("boxes.tfrecord") as writer:
    for name, rows in pd.read_csv("boxes.csv").groupby("file"):
        width, height = Image.open(name).size
        rows_high, columns_wide = cv2.imread(name).shape[:2]
        feature = {"image/object/bbox/xmin": floats([row["xmin"] / width for _, row in rows.iterrows()]),
                   "image/object/bbox/ymin": floats([row["ymin"] / height for _, row in rows.iterrows()]),
                   "image/object/bbox/xmax": floats([row["xmax"] / columns_wide for _, row in rows.iterrows()]),
                   "image/object/bbox/ymax": floats([row["ymax"] / rows_high for _, row in rows.iterrows()])}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
