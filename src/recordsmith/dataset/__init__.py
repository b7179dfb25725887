"""A stored dataset: which files belong to it, its schema, and its records by number."""

from recordsmith.dataset.inference import infer_schema
from recordsmith.dataset.layout import DatasetLayout, find_layout
from recordsmith.dataset.stored import StoredDataset

__all__ = ["DatasetLayout", "StoredDataset", "find_layout", "infer_schema"]
