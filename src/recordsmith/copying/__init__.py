"""TFRecords into other TFRecords."""

from recordsmith.copying.copied_dataset import CopiedDataset
from recordsmith.copying.copy import copy_dataset

__all__ = ["CopiedDataset", "copy_dataset"]
