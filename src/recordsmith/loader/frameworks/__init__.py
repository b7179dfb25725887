"""Batches for TensorFlow, PyTorch and JAX."""
