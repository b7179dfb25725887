"""The files that describe a dataset: the manifest recordsmith.json, and the descriptions of TensorFlow Datasets."""
