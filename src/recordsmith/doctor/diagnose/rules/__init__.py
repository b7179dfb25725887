"""The rules of family T: training data as it is fed. Each looks at what was observed, and reads nothing itself."""

from recordsmith.doctor.diagnose.observing.observations import Observations
from recordsmith.doctor.diagnose.rules.chain import CHAIN_RULES
from recordsmith.doctor.diagnose.rules.expectations import EXPECTATION_RULES
from recordsmith.doctor.diagnose.rules.images import IMAGE_RULES
from recordsmith.doctor.diagnose.rules.loading import LOADING_RULES
from recordsmith.doctor.diagnose.rules.model_fit import MODEL_FIT_RULES
from recordsmith.doctor.diagnose.rules.order import ORDER_RULES
from recordsmith.doctor.diagnose.rules.pairs import PAIR_RULES
from recordsmith.doctor.diagnose.rules.structure import STRUCTURE_RULES
from recordsmith.doctor.diagnose.rules.training import TRAINING_RULES
from recordsmith.doctor.diagnose.rules.validation import VALIDATION_RULES
from recordsmith.doctor.diagnose.rules.values import VALUE_RULES
from recordsmith.rules import RuleSet

__all__ = ["RULES"]

RULES: RuleSet[Observations] = RuleSet(
    [
        *STRUCTURE_RULES,
        *MODEL_FIT_RULES,
        *EXPECTATION_RULES,
        *VALUE_RULES,
        *IMAGE_RULES,
        *ORDER_RULES,
        *CHAIN_RULES,
        *PAIR_RULES,
        *TRAINING_RULES,
        *LOADING_RULES,
        *VALIDATION_RULES,
    ]
)
