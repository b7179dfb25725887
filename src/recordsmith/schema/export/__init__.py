"""Converts schemas to and from TensorFlow, TensorFlow Datasets and TensorFlow Metadata."""
