"""Keras 3 models. All is done through `stateless_call`, which is given values for the variables and changes none.

Training works with TensorFlow as Keras' backend. This module is imported only where a Keras model was given.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.models.losses import loss_facts
from recordsmith.doctor.diagnose.models.probe import (
    LayerInputs,
    ModelProbe,
    Trainer,
    layer_facts,
    output_facts,
    short_reason,
)
from recordsmith.doctor.diagnose.observing.batch import Batch, Values
from recordsmith.doctor.diagnose.observing.model_facts import InputSpec, ModelFacts

__all__ = ["KerasProbe", "KerasTrainer"]

_NORMALISING = ("BatchNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization")
_PREPARING = ("Normalization", "Rescaling", "TextVectorization", "StringLookup", "IntegerLookup", "Discretization")
_LOOKED_AT_ROWS = 64
_APPLICATIONS = re.compile(
    r"(?i)(mobilenet|resnet\d|vgg1[69]|xception|inception|densenet|nasnet|efficientnet|convnext)[\w.]*$"
)


class KerasProbe(ModelProbe):
    """A Keras model that is looked at."""

    def __init__(self, model: Any, loss: Any, compiled: Any = None) -> None:
        self._model = model
        self._loss = loss
        self._compiled = model if compiled is None else compiled

    @classmethod
    def open(cls, model: Any, loss: Any) -> tuple[KerasProbe | None, str]:
        """Return the probe, or why there is none."""
        if loss is None and getattr(model, "compiled", False):
            loss = getattr(model, "loss", None)
        if model.built:
            return cls(model, loss), ""
        copy = _copy_of(model)
        if copy is None:
            return None, (
                "The model has no weights yet and cannot be copied, so it was not tried. "
                "Call it on one batch first: model(inputs)."
            )
        return cls(copy, loss, compiled=model), ""

    def facts(self, batch: Batch) -> ModelFacts:
        """Return what can be known of it, and what it answers to a batch."""
        keras = importlib.import_module("keras")
        model = self._model
        loss = loss_facts(self._loss, torch=False)
        known: dict[str, Any] = {
            "inputs": _input_specs(model),
            "output_shape": _shape(model),
            "activation": _activation(model),
            "loss": loss,
            "own_training": type(model).train_step is not keras.Model.train_step,
            "pretrained": _pretrained(model),
            "halving_metrics": _halving_metrics(self._compiled),
            **_optimizer(self._compiled),
        }
        inputs = _tensors(batch.given[0], batch.inputs, _LOOKED_AT_ROWS)
        seen: list[LayerInputs] = []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not model.built:
                    model(inputs, **_inference(model))
                with _layers_watched(model, seen):
                    answer, _ = model.stateless_call(*_values(model), inputs, **_inference(model))
        except Exception as error:  # noqa: BLE001 - what a model says to a batch is what is asked for
            return ModelFacts("keras", **known, **_from_layers(seen), refusal=short_reason(error))
        known |= _from_layers(seen)
        known |= {"weights": len(model.weights), "learnt": len(model.trainable_weights)}
        if isinstance(answer, (dict, list, tuple)):
            return ModelFacts("keras", **known)
        output = output_facts(np.asarray(keras.ops.convert_to_numpy(answer)))
        known["output"] = output
        if not known["activation"] and not output.sums_to_one and output.min >= 0 and output.max <= 1:
            known["activation"] = _squashing(model, inputs)
        known["loss_refusal"] = self._try_loss(keras, batch, answer)
        return ModelFacts("keras", **known)

    def _try_loss(self, keras: Any, batch: Batch, answer: Any) -> str:
        if self._loss is None or not batch.target or isinstance(self._loss, (dict, list, tuple)):
            return ""
        target = _tensors(batch.given[1], batch.target, _LOOKED_AT_ROWS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _loss_object(keras, self._loss)(target, answer)
        except Exception as error:  # noqa: BLE001 - as above
            return short_reason(error)
        return ""

    def trainer(self) -> Trainer | None:
        """Return what trains a copy of the weights; only with TensorFlow as the backend."""
        keras = importlib.import_module("keras")
        if keras.backend.backend() != "tensorflow" or self._loss is None:
            return None
        if isinstance(self._loss, (dict, list, tuple)) or not self._model.trainable_variables:
            return None
        return KerasTrainer(self._model, _loss_object(keras, self._loss))


class KerasTrainer(Trainer):
    """Trains copies of a Keras model's variables, by Adam."""

    def __init__(self, model: Any, loss: Any) -> None:
        import tensorflow as tf

        self._tf = tf
        self._model = model
        self._loss = loss
        self._first = [np.asarray(variable) for variable in model.trainable_variables]
        self._fixed = [tf.constant(np.asarray(variable)) for variable in model.non_trainable_variables]
        self._weights = [tf.Variable(value, trainable=True) for value in self._first]
        self._moments = [tf.Variable(tf.zeros_like(value)) for value in self._first]
        self._squares = [tf.Variable(tf.zeros_like(value)) for value in self._first]
        self._steps = tf.Variable(0.0)
        plain = tf.autograph.experimental.do_not_convert
        self._step = tf.function(plain(self._one_step), reduce_retracing=True)
        self._answer = tf.function(plain(self._forward), reduce_retracing=True)

    def reset(self) -> None:
        """Begin again."""
        for weight, value in zip(self._weights, self._first, strict=True):
            weight.assign(value)
        for slot in (*self._moments, *self._squares):
            slot.assign(self._tf.zeros_like(slot))
        self._steps.assign(0.0)

    def prepared(self, batch: Batch, rows: npt.NDArray[np.int64] | None = None, order: Any = None) -> Any:
        """Return inputs and targets as tensors."""
        inputs = _taken(_tensors(batch.given[0], batch.inputs, None), rows, self._tf)
        target = _taken(_tensors(batch.given[1], batch.target, None), rows if order is None else order, self._tf)
        return inputs, target

    def gradients(self, batch: Any) -> tuple[float, list[npt.NDArray[Any] | None]]:
        """Return the loss, and the gradients."""
        with self._tf.GradientTape() as tape:
            loss = self._tf.reduce_mean(self._loss(batch[1], self._forward(batch[0])))
        found = tape.gradient(loss, self._weights)
        return float(loss), [None if one is None else np.asarray(self._tf.convert_to_tensor(one)) for one in found]

    def step(self, batch: Any, rate: float) -> float:
        """Take one step."""
        return float(self._step(batch[0], batch[1], self._tf.constant(rate, self._tf.float32)))

    def row_losses(self, batch: Any) -> npt.NDArray[np.float64]:
        """Return the loss of each row, or of groups of 8 rows where the loss gives one number only."""
        answer = self._answer(batch[0])
        try:
            each = type(self._loss).from_config({**self._loss.get_config(), "reduction": "none"})
        except Exception:  # noqa: BLE001 - a function, or a loss of the user's own
            each = self._loss
        losses = np.asarray(each(batch[1], answer), np.float64)
        if losses.ndim == 0:
            parts = range(0, int(answer.shape[0]), 8)
            losses = np.array([float(self._loss(batch[1][i : i + 8], answer[i : i + 8])) for i in parts])
        return np.asarray(losses.reshape(len(losses), -1).mean(axis=1))

    def _forward(self, inputs: Any) -> Any:
        return self._model.stateless_call(self._weights, self._fixed, inputs, **_inference(self._model))[0]

    def _one_step(self, inputs: Any, target: Any, rate: Any) -> Any:
        tf = self._tf
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self._loss(target, self._forward(inputs)))
        gradients = tape.gradient(loss, self._weights)
        count = self._steps.assign_add(1.0)
        correction = tf.sqrt(1.0 - 0.999**count) / (1.0 - 0.9**count)
        for weight, gradient, moment, square in zip(
            self._weights, gradients, self._moments, self._squares, strict=True
        ):
            if gradient is None:
                continue
            gradient = tf.convert_to_tensor(gradient)  # noqa: PLW2901 - a sparse one of an embedding
            moment.assign(0.9 * moment + 0.1 * gradient)
            square.assign(0.999 * square + 0.001 * gradient * gradient)
            weight.assign_sub(
                tf.cast(rate * correction, weight.dtype) * moment / (tf.sqrt(square) + tf.constant(1e-7, weight.dtype))
            )
        return loss


def _copy_of(model: Any) -> Any:
    """Return another model that is made in the same way, for one without weights; None if that is not known."""
    try:
        config = model.get_config()
    except Exception:  # noqa: BLE001 - a model of one's own may be given anything
        return None
    if len(inspect.signature(type(model).__init__).parameters) == 1:  # of others, Keras may note defaults only
        config = {}
    try:
        return type(model).from_config(config) if config else type(model)()
    except Exception:  # noqa: BLE001 - as above
        return None


def _halving_metrics(model: Any) -> tuple[str, ...]:
    """Return the metrics that a model was compiled with which count outputs above 0.5 as class 1."""
    try:
        given = (model.get_compile_config() or {}).get("metrics") or ()
    except Exception:  # noqa: BLE001 - not compiled, or with metrics that cannot be written down
        return ()
    found = []
    for one in given if isinstance(given, (list, tuple)) else (given,):
        if one in ("accuracy", "acc", "binary_accuracy"):
            found.append(repr(one))
        elif isinstance(one, dict) and one.get("class_name") in ("BinaryAccuracy", "Precision", "Recall"):
            settings = one.get("config") or {}
            threshold = settings.get("threshold", settings.get("thresholds"))
            found += [str(one["class_name"])] if threshold in (None, 0.5) else []
    return tuple(found)


def _loss_object(keras: Any, loss: Any) -> Any:
    """Return a loss as `compile` makes it: a function is given targets of the answer's dtype and rank."""
    found = keras.losses.get(loss)
    if isinstance(found, keras.losses.Loss):
        return found

    def wrapped(target: Any, answer: Any) -> Any:
        target = keras.ops.convert_to_tensor(target)
        answer = keras.ops.convert_to_tensor(answer)
        if len(target.shape) == len(answer.shape) - 1 and answer.shape[-1] == 1:
            target = keras.ops.expand_dims(target, -1)
        elif len(target.shape) == len(answer.shape) + 1 and target.shape[-1] == 1:
            target = keras.ops.squeeze(target, -1)
        return found(keras.ops.cast(target, answer.dtype), answer)

    return wrapped


def _squashing(model: Any, inputs: Any) -> str:
    """Return "sigmoid" if the output stays between 0 and 1 with far larger weights, as raw scores never do."""
    weights, others = _values(model)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer, _ = model.stateless_call([30 * one for one in weights], others, inputs, **_inference(model))
        values = np.asarray(answer, np.float64)
    except Exception:  # noqa: BLE001 - a model of one's own may do anything
        return ""
    bounded = values.size > 0 and bool(np.all((values >= 0) & (values <= 1)))
    return "sigmoid" if bounded and float(np.ptp(values)) > 0 else ""


def _inference(model: Any) -> dict[str, bool]:
    """Return what tells a model not to train, if it takes that: a `call` of one's own need not have `training`."""
    accepted = inspect.signature(model.call).parameters
    any_name = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in accepted.values())
    return {"training": False} if any_name or "training" in accepted else {}


def _values(model: Any) -> tuple[list[Any], list[Any]]:
    return [v.value for v in model.trainable_variables], [v.value for v in model.non_trainable_variables]


def _tensors(given: Any, columns: dict[str, Values], limit: int | None) -> Any:
    """Return what the model or the loss is given: tensors as they came, or arrays as tensors."""
    tf = sys.modules.get("tensorflow")

    def one(value: Any) -> Any:
        if type(value).__module__.startswith("tensorflow"):
            return value if limit is None or type(value).__name__ == "SparseTensor" else value[:limit]
        if hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        array = np.asarray(value)
        array = array if limit is None or array.ndim == 0 else array[:limit]
        return array if tf is None or array.dtype.kind not in "OSU" else tf.constant(array.tolist())

    if isinstance(given, dict):
        return {name: one(value) for name, value in given.items()}
    if isinstance(given, (tuple, list)) and len(columns) > 1:
        return [one(value) for value in given]
    if len(columns) == 1 and "" in columns and isinstance(columns[""], np.ndarray):
        return one(given if type(given).__module__.startswith("tensorflow") else columns[""])
    return one(given)


def _taken(value: Any, rows: Any, tf: Any) -> Any:
    """Return some rows of tensors, in this order."""
    if isinstance(value, dict):
        return {name: _taken(one, rows, tf) for name, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [_taken(one, rows, tf) for one in value]
    value = value if type(value).__module__.startswith("tensorflow") else tf.convert_to_tensor(value)
    return value if rows is None else tf.gather(value, rows)


def _optimizer(model: Any) -> dict[str, Any]:
    """Return the optimizer of a compiled model, and its learning rate where that is a number."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return {}
    try:
        rate: float | None = float(optimizer.learning_rate)
    except Exception:  # noqa: BLE001 - an optimizer of one's own, or of another library
        rate = None
    return {"optimizer": type(optimizer).__name__, "learning_rate": rate}


def _pretrained(model: Any) -> str:
    """Return the name of an application of Keras in the model, if its weights are no longer the initial ones."""
    layers = [model, *model._flatten_layers(include_self=False)]  # noqa: SLF001 - there is no public way
    for layer in layers:
        if hasattr(layer, "layers") and _APPLICATIONS.match(str(layer.name)):
            moved = [one for one in layer.weights if one.name in ("moving_mean", "bias")]
            trained = any(bool(np.asarray(one).any()) for one in moved[:20])
            return str(layer.name) if trained else ""
    return ""


def _input_specs(model: Any) -> tuple[InputSpec, ...]:
    try:
        return tuple(InputSpec(str(one.name), tuple(one.shape), str(one.dtype)) for one in model.inputs)
    except Exception:  # noqa: BLE001 - a model of one's own declares nothing
        return ()


def _shape(model: Any) -> tuple[int | None, ...] | None:
    try:
        shape = model.output_shape
        return tuple(shape) if all(side is None or isinstance(side, int) for side in shape) else None
    except Exception:  # noqa: BLE001 - as above
        return None


def _activation(model: Any) -> str:
    """Return the activation of the layer that gives the output."""
    try:
        layer = model.outputs[0]._keras_history.operation  # noqa: SLF001 - there is no public way
        while hasattr(layer, "outputs") and hasattr(layer, "layers"):
            layer = layer.outputs[0]._keras_history.operation  # noqa: SLF001 - as above
    except Exception:  # noqa: BLE001 - as above
        return ""
    if type(layer).__name__ == "Softmax":
        return "softmax"
    return str(getattr(getattr(layer, "activation", None), "__name__", ""))


@contextmanager
def _layers_watched(model: Any, seen: list[LayerInputs]) -> Iterator[None]:
    """Note what reaches the layers with weights, in the order in which they are called."""
    leaves = [
        layer
        for layer in model._flatten_layers(include_self=False)  # noqa: SLF001 - there is no public way
        if layer.weights
        and not list(layer._flatten_layers(include_self=False))[1:]  # noqa: SLF001 - as above
        and type(layer).__name__ not in _PREPARING
    ]
    try:
        for layer in leaves:
            object.__setattr__(layer, "call", _watching(layer, layer.call, seen))
        yield
    finally:
        for layer in leaves:
            layer.__dict__.pop("call", None)


def _watching(layer: Any, call: Any, seen: list[LayerInputs]) -> Any:
    kind = type(layer).__name__
    role = "embedding" if kind == "Embedding" else "normalising" if kind in _NORMALISING else "linear"
    entries = int(layer.input_dim) if kind == "Embedding" else None

    def watched(*inputs: Any, **settings: Any) -> Any:
        first = inputs[0] if inputs else None
        try:
            seen.append(LayerInputs(str(layer.name), role, np.asarray(first), entries))
        except Exception:  # noqa: BLE001 - a symbolic or ragged tensor: nothing to be noted
            seen.append(LayerInputs(str(layer.name), role, np.empty(0), entries))
        return call(*inputs, **settings)

    return watched


def _from_layers(seen: list[LayerInputs]) -> dict[str, Any]:
    described = [layer_facts(one) for one in seen if one.values.size]
    return {
        "first_layer": described[0] if described and seen[0].values.size else None,
        "embeddings": tuple(one for one in described if one.kind == "embedding"),
        "normalises": any(one.kind == "normalising" for one in seen),
    }
