"""Ray Data: read_tfrecords into numpy batches, on as many worker processes as there are cores. It checks no CRC."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.data.datasets import BATCH, Column, Columns, DatasetSpec

if TYPE_CHECKING:
    from bench.peers.contract import Labels, Reading


class RayReading:
    """A lazy Ray dataset; each pass runs it anew."""

    def __init__(self, ray_data: Any, dataset: DatasetSpec, paths: Sequence[Path]) -> None:
        self._ray_data = ray_data
        self._dataset = dataset
        self._paths = [str(path) for path in paths]

    def batches(self) -> Iterator[Any]:
        """See `Reading`."""
        # Built for each pass: an executed Ray dataset may keep its blocks, and reading them again is not reading files.
        records = self._ray_data.read_tfrecords(self._paths)
        return iter(records.iter_batches(batch_size=BATCH, batch_format="numpy"))

    def labels(self, batch: Any) -> Labels:
        """See `Reading`."""
        labels: Labels = batch["label"]
        return labels

    def columns(self, batch: Any) -> Columns:
        """See `Reading`."""
        columns: Columns = {}
        for feature in self._dataset.features:
            values = batch[feature.name]
            if feature.kind == "bytes":
                columns[feature.name] = Column(np.frombuffer(b"".join(values), dtype=np.uint8))
            else:
                dtype = np.float32 if feature.kind == "float" else np.int64
                columns[feature.name] = Column(np.concatenate([np.atleast_1d(v) for v in values]).astype(dtype))
        return columns


class RayPeer:
    """A Ray of this machine only, stopped with the process."""

    def __init__(self) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        importlib.import_module("tensorflow")  # read_tfrecords parses with TensorFlow's classes
        self._ray: Any = importlib.import_module("ray")
        self._ray_data: Any = importlib.import_module("ray.data")
        self._ray.init(
            num_cpus=os.cpu_count(), include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR
        )
        self._ray_data.DataContext.get_current().enable_progress_bars = False

    def versions(self) -> dict[str, str]:
        """The versions of the libraries that do the work."""
        return {"ray": self._ray.__version__}

    def reading_forms(self, _dataset: DatasetSpec) -> list[str]:
        """See `Reads`."""
        return ["read_tfrecords, iter_batches"]

    def open_reading(self, dataset: DatasetSpec, paths: Sequence[Path], _form: str) -> Reading:
        """See `Reads`."""
        return RayReading(self._ray_data, dataset, paths)
