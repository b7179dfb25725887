"""tf.data: several pipelines with shuffle(10,000). Batches are parsed as a whole wherever that can be."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.loaders.contract import BRIGHTNESS, BUFFER, SIZE, Subject

if TYPE_CHECKING:
    from bench.loaders.contract import Chain

PARALLEL_READS = 4

# How records are read before they are shuffled.
SOURCES: dict[str, Callable[[Any, list[str]], Any]] = {
    "files one after the other": lambda tf, paths: tf.data.TFRecordDataset(paths, buffer_size=8 << 20),
    "four files at a time": lambda tf, paths: tf.data.TFRecordDataset(
        paths, buffer_size=8 << 20, num_parallel_reads=PARALLEL_READS
    ),
    "interleaved, not deterministic": lambda tf, paths: tf.data.Dataset.from_tensor_slices(paths).interleave(
        tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False
    ),
}
BATCHED = "batch, parse in parallel"
SINGLE = "parse single examples in parallel, batch"
RAGGED, SPARSE, PADDED = "ragged, to_tensor", "sparse, to_dense", "parse single examples in parallel, padded_batch"
USUAL, FAST = "decode_jpeg", "decode_jpeg, fancy_upscaling=False, INTEGER_FAST"
OTHERS = {"png": "decode_png", "webp": "decode_webp"}


class TensorflowFeed:
    """One pipeline, built once."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline

    def batches(self) -> Iterator[Any]:
        """See `Chain`."""
        return iter(self._pipeline)

    def labels(self, batch: Any) -> Any:
        """See `Chain`."""
        return batch["label"].numpy()

    def arrays(self, batch: Any) -> dict[str, Any]:
        """See `Chain`."""
        arrays = {}
        for name, tensor in batch.items():
            values = tensor.numpy()
            arrays[name] = np.frombuffer(b"".join(values.tolist()), np.uint8) if values.dtype == object else values
        return arrays


class TensorflowFeeder:
    """TensorFlow in this process, without its start-up messages."""

    def __init__(self) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        self._tf: Any = importlib.import_module("tensorflow")

    def versions(self) -> dict[str, str]:
        """See `Loader`."""
        return {"tensorflow": self._tf.__version__}

    def forms(self, subject: Subject) -> list[str]:
        """See `Loader`."""
        if subject.is_images:
            decodings = [OTHERS[subject.name]] if subject.name in OTHERS else [USUAL, FAST]
            return [f"{list(SOURCES)[1]}; {decoding}" for decoding in decodings]
        ways = (RAGGED, SPARSE, PADDED) if subject.name == "tok" else (BATCHED, SINGLE)
        return [f"{source}; {way}" for source in SOURCES for way in ways]

    def open(self, subject: Subject, paths: Sequence[str], form: str) -> Chain:
        """See `Loader`."""
        source, _, way = form.partition("; ")
        shuffled = SOURCES[source](self._tf, list(paths)).shuffle(BUFFER, seed=0)
        if subject.is_images:
            return TensorflowFeed(self._images(subject, shuffled, way))
        return TensorflowFeed(self._parsed(subject, shuffled, way).prefetch(self._tf.data.AUTOTUNE))

    def _parsed(self, subject: Subject, records: Any, way: str) -> Any:
        tf = self._tf
        spec = {feature.name: self._spec(feature, sparse=way == SPARSE) for feature in subject.features}
        if way in (SINGLE, PADDED):
            parsed = records.map(
                lambda one: _dense(tf, tf.io.parse_single_example(one, spec)), num_parallel_calls=tf.data.AUTOTUNE
            )
            return parsed.padded_batch(subject.batch) if way == PADDED else parsed.batch(subject.batch)
        return records.batch(subject.batch).map(
            lambda batch: _dense(tf, tf.io.parse_example(batch, spec)), num_parallel_calls=tf.data.AUTOTUNE
        )

    def _spec(self, feature: Any, *, sparse: bool) -> Any:
        tf = self._tf
        dtype = {"float": tf.float32, "int64": tf.int64, "bytes": tf.string}[feature.kind]
        if feature.count is not None:
            return tf.io.FixedLenFeature([] if feature.count == 1 else [feature.count], dtype)
        return tf.io.VarLenFeature(dtype) if sparse else tf.io.RaggedFeature(dtype, row_splits_dtype=tf.int64)

    def _images(self, subject: Subject, records: Any, way: str) -> Any:
        tf = self._tf
        spec = {feature.name: self._spec(feature, sparse=False) for feature in subject.features}
        options = {"fancy_upscaling": False, "dct_method": "INTEGER_FAST"} if way == FAST else {}
        decode_image = getattr(tf.io, way.partition(",")[0])

        def decode(record: Any) -> Any:
            row = tf.io.parse_single_example(record, spec)
            pixels = decode_image(row["image"], channels=3, **options)
            if way == OTHERS["webp"]:
                pixels = pixels[0]  # of an animation with one image
            pixels = tf.image.resize(pixels, SIZE) * (1 / 255)
            pixels = tf.image.random_brightness(tf.image.random_flip_left_right(pixels), BRIGHTNESS)
            return {"image": pixels, "label": row["label"]}

        decoded = records.map(decode, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
        return decoded.batch(subject.batch).prefetch(tf.data.AUTOTUNE)


def _dense(tf: Any, parsed: dict[str, Any]) -> dict[str, Any]:
    dense = {}
    for name, tensor in parsed.items():
        if isinstance(tensor, tf.RaggedTensor):
            dense[name] = tensor.to_tensor()
        else:
            dense[name] = tf.sparse.to_dense(tensor) if isinstance(tensor, tf.SparseTensor) else tensor
    return dense


def make_loader(_name: str) -> TensorflowFeeder:
    """The only loader of its kind."""
    return TensorflowFeeder()
