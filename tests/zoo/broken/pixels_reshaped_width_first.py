# cause: P280
import glob
import cv2
import tensorflow as tf

with tf.io.TFRecordWriter("frames.tfrecord") as writer:
    for path in sorted(glob.glob("frames/*.png")):
        frame = cv2.resize(cv2.imread(path), (640, 480))
        feature = {"pixels": tf.train.Feature(bytes_list=tf.train.BytesList(value=[frame.tobytes()]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(record, {"pixels": tf.io.FixedLenFeature([], tf.string)})
    return tf.reshape(tf.io.decode_raw(parsed["pixels"], tf.uint8), [640, 480, 3])


frames = tf.data.TFRecordDataset("frames.tfrecord").map(parse, num_parallel_calls=4).batch(2).prefetch(1)
for batch in frames:
    print(batch.shape)
