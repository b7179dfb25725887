"""TFRecords into other TFRecords, and into other formats and back."""

from recordsmith.copying.copied_dataset import CopiedDataset
from recordsmith.copying.copy import copy_dataset
from recordsmith.copying.export import ExportedDataset, export_dataset

__all__ = ["CopiedDataset", "ExportedDataset", "copy_dataset", "export_dataset"]
