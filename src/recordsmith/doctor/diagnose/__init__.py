"""Diagnosing a pipeline: looking at what really arrives, before and while a model learns from it."""

from recordsmith.doctor.diagnose.diagnosis import diagnose

__all__ = ["diagnose"]
