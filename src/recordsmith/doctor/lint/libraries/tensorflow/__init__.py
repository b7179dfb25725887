"""What calls of TensorFlow mean to the interpreter: datasets, TFRecord paths, features that are written and parsed."""
