"""Models: what they expect and answer, and training a copy of them. One module for each framework."""

from recordsmith.doctor.diagnose.models.opening import open_model
from recordsmith.doctor.diagnose.models.probe import ModelProbe, Trainer

__all__ = ["ModelProbe", "Trainer", "open_model"]
