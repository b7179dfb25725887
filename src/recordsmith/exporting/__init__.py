"""Datasets as Parquet, CSV, JSON lines or WebDataset."""
