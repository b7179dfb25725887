"""recordsmith, used through its public names only."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.data.datasets import BATCH, Column, Columns, DatasetSpec, Feature

if TYPE_CHECKING:
    from bench.peers.contract import Labels, Picking, Reading, Writing

ONE_THREAD, TWO_THREADS, ROWS = "columns, 1 thread", "columns, 2 threads", "rows (Python dicts), 1 thread"
EXTEND, MAKE = "rs.write(...).extend, 4 shards", "rs.make of arrays: split, shuffled, verified"


class RecordsmithReading:
    """An open dataset; both CRCs of every record are checked, as always unless switched off."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def batches(self) -> Iterator[Any]:
        """See `Reading`."""
        return iter(self._dataset.batch(BATCH))

    def labels(self, batch: Any) -> Labels:
        """See `Reading`."""
        # Ask for every column, so that one that is decoded only on demand would be decoded here, inside the timing.
        for column in batch.values():
            len(column)
        labels: Labels = batch["label"]
        return labels

    def columns(self, batch: Any) -> Columns:
        """See `Reading`."""
        return {name: _bench_column(column) for name, column in batch.items()}


class RecordsmithPeer:
    """The recordsmith installed for this interpreter."""

    def __init__(self) -> None:
        self._rs: Any = importlib.import_module("recordsmith")

    def versions(self) -> dict[str, str]:
        """The versions of the libraries that do the work."""
        return {"recordsmith": importlib.metadata.version("recordsmith")}

    def reading_forms(self, _dataset: DatasetSpec) -> list[str]:
        """See `Reads`."""
        return ["rs.open(paths).batch(1024), CRC on"]

    def open_reading(self, _dataset: DatasetSpec, paths: Sequence[Path], _form: str) -> Reading:
        """See `Reads`."""
        return RecordsmithReading(self._rs.open([str(path) for path in paths]))

    def writing_forms(self, dataset: DatasetSpec) -> list[str]:
        """See `Writes`."""
        return [ONE_THREAD, TWO_THREADS, *{"tab": [ROWS], "vec": [EXTEND, MAKE]}.get(dataset.name, [])]

    def prepare_writing(self, dataset: DatasetSpec, shards: Sequence[Columns], form: str) -> Writing:
        """See `Writes`."""
        schema = self._rs.Schema({feature.name: self._schema_feature(feature) for feature in dataset.features})
        if form in (EXTEND, MAKE):
            return self._prepare_dataset(schema, shards, form)
        if form == ROWS:
            rows = [_python_rows(dataset, columns) for columns in shards]

            def write_shard(number: int, path: Path) -> None:
                with self._rs.RecordWriter(str(path)) as writer:
                    writer.write_rows(rows[number], schema)
        else:
            columns = [
                {feature.name: self._column(feature, shard[feature.name]) for feature in dataset.features}
                for shard in shards
            ]

            def write_shard(number: int, path: Path) -> None:
                with self._rs.RecordWriter(str(path)) as writer:
                    writer.write_columns(columns[number], schema)

        def write(paths: Sequence[Path]) -> None:
            if form == TWO_THREADS:
                with ThreadPoolExecutor(2) as pool:
                    list(pool.map(write_shard, range(len(paths)), paths))
                return
            for number, path in enumerate(paths):
                write_shard(number, path)

        return write

    def _prepare_dataset(self, schema: Any, shards: Sequence[Columns], form: str) -> Writing:
        columns = {name: np.concatenate([shard[name].values for shard in shards]) for name in shards[0]}

        def write(paths: Sequence[Path]) -> None:
            folder = paths[0].parent / "dataset"
            if form == EXTEND:
                with self._rs.write(folder, schema, shards=len(paths)) as writer:
                    writer.extend(columns)
            else:
                source = self._rs.sources.arrays(columns, schema=schema)
                self._rs.make(source, folder, split="train=0.8,test=0.2", shards=len(paths) // 2, workers=2)
            # Where the other forms write, so that the same reader finds it; it takes microseconds.
            for written, path in zip(sorted(folder.glob("*.tfrecord-*")), paths, strict=True):
                written.rename(path)

        return write

    def _schema_feature(self, feature: Feature) -> Any:
        if feature.kind == "bytes":
            return self._rs.Bytes()
        dtype = {"float": "float32", "int64": "int64"}[feature.kind]
        return self._rs.Scalar(dtype) if feature.count == 1 else self._rs.Tensor(dtype, (feature.count,))

    def _column(self, feature: Feature, column: Column) -> Any:
        if feature.kind == "bytes":
            return column.byte_strings()
        if column.offsets is not None:
            return self._rs.Ragged(column.values, column.offsets)
        return column.values

    def picking_forms(self) -> list[str]:
        """See `Picks`."""
        return ["ds.raw([numbers])"]

    def open_picking(self, path: Path, _form: str, _folder: Path) -> Picking:
        """See `Picks`."""
        dataset = self._rs.open(str(path))

        def pick(numbers: list[int]) -> Sequence[bytes]:
            found: Sequence[bytes] = dataset.raw(numbers)
            return found

        return pick

    def verify(self, paths: Sequence[Path], *, threads: int) -> int:
        """See `Verifies`."""
        return int(self._rs.open([str(path) for path in paths]).verify(threads))


def _bench_column(column: Any) -> Column:
    if isinstance(column, np.ndarray):
        return Column(column)
    # A Ragged has values and offsets, a ByteColumn data and offsets.
    values = column.data if hasattr(column, "data") else column.values
    offsets = np.asarray(column.offsets)
    return Column(np.asarray(values)[offsets[0] : offsets[-1]], offsets - offsets[0])


def _python_rows(dataset: DatasetSpec, columns: Columns) -> list[dict[str, Any]]:
    names = [feature.name for feature in dataset.features]
    values = [
        columns[feature.name].byte_strings() if feature.kind == "bytes" else columns[feature.name].values.tolist()
        for feature in dataset.features
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
