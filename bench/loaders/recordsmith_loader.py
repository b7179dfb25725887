"""recordsmith: its chain as numpy, and into TensorFlow, PyTorch, Keras and JAX. Its shuffle is over all records."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.loaders.contract import BRIGHTNESS, SIZE, Subject

if TYPE_CHECKING:
    from bench.loaders.contract import Chain


class RecordsmithFeed:
    """A loader, or what it is in a framework."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def batches(self) -> Iterator[Any]:
        """See `Chain`."""
        return iter(self._loader) if hasattr(self._loader, "__iter__") else self._by_number()

    def labels(self, batch: Any) -> Any:
        """See `Chain`."""
        labels = batch["label"]
        return labels.numpy() if hasattr(labels, "numpy") else np.asarray(labels)

    def _by_number(self) -> Iterator[Any]:
        """Give the batches as Keras asks for them."""
        for number in range(len(self._loader)):
            yield self._loader[number]
        self._loader.on_epoch_end()

    def arrays(self, batch: Any) -> dict[str, Any]:
        """See `Chain`."""
        return {name: _array(column) for name, column in batch.items()}


class RecordsmithFeeder:
    """recordsmith in this process; `into` names the method of the loader that makes a framework's of it."""

    def __init__(self, into: str | None) -> None:
        self._rs: Any = importlib.import_module("recordsmith")
        self._into = into
        if into == "to_tf":
            os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
            importlib.import_module("tensorflow")
        elif into == "to_torch":
            importlib.import_module("torch")
        elif into == "to_keras":
            os.environ.setdefault("KERAS_BACKEND", "numpy")
            importlib.import_module("keras")
        elif into == "to_jax":
            importlib.import_module("jax").config.update("jax_enable_x64", True)

    def versions(self) -> dict[str, str]:
        """See `Loader`."""
        return {"recordsmith": importlib.metadata.version("recordsmith")}

    def forms(self, _subject: Subject) -> list[str]:
        """See `Loader`."""
        return ["shuffle(0)" if self._into is None else f"shuffle(0), {self._into}()"]

    def open(self, subject: Subject, paths: Sequence[str], _form: str) -> Chain:
        """See `Loader`."""
        dataset = self._rs.open(list(paths))
        chain = dataset.shuffle(seed=0)
        if subject.is_images:
            augment = [self._rs.augment.flip_left_right(), self._rs.augment.brightness(BRIGHTNESS)]
            chain = chain.images(size=SIZE, scale=1 / 255, augment=augment, feature="image")
        loader = chain.padded_batch(subject.batch) if subject.name == "tok" else chain.batch(subject.batch)
        return RecordsmithFeed(loader if self._into is None else getattr(loader, self._into)())


def make_loader(name: str) -> RecordsmithFeeder:
    """The loader for numpy, or for the framework that the name ends in."""
    return RecordsmithFeeder(name.partition(", ")[2] or None)


def _array(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column
    if hasattr(column, "offsets"):  # a ByteColumn
        return np.asarray(column.data)[column.offsets[0] : column.offsets[-1]]
    values = column.numpy() if hasattr(column, "numpy") else np.asarray(column)
    return np.frombuffer(b"".join(values.tolist()), np.uint8) if values.dtype == object else values
