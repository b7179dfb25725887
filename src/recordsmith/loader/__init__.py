"""Feeding: a chain of verbs over stored datasets, for loops and frameworks."""

from recordsmith.loader.dataset import Dataset, open_dataset
from recordsmith.loader.loader import Loader
from recordsmith.loader.warning import PipelineWarning

__all__ = ["Dataset", "Loader", "PipelineWarning", "open_dataset"]
