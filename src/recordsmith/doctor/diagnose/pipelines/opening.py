"""Which kind of pipeline something is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recordsmith.doctor.diagnose.observing.batch import framework_of
from recordsmith.doctor.diagnose.pipelines.arrays import ArrayPair, is_array_pair
from recordsmith.doctor.diagnose.pipelines.hugging_face import HuggingFaceDataset, is_hugging_face
from recordsmith.doctor.diagnose.pipelines.pipeline import Pipeline
from recordsmith.doctor.diagnose.pipelines.plain_iterable import PlainIterable
from recordsmith.doctor.diagnose.pipelines.recordsmith_loader import RecordsmithLoader
from recordsmith.errors import PipelineError
from recordsmith.loader import Loader
from recordsmith.loader.dataset import Dataset

__all__ = ["open_pipeline"]


def open_pipeline(thing: Any) -> Pipeline:
    """Return the reader of a pipeline, by its kind.

    >>> open_pipeline([1, 2]).kind
    'a list'
    >>> open_pipeline(7)
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: Batches cannot be read from this object.
      found:    int
      expected: a recordsmith loader, a tf.data.Dataset, a PyTorch DataLoader, or an iterable of batches
    """
    if isinstance(thing, Dataset):
        raise PipelineError(
            "This is a dataset, but a model is fed batches.",
            advice='Diagnose the chain that feeds the model: rs.diagnose(ds.shuffle().batch(32).pairs("x", "label")). '
            "To look at the files themselves, rs.check(path).",
        )
    if isinstance(thing, Loader):
        return RecordsmithLoader(thing)
    if callable(getattr(thing, "train_dataloader", None)) and not hasattr(thing, "__iter__"):
        return _opened_module(thing)
    if is_hugging_face(thing):
        return HuggingFaceDataset(thing)
    if is_array_pair(thing):
        return ArrayPair(thing)
    if framework_of(thing) == "tensorflow" and hasattr(thing, "element_spec"):
        from recordsmith.doctor.diagnose.pipelines.tensorflow_dataset import TensorFlowDataset

        return TensorFlowDataset(thing)
    if framework_of(thing) == "torch":
        from recordsmith.doctor.diagnose.pipelines.torch_loader import TorchDataset, TorchLoader, is_torch_dataset

        if is_torch_dataset(thing):
            return TorchDataset(thing)
        if hasattr(thing, "__iter__"):
            return TorchLoader(thing)
    if isinstance(thing, (str, bytes, dict)) or not (isinstance(thing, Iterable) or hasattr(thing, "__getitem__")):
        raise PipelineError(
            "Batches cannot be read from this object.",
            found=type(thing).__name__,
            expected="a recordsmith loader, a tf.data.Dataset, a PyTorch DataLoader, or an iterable of batches",
        )
    return PlainIterable(thing)


def _opened_module(module: Any) -> Pipeline:
    """Return the training data of a LightningDataModule, with its validation data."""
    for name, given in (("prepare_data", ()), ("setup", ("fit",))):
        if callable(getattr(module, name, None)):
            getattr(module, name)(*given)
    opened = open_pipeline(module.train_dataloader())
    validation = getattr(module, "val_dataloader", None)
    opened.validation = validation() if callable(validation) else None
    if isinstance(opened.validation, (list, tuple)):
        opened.validation = opened.validation[0] if opened.validation else None
    return opened
