"""Kinds of files that datasets are made from and exported to; each folder has what reads a kind and what writes it."""
