"""`rs.open`: a chain of verbs (shuffle, map, batch) over stored datasets, and its outputs for the frameworks."""

from recordsmith.loader.dataset import Dataset, open_dataset
from recordsmith.loader.loader import Loader
from recordsmith.loader.warning import PipelineWarning

__all__ = ["Dataset", "Loader", "PipelineWarning", "open_dataset"]
