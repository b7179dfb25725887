"""What can be diagnosed: one module for each kind of pipeline, all read through the same few names."""

from recordsmith.doctor.diagnose.pipelines.opening import open_pipeline
from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline

__all__ = ["Pipeline", "open_pipeline"]
