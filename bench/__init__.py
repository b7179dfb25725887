"""The benchmark of recordsmith against TensorFlow and its other peers: ``python -m bench`` from the project root."""
