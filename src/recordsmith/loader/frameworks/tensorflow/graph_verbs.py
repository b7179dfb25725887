"""What verbs do to a parsed batch, in TensorFlow's own operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recordsmith.errors import PipelineError
from recordsmith.loader.verbs.batches.padded_batch import PaddedBatching
from recordsmith.loader.verbs.rows.pairs import Paired, pick
from recordsmith.schema import Feature, Steps, Tensor
from recordsmith.schema.export.tensorflow_features import import_tensorflow
from recordsmith.schema.features.strings import StringFeature
from recordsmith.text import Vocabulary

__all__ = ["padded", "paired", "vectorized"]

Step = Callable[[dict[str, Any]], Any]


def padded(batching: PaddedBatching, features: Mapping[str, Feature]) -> Step:
    """Return what fills the ragged tensors of a batch up to dense ones.

    >>> import tensorflow as tf
    >>> step = padded(PaddedBatching(2, pad_to=3), {"x": Tensor("int64", (None,))})
    >>> step({"x": tf.ragged.constant([[1], [2, 3]], tf.int64)})["x"].numpy().tolist()
    [[1, 0, 0], [2, 3, 0]]
    """

    def step(batch: dict[str, Any]) -> dict[str, Any]:
        return {name: _dense(batching, name, column, features.get(name)) for name, column in batch.items()}

    return step


def _dense(batching: PaddedBatching, name: str, column: Any, feature: Feature | None) -> Any:
    tf = import_tensorflow("Loader.to_tf")
    if not isinstance(column, tf.RaggedTensor) or not _free(feature):
        return column
    value = batching.pad_value.get(name) if isinstance(batching.pad_value, Mapping) else batching.pad_value
    value = None if value is None else tf.cast(value, column.dtype)
    length = batching.pad_to.get(name) if isinstance(batching.pad_to, Mapping) else batching.pad_to
    shape = _row_shape(feature)
    if length is None or (isinstance(feature, Tensor) and feature.several_free):
        return column.to_tensor(value)
    axis = shape.index(None)
    if not batching.truncate:
        longest = tf.reduce_max(tf.concat([[0], tf.cast(column.bounding_shape(axis + 1), tf.int32)[tf.newaxis]], 0))
        problem = f"A row of {name!r} is longer than the target length {length}."
        with tf.control_dependencies([tf.debugging.assert_less_equal(longest, length, problem)]):
            column = tf.identity(column)
    return column.to_tensor(value, shape=(None, *shape[:axis], length, *shape[axis + 1 :]))


def _free(feature: Feature | None) -> bool:
    return isinstance(feature, (Tensor, StringFeature, Steps)) and None in _row_shape(feature)


def _row_shape(feature: Feature | None) -> tuple[int | None, ...]:
    if isinstance(feature, Steps):
        return (None, *_row_shape(feature.feature))
    return tuple(getattr(feature, "shape", ()))


def paired(change: Paired) -> Step:
    """Return what turns a batch into (inputs, target).

    >>> paired(Paired("x", "y", None, with_index=False))({"x": 1, "y": 2})
    (1, 2)
    """

    def step(batch: dict[str, Any]) -> Any:
        chosen = pick(batch, change.inputs)
        if change.target is None:
            return (chosen,)
        target = pick(batch, change.target)
        if change.one_hot is not None:
            tf = import_tensorflow("Loader.to_tf")
            target = tf.one_hot(target, change.one_hot, dtype=tf.float32)
        return (chosen, target) if change.weight is None else (chosen, target, batch[change.weight])

    return step


def vectorized(feature: str, into: str, vocabulary: Any) -> Step:
    """Return what turns a batch's text into numbers: the layer TextVectorization, which has the same ids.

    >>> import tensorflow as tf
    >>> step = vectorized("text", "ids", Vocabulary(["a", "b"]))
    >>> step({"text": tf.constant(["b c a", "a"])})["ids"].to_list()
    [[3, 1, 2], [2]]
    """
    if not isinstance(vocabulary, Vocabulary):
        raise PipelineError(
            "A tokenizer has no counterpart in TensorFlow's own operations.",
            found=type(vocabulary).__name__,
            advice="Tokenize when the dataset is made, or use .to_tf() without graph=True.",
        )
    tf = import_tensorflow("Loader.to_tf")
    layer = tf.keras.layers.TextVectorization(
        vocabulary=vocabulary.words[2:], standardize=vocabulary.standardize, split=vocabulary.split, ragged=True
    )

    def step(batch: dict[str, Any]) -> dict[str, Any]:
        return {
            into if name == feature else name: layer(column) if name == feature else column
            for name, column in batch.items()
        }

    return step
