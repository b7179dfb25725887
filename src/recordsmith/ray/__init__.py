"""Datasets of Ray Data: `read` makes one from TFRecords, and `RecordsmithSink` writes one as a dataset of TFRecords."""

from recordsmith.errors import import_extra

import_extra("ray.data", "ray", purpose="recordsmith.ray")

from recordsmith.ray.reading import read  # noqa: E402 - Ray must be there
from recordsmith.ray.sink import RecordsmithSink  # noqa: E402

__all__ = ["RecordsmithSink", "read"]
