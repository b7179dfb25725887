# cause: P044
# situation: E3
import os
import tempfile

import tensorflow as tf
from sklearn.feature_extraction.text import TfidfVectorizer

texts = ["one fish", "two fish", "red fish", "blue fish"] * 10
matrix = TfidfVectorizer().fit_transform(texts)
with tf.io.TFRecordWriter(os.path.join(tempfile.mkdtemp(), "texts.tfrecord")) as writer:
    for row in matrix:
        values = row.toarray().ravel()
        feature = {"tfidf": tf.train.Feature(float_list=tf.train.FloatList(value=values))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
