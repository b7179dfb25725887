"""The rules about code, family P; one module for each subject."""

from __future__ import annotations

from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.inference.inputs import INPUT_RULES
from recordsmith.doctor.lint.rules.inference.names import NAME_RULES
from recordsmith.doctor.lint.rules.inference.order import PREDICTION_ORDER_RULES
from recordsmith.doctor.lint.rules.pipeline.augmentation import AUGMENTATION_RULES
from recordsmith.doctor.lint.rules.pipeline.batches import BATCH_RULES
from recordsmith.doctor.lint.rules.pipeline.order import ORDER_RULES
from recordsmith.doctor.lint.rules.pipeline.oversampling import OVERSAMPLING_RULES
from recordsmith.doctor.lint.rules.pipeline.own_batches import OWN_BATCH_RULES
from recordsmith.doctor.lint.rules.pipeline.own_functions import OWN_FUNCTION_RULES
from recordsmith.doctor.lint.rules.pipeline.pairs import PAIR_RULES
from recordsmith.doctor.lint.rules.pipeline.python_randomness import PYTHON_RANDOMNESS_RULES
from recordsmith.doctor.lint.rules.pipeline.seeds import SEED_RULES
from recordsmith.doctor.lint.rules.pipeline.speed import SPEED_RULES
from recordsmith.doctor.lint.rules.pipeline.splitting import SPLITTING_RULES
from recordsmith.doctor.lint.rules.pixels.channel_constants import CHANNEL_CONSTANT_RULES
from recordsmith.doctor.lint.rules.pixels.class_maps import CLASS_MAP_RULES
from recordsmith.doctor.lint.rules.pixels.overflow import OVERFLOW_RULES
from recordsmith.doctor.lint.rules.pixels.reshaped import RESHAPE_RULES
from recordsmith.doctor.lint.rules.reach.following import FOLLOWING_RULES
from recordsmith.doctor.lint.rules.reading.class_numbers import CLASS_NUMBER_RULES
from recordsmith.doctor.lint.rules.reading.compressed_files import COMPRESSION_RULES
from recordsmith.doctor.lint.rules.reading.features import FEATURE_RULES
from recordsmith.doctor.lint.rules.reading.listings import LISTING_RULES
from recordsmith.doctor.lint.rules.reading.missing_values import MISSING_VALUE_RULES
from recordsmith.doctor.lint.rules.reading.raw_bytes import RAW_BYTES_RULES
from recordsmith.doctor.lint.rules.reading.sparse_features import SPARSE_FEATURE_RULES
from recordsmith.doctor.lint.rules.reading.stored_form import STORED_FORM_RULES
from recordsmith.doctor.lint.rules.splits.choices import CHOICE_RULES
from recordsmith.doctor.lint.rules.splits.learnt_features import LEARNT_FEATURE_RULES
from recordsmith.doctor.lint.rules.splits.ordered import ORDERED_RULES
from recordsmith.doctor.lint.rules.splits.overlaps import OVERLAP_RULES
from recordsmith.doctor.lint.rules.splits.parts import PART_RULES
from recordsmith.doctor.lint.rules.splits.windows import WINDOW_RULES
from recordsmith.doctor.lint.rules.torch import TORCH_RULES
from recordsmith.doctor.lint.rules.torch_data import TORCH_DATA_RULES
from recordsmith.doctor.lint.rules.torch_training import TORCH_TRAINING_RULES
from recordsmith.doctor.lint.rules.training.epochs import EPOCH_RULES
from recordsmith.doctor.lint.rules.training.expected_ranges import EXPECTED_RANGE_RULES
from recordsmith.doctor.lint.rules.training.gradients import GRADIENT_RULES
from recordsmith.doctor.lint.rules.training.images import IMAGE_RULES
from recordsmith.doctor.lint.rules.training.losses import LOSS_RULES
from recordsmith.doctor.lint.rules.training.measured import MEASURED_RULES
from recordsmith.doctor.lint.rules.training.outputs import OUTPUT_RULES
from recordsmith.doctor.lint.rules.training.ranges import RANGE_RULES
from recordsmith.doctor.lint.rules.training.sequences import SEQUENCE_RULES
from recordsmith.doctor.lint.rules.training.steps import STEP_RULES
from recordsmith.doctor.lint.rules.training.targets import TARGET_RULES
from recordsmith.doctor.lint.rules.training.vectorisers import VECTORISER_RULES
from recordsmith.doctor.lint.rules.writing.coordinates import COORDINATE_RULES
from recordsmith.doctor.lint.rules.writing.stored_size import STORED_SIZE_RULES
from recordsmith.doctor.lint.rules.writing.writers import WRITER_RULES
from recordsmith.doctor.lint.rules.writing.written_values import WRITTEN_VALUE_RULES
from recordsmith.rules import RuleSet

__all__ = ["RULES"]

RULES: RuleSet[Program] = RuleSet(
    [
        *ORDER_RULES,
        *BATCH_RULES,
        *SPEED_RULES,
        *AUGMENTATION_RULES,
        *VECTORISER_RULES,
        *PAIR_RULES,
        *OWN_BATCH_RULES,
        *OWN_FUNCTION_RULES,
        *RAW_BYTES_RULES,
        *STORED_FORM_RULES,
        *IMAGE_RULES,
        *RANGE_RULES,
        *EXPECTED_RANGE_RULES,
        *FEATURE_RULES,
        *COMPRESSION_RULES,
        *TARGET_RULES,
        *LISTING_RULES,
        *WRITER_RULES,
        *OVERSAMPLING_RULES,
        *SPLITTING_RULES,
        *STORED_SIZE_RULES,
        *WRITTEN_VALUE_RULES,
        *COORDINATE_RULES,
        *INPUT_RULES,
        *PREDICTION_ORDER_RULES,
        *NAME_RULES,
        *PYTHON_RANDOMNESS_RULES,
        *SEED_RULES,
        *CHOICE_RULES,
        *LEARNT_FEATURE_RULES,
        *ORDERED_RULES,
        *WINDOW_RULES,
        *OVERLAP_RULES,
        *PART_RULES,
        *OUTPUT_RULES,
        *LOSS_RULES,
        *GRADIENT_RULES,
        *EPOCH_RULES,
        *STEP_RULES,
        *MEASURED_RULES,
        *SEQUENCE_RULES,
        *CHANNEL_CONSTANT_RULES,
        *CLASS_MAP_RULES,
        *OVERFLOW_RULES,
        *RESHAPE_RULES,
        *CLASS_NUMBER_RULES,
        *MISSING_VALUE_RULES,
        *SPARSE_FEATURE_RULES,
        *TORCH_RULES,
        *TORCH_TRAINING_RULES,
        *TORCH_DATA_RULES,
        *FOLLOWING_RULES,
    ]
)
