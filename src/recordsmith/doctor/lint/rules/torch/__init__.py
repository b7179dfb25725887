"""Rules on how PyTorch programs load their data: datasets, loaders, splits, transforms, masks."""

from recordsmith.doctor.lint.rules.torch.datasets import DATASET_RULES
from recordsmith.doctor.lint.rules.torch.interpolation import INTERPOLATION_RULES
from recordsmith.doctor.lint.rules.torch.labels import LABEL_RULES
from recordsmith.doctor.lint.rules.torch.loaders import LOADER_RULES
from recordsmith.doctor.lint.rules.torch.masks import MASK_RULES
from recordsmith.doctor.lint.rules.torch.pixels import PIXEL_RULES
from recordsmith.doctor.lint.rules.torch.rows import ROW_RULES
from recordsmith.doctor.lint.rules.torch.splits import SPLIT_RULES
from recordsmith.doctor.lint.rules.torch.subsets import SUBSET_RULES
from recordsmith.doctor.lint.rules.torch.workers import WORKER_RULES

__all__ = ["TORCH_RULES"]

TORCH_RULES = [
    *LOADER_RULES,
    *WORKER_RULES,
    *SUBSET_RULES,
    *SPLIT_RULES,
    *MASK_RULES,
    *INTERPOLATION_RULES,
    *PIXEL_RULES,
    *ROW_RULES,
    *LABEL_RULES,
    *DATASET_RULES,
]
