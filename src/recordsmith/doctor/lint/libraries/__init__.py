"""What calls of tf.data, Keras, numpy and others mean to the analysis."""
