"""Two ways to the facts of a dataset: recordsmith's survey, and one with tf.data and numpy. Each in its own process."""
