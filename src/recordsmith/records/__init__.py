"""One TFRecord file: reading, writing, its index, single Examples, and the names of shards."""
