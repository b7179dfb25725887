"""Rules on PyTorch programs."""

from recordsmith.doctor.lint.rules.torch.datasets import DATASET_RULES
from recordsmith.doctor.lint.rules.torch.interpolation import INTERPOLATION_RULES
from recordsmith.doctor.lint.rules.torch.labels import LABEL_RULES
from recordsmith.doctor.lint.rules.torch.loaders import LOADER_RULES
from recordsmith.doctor.lint.rules.torch.loop_values import LOOP_VALUE_RULES
from recordsmith.doctor.lint.rules.torch.masks import MASK_RULES
from recordsmith.doctor.lint.rules.torch.modes import MODE_RULES
from recordsmith.doctor.lint.rules.torch.modules import MODULE_RULES
from recordsmith.doctor.lint.rules.torch.outputs import OUTPUT_RULES
from recordsmith.doctor.lint.rules.torch.pixels import PIXEL_RULES
from recordsmith.doctor.lint.rules.torch.rows import ROW_RULES
from recordsmith.doctor.lint.rules.torch.schedules import SCHEDULE_RULES
from recordsmith.doctor.lint.rules.torch.splits import SPLIT_RULES
from recordsmith.doctor.lint.rules.torch.states import STATE_RULES
from recordsmith.doctor.lint.rules.torch.steps import STEP_RULES
from recordsmith.doctor.lint.rules.torch.subsets import SUBSET_RULES
from recordsmith.doctor.lint.rules.torch.workers import WORKER_RULES

__all__ = ["TORCH_RULES"]

TORCH_RULES = [
    *STEP_RULES,
    *MODE_RULES,
    *LOADER_RULES,
    *WORKER_RULES,
    *SUBSET_RULES,
    *SPLIT_RULES,
    *OUTPUT_RULES,
    *MODULE_RULES,
    *LOOP_VALUE_RULES,
    *MASK_RULES,
    *INTERPOLATION_RULES,
    *PIXEL_RULES,
    *ROW_RULES,
    *SCHEDULE_RULES,
    *STATE_RULES,
    *LABEL_RULES,
    *DATASET_RULES,
]
