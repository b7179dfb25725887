"""Reads files of `recordsmith export` so that a dataset made from them is exactly the original."""
