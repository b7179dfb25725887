"""Feeding: batches out of stored datasets, for loops and frameworks."""

from recordsmith.loader.batch import Batches
from recordsmith.loader.dataset import Dataset, open_dataset

__all__ = ["Batches", "Dataset", "open_dataset"]
