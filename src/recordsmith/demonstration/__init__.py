"""`recordsmith demo`: makes, checks, repairs, trains on and explains a small dataset with planted faults."""

from recordsmith.demonstration.walk import demonstrate

__all__ = ["demonstrate"]
