# cause: P279
import tensorflow as tf

with tf.io.TFRecordWriter("pets.tfrecord") as writer:
    for path in ["a.jpg", "b.jpg"]:
        image = tf.io.read_file(path).numpy()
        feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(record, {"image": tf.io.FixedLenFeature([], tf.string)})
    return tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), [64, 64, 3])


images = tf.data.TFRecordDataset("pets.tfrecord").map(parse, num_parallel_calls=4).batch(2).prefetch(1)
for batch in images:
    print(batch.shape)
