"""The rules about code, family P; one module for each subject."""

from __future__ import annotations

from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.augmentation import AUGMENTATION_RULES
from recordsmith.doctor.lint.rules.batches import BATCH_RULES
from recordsmith.doctor.lint.rules.compressed_files import COMPRESSION_RULES
from recordsmith.doctor.lint.rules.features import FEATURE_RULES
from recordsmith.doctor.lint.rules.listings import LISTING_RULES
from recordsmith.doctor.lint.rules.order import ORDER_RULES
from recordsmith.doctor.lint.rules.pairs import PAIR_RULES
from recordsmith.doctor.lint.rules.pictures import PICTURE_RULES
from recordsmith.doctor.lint.rules.ranges import RANGE_RULES
from recordsmith.doctor.lint.rules.raw_bytes import RAW_BYTES_RULES
from recordsmith.doctor.lint.rules.speed import SPEED_RULES
from recordsmith.doctor.lint.rules.splitting import SPLITTING_RULES
from recordsmith.doctor.lint.rules.stored_size import STORED_SIZE_RULES
from recordsmith.doctor.lint.rules.targets import TARGET_RULES
from recordsmith.doctor.lint.rules.vectorisers import VECTORISER_RULES
from recordsmith.doctor.lint.rules.writers import WRITER_RULES
from recordsmith.doctor.lint.rules.written_values import WRITTEN_VALUE_RULES
from recordsmith.findings import RuleSet

__all__ = ["RULES"]

RULES: RuleSet[Program] = RuleSet(
    [
        *ORDER_RULES,
        *BATCH_RULES,
        *SPEED_RULES,
        *AUGMENTATION_RULES,
        *VECTORISER_RULES,
        *PAIR_RULES,
        *RAW_BYTES_RULES,
        *PICTURE_RULES,
        *RANGE_RULES,
        *FEATURE_RULES,
        *COMPRESSION_RULES,
        *TARGET_RULES,
        *LISTING_RULES,
        *WRITER_RULES,
        *SPLITTING_RULES,
        *STORED_SIZE_RULES,
        *WRITTEN_VALUE_RULES,
    ]
)
