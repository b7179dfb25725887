"""What the source says about Keras models: the last layer, the loss, and what they are trained on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Group, Literal, Symbol, Value
from recordsmith.doctor.lint.libraries.pipelines import Pipeline

__all__ = ["CompiledModel", "compiled_models"]

_LOSS = re.compile(
    r"(keras\.losses\.)?(Sparse|sparse_)?((?:Categorical|categorical_)(?:Crossentropy|crossentropy))"
    r"|(keras\.losses\.)?(Binary|binary_)(?:Crossentropy|crossentropy)"
)


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A model as it is compiled.

    Attributes:
        compile: the call.
        loss: "sparse", "categorical" or "binary" cross-entropy; None for another loss, or one that is not known.
        from_logits: the loss expects raw scores; None if the source does not say.
        units: of the last layer; None if that is not known.
        activation: of the last layer: "softmax", "sigmoid", "" for none, or None if that is not known.
        last: the call that makes the last layer.
        trained_on: the datasets that `fit` is given.
        layers: all layers, first to last, where the source says them all; else None.
    """

    compile: Call
    loss: str | None
    from_logits: bool | None
    units: int | None
    activation: str | None
    last: Call | None
    trained_on: tuple[Pipeline, ...]
    layers: tuple[Call, ...] | None = None


def compiled_models(calls: list[Call]) -> Iterator[CompiledModel]:
    """Yield each model that is compiled."""
    for call in calls:
        if call.name != ".compile" or call.receiver is None:
            continue
        loss, from_logits = _loss(call.argument(1, "loss"))
        last = _last_layer(call.receiver, calls)
        fits = [one for one in calls if one.name == ".fit" and one.receiver is call.receiver]
        trained_on = tuple(pipeline for one in fits for pipeline in pipelines_in(one.argument(0, "x")))
        units, activation = _output(last)
        layers = _layers(call.receiver, calls)
        yield CompiledModel(call, loss, from_logits, units, activation, last, trained_on, layers)


def _loss(value: Value | None) -> tuple[str | None, bool | None]:
    if isinstance(value, Literal) and isinstance(value.value, str):
        return _kind(value.value), False
    if isinstance(value, Symbol):
        return _kind(value.path), False
    if isinstance(value, Call):
        given = value.argument(0, "from_logits")
        logits = False if given is None else bool(given.value) if isinstance(given, Literal) else None
        return _kind(value.name), logits
    return None, None


def _kind(name: str) -> str | None:
    match = _LOSS.fullmatch(name)
    if match is None:
        return None
    if match[5]:
        return "binary"
    return "sparse" if match[2] else "categorical"


def _last_layer(model: Value, calls: Iterable[Call]) -> Call | None:
    if not isinstance(model, Call):
        return None
    if model.name in ("keras.Sequential", "keras.models.Sequential"):
        layers = model.argument(0, "layers")
        members = list(layers.members) if isinstance(layers, Group) else []
        if layers is not None and not isinstance(layers, Group):
            return None
        members += [one.args[0] for one in calls if one.name == ".add" and one.receiver is model and one.args]
        last = members[-1] if members else None
        return last if isinstance(last, Call) else None
    if model.name in ("keras.Model", "keras.models.Model"):
        output = model.argument(1, "outputs")
        if isinstance(output, Group) and len(output.members) == 1:
            output = output.members[0]
        if isinstance(output, Call) and output.name == "()" and isinstance(output.receiver, Call):
            return output.receiver
    return None


def _layers(model: Value, calls: Iterable[Call]) -> tuple[Call, ...] | None:
    if not isinstance(model, Call):
        return None
    found: list[Value] = []
    if model.name in ("keras.Sequential", "keras.models.Sequential"):
        given = model.argument(0, "layers")
        if given is not None and not isinstance(given, Group):
            return None
        found = list(given.members) if isinstance(given, Group) else []
        found += [one.args[0] for one in calls if one.name == ".add" and one.receiver is model and one.args]
    elif model.name in ("keras.Model", "keras.models.Model"):
        value = model.argument(1, "outputs")
        while isinstance(value, Call) and value.name == "()" and value.receiver is not None and len(value.args) == 1:
            found.append(value.receiver)
            value = value.args[0]
        if not isinstance(value, Call) or value.name not in ("keras.Input", "keras.layers.Input"):
            return None
        found.append(value)
        found.reverse()
    layers = tuple(one for one in found if isinstance(one, Call))
    return layers if layers and len(layers) == len(found) else None


def _output(last: Call | None) -> tuple[int | None, str | None]:
    if last is None:
        return None, None
    if last.name in ("keras.layers.Softmax", "keras.layers.Activation"):
        given = last.argument(0, "activation") if last.name.endswith("Activation") else Literal("softmax")
        return None, _activation(given) or None  # a linear one leaves what comes before it
    if last.name != "keras.layers.Dense":
        return None, None
    units = last.argument(0, "units")
    size = units.value if isinstance(units, Literal) and isinstance(units.value, int) else None
    return size, _activation(last.argument(1, "activation"))


def _activation(value: Value | None) -> str | None:
    if value is None or (isinstance(value, Literal) and value.value is None):
        return ""
    if isinstance(value, Literal) and isinstance(value.value, str):
        return "" if value.value == "linear" else value.value
    if isinstance(value, Symbol):
        return value.path.rpartition(".")[2]
    return None
