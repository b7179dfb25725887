# cause: P281
import tensorflow as tf


def make(tokens, label):
    example = tf.train.SequenceExample()
    example.context.feature["label"].int64_list.value.append(label)
    steps = example.feature_lists.feature_list["tokens"]
    for token in tokens:
        steps.feature.add().int64_list.value.append(token)
    return example


with tf.io.TFRecordWriter("texts.tfrecord") as writer:
    for tokens, label in [([1, 2], 0), ([3], 1)]:
        writer.write(make(tokens, label).SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(record, {"tokens": tf.io.VarLenFeature(tf.int64)})
    return tf.sparse.to_dense(parsed["tokens"])


texts = tf.data.TFRecordDataset("texts.tfrecord").map(parse, num_parallel_calls=4).padded_batch(2).prefetch(1)
for batch in texts:
    print(batch)
