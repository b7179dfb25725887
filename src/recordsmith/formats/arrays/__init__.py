"""Numpy arrays: in memory, as .npy files and as .npz archives."""
