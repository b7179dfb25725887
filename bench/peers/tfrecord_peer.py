"""The `tfrecord` package (vahidk): a pure Python reader on top of protobuf. It checks no CRC."""

from __future__ import annotations

import importlib
import importlib.metadata
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.data.datasets import BATCH, Column, Columns, DatasetSpec

if TYPE_CHECKING:
    from bench.peers.contract import Labels, Reading

_KINDS = {"float": "float", "int64": "int", "bytes": "byte"}


class TfrecordReading:
    """Rows as the package delivers them, taken 1,024 at a time and not stacked."""

    def __init__(self, loader: Any, dataset: DatasetSpec, paths: Sequence[Path]) -> None:
        self._loader = loader
        self._dataset = dataset
        self._paths = paths
        self._description = {feature.name: _KINDS[feature.kind] for feature in dataset.features}

    def batches(self) -> Iterator[Any]:
        """See `Reading`."""
        for path in self._paths:
            rows = self._loader(str(path), None, self._description)
            while batch := list(itertools.islice(rows, BATCH)):
                yield batch

    def labels(self, batch: Any) -> Labels:
        """See `Reading`."""
        return np.concatenate([row["label"] for row in batch])

    def columns(self, batch: Any) -> Columns:
        """See `Reading`."""
        columns: Columns = {}
        for feature in self._dataset.features:
            values = [row[feature.name] for row in batch]
            if feature.kind == "bytes":
                # The package keeps a byte string of one value as bytes, and others as an array.
                columns[feature.name] = Column(np.frombuffer(b"".join(map(bytes, values)), dtype=np.uint8))
            else:
                columns[feature.name] = Column(np.concatenate(values))
        return columns


class TfrecordPeer:
    """The package `tfrecord` from PyPI."""

    def __init__(self) -> None:
        self._loader: Any = importlib.import_module("tfrecord.reader").tfrecord_loader

    def versions(self) -> dict[str, str]:
        """The versions of the libraries that do the work."""
        return {"tfrecord": importlib.metadata.version("tfrecord")}

    def reading_forms(self, _dataset: DatasetSpec) -> list[str]:
        """See `Reads`."""
        return ["tfrecord_loader, row by row"]

    def open_reading(self, dataset: DatasetSpec, paths: Sequence[Path], _form: str) -> Reading:
        """See `Reads`."""
        return TfrecordReading(self._loader, dataset, paths)
