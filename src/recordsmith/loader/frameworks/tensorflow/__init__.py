"""Batches as a tf.data.Dataset, or the whole chain as a TensorFlow graph."""
