"""`recordsmith demo`: a dataset with planted faults, made, checked, mended, learnt from and explained."""

from recordsmith.demonstration.walk import demonstrate

__all__ = ["demonstrate"]
