"""Stored datasets: their files, their schema, and their records by number."""

from recordsmith.dataset.inference import infer_schema
from recordsmith.dataset.layout import DatasetLayout, find_layout
from recordsmith.dataset.stored import StoredDataset

__all__ = ["DatasetLayout", "StoredDataset", "find_layout", "infer_schema"]
