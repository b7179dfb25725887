"""Rules on the data of PyTorch programs: statistics, padding, boxes, scores, copies, targets."""

from recordsmith.doctor.lint.rules.torch_data.copies import COPY_RULES
from recordsmith.doctor.lint.rules.torch_data.gathered import GATHERED_RULES
from recordsmith.doctor.lint.rules.torch_data.images import IMAGE_DATA_RULES
from recordsmith.doctor.lint.rules.torch_data.iterators import ITERATOR_RULES
from recordsmith.doctor.lint.rules.torch_data.kept import KEPT_RULES
from recordsmith.doctor.lint.rules.torch_data.padding import PADDING_RULES
from recordsmith.doctor.lint.rules.torch_data.randomness import RANDOMNESS_RULES
from recordsmith.doctor.lint.rules.torch_data.resuming import RESUMING_RULES
from recordsmith.doctor.lint.rules.torch_data.scaled_apart import SCALED_APART_RULES
from recordsmith.doctor.lint.rules.torch_data.scores import SCORE_RULES
from recordsmith.doctor.lint.rules.torch_data.statistics import STATISTIC_RULES
from recordsmith.doctor.lint.rules.torch_data.targets import TARGET_RULES
from recordsmith.doctor.lint.rules.torch_data.time_axis import TIME_AXIS_RULES
from recordsmith.doctor.lint.rules.torch_data.weights import WEIGHT_RULES

__all__ = ["TORCH_DATA_RULES"]

TORCH_DATA_RULES = [
    *COPY_RULES,
    *GATHERED_RULES,
    *IMAGE_DATA_RULES,
    *ITERATOR_RULES,
    *KEPT_RULES,
    *PADDING_RULES,
    *RANDOMNESS_RULES,
    *RESUMING_RULES,
    *SCALED_APART_RULES,
    *SCORE_RULES,
    *STATISTIC_RULES,
    *TARGET_RULES,
    *TIME_AXIS_RULES,
    *WEIGHT_RULES,
]
