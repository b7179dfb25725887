"""Rules on how PyTorch programs train: steps, modes, modules, losses, schedules, and what is kept."""

from recordsmith.doctor.lint.rules.torch_training.loop_values import LOOP_VALUE_RULES
from recordsmith.doctor.lint.rules.torch_training.modes import MODE_RULES
from recordsmith.doctor.lint.rules.torch_training.modules import MODULE_RULES
from recordsmith.doctor.lint.rules.torch_training.outputs import OUTPUT_RULES
from recordsmith.doctor.lint.rules.torch_training.schedules import SCHEDULE_RULES
from recordsmith.doctor.lint.rules.torch_training.states import STATE_RULES
from recordsmith.doctor.lint.rules.torch_training.steps import STEP_RULES

__all__ = ["TORCH_TRAINING_RULES"]

TORCH_TRAINING_RULES = [
    *STEP_RULES,
    *MODE_RULES,
    *OUTPUT_RULES,
    *MODULE_RULES,
    *LOOP_VALUE_RULES,
    *SCHEDULE_RULES,
    *STATE_RULES,
]
