"""TensorFlow: several tf.data pipelines for reading, tf.train.Example + TFRecordWriter for writing.

The pipelines deliver tensors and only the labels are turned into numpy, which is the cheapest way to use TensorFlow.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.data.datasets import BATCH, Column, Columns, DatasetSpec, Feature

if TYPE_CHECKING:
    from bench.peers.contract import Labels, Reading, Writing

READ_BUFFER = 8 << 20
CORES = 2

# Pipeline(tf, paths, feature spec) -> tf.data.Dataset of parsed batches.
Pipeline = Callable[[Any, list[str], dict[str, Any]], Any]


def _sequential(
    tf: Any, paths: list[str], spec: dict[str, Any], *, buffer: int | None = None, calls: Any = None
) -> Any:
    records = tf.data.TFRecordDataset(paths, buffer_size=buffer)
    parsed = records.batch(BATCH).map(lambda batch: tf.io.parse_example(batch, spec), num_parallel_calls=calls)
    return parsed.prefetch(tf.data.AUTOTUNE)


def _parallel_parse(tf: Any, paths: list[str], spec: dict[str, Any]) -> Any:
    return _sequential(tf, paths, spec, buffer=READ_BUFFER, calls=tf.data.AUTOTUNE)


def _map_then_batch(tf: Any, paths: list[str], spec: dict[str, Any]) -> Any:
    records = tf.data.TFRecordDataset(paths)
    parsed = records.map(lambda one: tf.io.parse_single_example(one, spec), num_parallel_calls=tf.data.AUTOTUNE)
    varying = any(isinstance(feature, tf.io.RaggedFeature) for feature in spec.values())
    return (parsed.ragged_batch(BATCH) if varying else parsed.batch(BATCH)).prefetch(tf.data.AUTOTUNE)


def _parallel_reads(tf: Any, paths: list[str], spec: dict[str, Any]) -> Any:
    records = tf.data.TFRecordDataset(paths, num_parallel_reads=len(paths))
    parsed = records.batch(BATCH).map(lambda batch: tf.io.parse_example(batch, spec))
    return parsed.prefetch(tf.data.AUTOTUNE)


def _interleave_records(tf: Any, paths: list[str], spec: dict[str, Any]) -> Any:
    records = tf.data.Dataset.from_tensor_slices(paths).interleave(
        tf.data.TFRecordDataset, cycle_length=CORES, block_length=BATCH, num_parallel_calls=tf.data.AUTOTUNE
    )
    parsed = records.batch(BATCH).map(
        lambda batch: tf.io.parse_example(batch, spec), num_parallel_calls=tf.data.AUTOTUNE
    )
    return parsed.prefetch(tf.data.AUTOTUNE)


def _interleave_batches(tf: Any, paths: list[str], spec: dict[str, Any]) -> Any:
    def shard(path: Any) -> Any:
        records = tf.data.TFRecordDataset(path, buffer_size=READ_BUFFER)
        return records.batch(BATCH).map(lambda batch: tf.io.parse_example(batch, spec))

    parsed = tf.data.Dataset.from_tensor_slices(paths).interleave(
        shard, cycle_length=CORES, num_parallel_calls=CORES, deterministic=False
    )
    return parsed.prefetch(tf.data.AUTOTUNE)


PIPELINES: dict[str, Pipeline] = {
    "sequential: batch, parse_example, prefetch": _sequential,
    "sequential, 8 MiB read buffer": partial(_sequential, buffer=READ_BUFFER),
    "batch, then parse_example in parallel": _parallel_parse,
    "parse_single_example in parallel, then batch": _map_then_batch,
    "num_parallel_reads=4, batch, parse_example": _parallel_reads,
    "interleave records, batch, parse in parallel": _interleave_records,
    "interleave shards, each batched and parsed": _interleave_batches,
}
# Features of varying length can be parsed into either; each pipeline is tried with both.
RAGGED, SPARSE = " (ragged)", " (sparse)"

# The usual form is the one of TensorFlow's guide; the others make lists of the columns first, inside the timing.
USUAL = "as in the guide: message constructors on numpy values"
CONSTRUCTORS = "message constructors on lists"
IN_PLACE = "fields filled in place from lists"
TWO_THREADS = "fields filled in place from lists, 2 threads"


class TensorflowReading:
    """One tf.data pipeline, built once and iterated afresh for each pass."""

    def __init__(self, tf: Any, pipeline: Any, dataset: DatasetSpec) -> None:
        self._tf = tf
        self._pipeline = pipeline
        self._dataset = dataset

    def batches(self) -> Iterator[Any]:
        """See `Reading`."""
        return iter(self._pipeline)

    def labels(self, batch: Any) -> Labels:
        """See `Reading`."""
        labels: Labels = batch["label"].numpy()
        return labels

    def columns(self, batch: Any) -> Columns:
        """See `Reading`."""
        return {feature.name: self._column(feature, batch[feature.name]) for feature in self._dataset.features}

    def _column(self, feature: Feature, tensor: Any) -> Column:
        if feature.kind == "bytes":
            strings = tensor.numpy().tolist()
            ends = np.cumsum([0, *map(len, strings)], dtype=np.int64)
            return Column(np.frombuffer(b"".join(strings), dtype=np.uint8), ends)
        if isinstance(tensor, self._tf.RaggedTensor):
            return Column(tensor.flat_values.numpy(), tensor.row_splits.numpy())
        if isinstance(tensor, self._tf.SparseTensor):
            counts = np.bincount(tensor.indices.numpy()[:, 0], minlength=int(tensor.dense_shape[0]))
            return Column(tensor.values.numpy(), np.cumsum([0, *counts], dtype=np.int64))
        return Column(tensor.numpy())


class TensorflowPeer:
    """TensorFlow in this process, without its start-up messages."""

    def __init__(self) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        self._tf: Any = importlib.import_module("tensorflow")

    def versions(self) -> dict[str, str]:
        """The versions of the libraries that do the work."""
        protobuf: Any = importlib.import_module("google.protobuf")
        return {"tensorflow": self._tf.__version__, "protobuf": protobuf.__version__}

    def reading_forms(self, dataset: DatasetSpec) -> list[str]:
        """See `Reads`."""
        if all(feature.count is not None for feature in dataset.features):
            return list(PIPELINES)
        return [name + parsed for name in PIPELINES for parsed in (RAGGED, SPARSE)]

    def open_reading(self, dataset: DatasetSpec, paths: Sequence[Path], form: str) -> Reading:
        """See `Reads`."""
        pipeline = PIPELINES[form.removesuffix(RAGGED).removesuffix(SPARSE)]
        spec = {feature.name: self._parse_spec(feature, form) for feature in dataset.features}
        return TensorflowReading(self._tf, pipeline(self._tf, [str(path) for path in paths], spec), dataset)

    def _parse_spec(self, feature: Feature, form: str) -> Any:
        tf = self._tf
        dtype = {"float": tf.float32, "int64": tf.int64, "bytes": tf.string}[feature.kind]
        if feature.count is not None:
            return tf.io.FixedLenFeature([] if feature.count == 1 else [feature.count], dtype)
        if form.endswith(SPARSE):
            return tf.io.VarLenFeature(dtype)
        return tf.io.RaggedFeature(dtype, row_splits_dtype=tf.int64)

    def writing_forms(self, _dataset: DatasetSpec) -> list[str]:
        """See `Writes`."""
        return [USUAL, CONSTRUCTORS, IN_PLACE, TWO_THREADS]

    def prepare_writing(self, dataset: DatasetSpec, shards: Sequence[Columns], form: str) -> Writing:
        """See `Writes`."""
        features = dataset.features
        inputs = [[_ready_input(feature, columns[feature.name]) for feature in features] for columns in shards]
        write_rows = self._write_constructed if form in (USUAL, CONSTRUCTORS) else self._write_in_place
        make_rows = _numpy_rows if form == USUAL else _list_rows

        def write_shard(number: int, path: Path) -> None:
            rows = zip(*map(make_rows, inputs[number]), strict=True)
            write_rows(features, rows, path)

        def write(paths: Sequence[Path]) -> None:
            if form == TWO_THREADS:
                with ThreadPoolExecutor(CORES) as pool:
                    list(pool.map(write_shard, range(len(paths)), paths))
                return
            for number, path in enumerate(paths):
                write_shard(number, path)

        return write

    def _write_constructed(self, features: Sequence[Feature], rows: Iterator[Any], path: Path) -> None:
        train = self._tf.train
        makers: dict[str, Callable[[Any], Any]] = {
            "float": lambda value: train.Feature(float_list=train.FloatList(value=value)),
            "int64": lambda value: train.Feature(int64_list=train.Int64List(value=value)),
            "bytes": lambda value: train.Feature(bytes_list=train.BytesList(value=value)),
        }
        named = [(feature.name, makers[feature.kind]) for feature in features]
        with self._tf.io.TFRecordWriter(str(path)) as writer:
            for row in rows:
                fields = {name: make(value) for (name, make), value in zip(named, row, strict=True)}
                writer.write(train.Example(features=train.Features(feature=fields)).SerializeToString())

    def _write_in_place(self, features: Sequence[Feature], rows: Iterator[Any], path: Path) -> None:
        named = [(feature.name, f"{feature.kind}_list") for feature in features]
        with self._tf.io.TFRecordWriter(str(path)) as writer:
            for row in rows:
                example = self._tf.train.Example()
                fields = example.features.feature
                for (name, field), value in zip(named, row, strict=True):
                    getattr(fields[name], field).value.extend(value)
                writer.write(example.SerializeToString())


# What a feature's values are before the clock starts: numpy arrays, or a list of bytes.
ReadyInput = Column | list[bytes]


def _ready_input(feature: Feature, column: Column) -> ReadyInput:
    return column.byte_strings() if feature.kind == "bytes" else column


def _numpy_rows(values: ReadyInput) -> Iterator[Any]:
    """For each record what stands in `value=` when one indexes the arrays, as the guide does."""
    if isinstance(values, list):
        return ([value] for value in values)
    if values.offsets is not None:
        flat, ends = values.values, values.offsets
        return (flat[ends[number] : ends[number + 1]] for number in range(len(values)))
    return ([value] for value in values.values) if values.values.ndim == 1 else iter(values.values)


def _list_rows(values: ReadyInput) -> Iterator[Any]:
    """The same as lists of Python values, which protobuf takes faster than numpy's."""
    if isinstance(values, list):
        return ([value] for value in values)
    if values.offsets is not None:
        flat, ends = values.values, values.offsets.tolist()
        return (flat[start:stop].tolist() for start, stop in itertools.pairwise(ends))
    if values.values.ndim == 1:
        return ([value] for value in values.values.tolist())
    return (row.tolist() for row in values.values)
