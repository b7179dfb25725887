"""Rules on PyTorch programs."""

from recordsmith.doctor.lint.rules.torch.loaders import LOADER_RULES
from recordsmith.doctor.lint.rules.torch.modes import MODE_RULES
from recordsmith.doctor.lint.rules.torch.outputs import OUTPUT_RULES
from recordsmith.doctor.lint.rules.torch.splits import SPLIT_RULES
from recordsmith.doctor.lint.rules.torch.steps import STEP_RULES

__all__ = ["TORCH_RULES"]

TORCH_RULES = [*STEP_RULES, *MODE_RULES, *LOADER_RULES, *SPLIT_RULES, *OUTPUT_RULES]
