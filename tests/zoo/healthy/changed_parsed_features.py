"""What a parser returns is changed in many ways before it is used."""

import tensorflow as tf

FEATURES = {"frames": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def decode(serialized):
    row = tf.io.parse_single_example(serialized, FEATURES)
    row["video"] = tf.io.decode_raw(row.pop("frames"), tf.uint8)
    row.update(weight=1.0)
    row |= {"length": tf.shape(row["video"])[0]}
    for name in ("left", "right"):
        row[name] = row["video"]
    return add_target(row)


def add_target(row):
    if "target" not in row:
        row["target"] = row["label"]
    row.setdefault("domain", 0)
    return {"x": row["left"], "n": row["length"], "d": row["domain"]}, row["target"], row["weight"]


dataset = tf.data.TFRecordDataset("clips.tfrecord").map(decode, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.shuffle(4096).batch(16).prefetch(tf.data.AUTOTUNE)
