"""Datasets as Parquet, CSV, JSON lines or WebDataset."""

from recordsmith.exporting.export import ExportedDataset, export_dataset

__all__ = ["ExportedDataset", "export_dataset"]
