"""What the source says about Keras models: the last layer, the loss, and what they are trained on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Object, Symbol, Value
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline

__all__ = ["CompiledModel", "compiled_models", "layers_of", "output_units"]

_FITS = (".fit", ".fit_generator")
_SEQUENTIAL = ("keras.Sequential", "keras.models.Sequential")
_FUNCTIONAL = ("keras.Model", "keras.models.Model")
# What TensorFlow's own losses take: raw scores, always.
_OF_SCORES = {
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits": "sparse",
    "tensorflow.nn.softmax_cross_entropy_with_logits": "categorical",
    "tensorflow.nn.sigmoid_cross_entropy_with_logits": "binary",
}
# Functions that a model of one's own ends with, instead of a layer.
_ACTIVATION = re.compile(r"(?:tensorflow\.(?:nn|math)|keras\.(?:activations|ops|backend))\.(softmax|sigmoid)")
_LOSS = re.compile(
    r"(keras\.losses\.)?(Sparse|sparse_)?((?:Categorical|categorical_)(?:Crossentropy|crossentropy))"
    r"|(keras\.losses\.)?(Binary|binary_)(?:Crossentropy|crossentropy)"
)


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A model with its loss.

    Attributes:
        compile: the call of `compile`; in a training loop of one's own, the call of the loss.
        loss: "sparse", "categorical" or "binary" cross-entropy; None for another loss, or one that is not known.
        from_logits: the loss expects raw scores; None if the source does not say.
        units: of the last layer; None if that is not known.
        activation: of the last layer: "softmax", "sigmoid", "" for none, or None if that is not known.
        last: the call that makes the last layer.
        trained_on: the datasets that `fit` is given.
        layers: all layers, first to last, where the source says them all; else None.
        fits: the calls of `fit`.
    """

    compile: Call
    loss: str | None
    from_logits: bool | None
    units: int | None
    activation: str | None
    last: Call | None
    trained_on: tuple[Pipeline, ...]
    layers: tuple[Call, ...] | None = None
    fits: tuple[Call, ...] = ()


def compiled_models(calls: list[Call]) -> Iterator[CompiledModel]:
    """Yield each model that is compiled, or whose output is given to a loss."""
    for call in calls:
        if call.name != ".compile" or call.receiver is None:
            yield from _in_loop(call, calls)
            continue
        loss, from_logits = _loss(call.argument(1, "loss"))
        last = _last_layer(call.receiver, calls)
        fits = _fits(call, calls)
        trained_on = tuple(pipeline for one in fits for pipeline in pipelines_in(one.argument(0, "x", "generator")))
        layers = layers_of(call.receiver, calls)
        units, activation = _output(last, layers)
        yield CompiledModel(call, loss, from_logits, units, activation, last, trained_on, layers, tuple(fits))


def _fits(compiled: Call, calls: list[Call]) -> list[Call]:
    """The calls of `fit` after a `compile` and before the next one; all, if the model is compiled only once."""
    of_model = [one for one in calls if one.receiver is compiled.receiver and one.name in (".compile", *_FITS)]
    if sum(one.name == ".compile" for one in of_model) > 1:
        rest = of_model[of_model.index(compiled) + 1 :]
        end = next((position for position, one in enumerate(rest) if one.name == ".compile"), len(rest))
        of_model = rest[:end]
    return [one for one in of_model if one.name in _FITS]


def _in_loop(call: Call, calls: list[Call]) -> Iterator[CompiledModel]:
    """What a call of a loss says about the model whose output it is given; nothing, if a branch decides about it."""
    if call.undecided:
        return
    if call.name == "()":
        loss, from_logits = _loss(call.receiver) if isinstance(call.receiver, Call) else (None, None)
    elif call.name in _OF_SCORES:
        loss, from_logits = _OF_SCORES[call.name], True
    else:
        given = call.argument(2, "from_logits")
        from_logits = False if given is None else bool(given.value) if isinstance(given, Literal) else None
        loss = _kind(call.name) if call.name.rpartition(".")[2][:1].islower() else None
    output = call.argument(1, "y_pred", "logits")
    if loss is None or not isinstance(output, Call):
        return
    if _ACTIVATION.fullmatch(output.name):
        yield CompiledModel(call, loss, from_logits, None, _output(output, None)[1], output, ())
        return
    if output.name != "()" or not isinstance(output.receiver, Call):
        return
    last = _last_layer(output.receiver, calls) or output.receiver
    layers = layers_of(output.receiver, calls)
    units, activation = _output(last, layers)
    yield CompiledModel(call, loss, from_logits, units, activation, last, (), layers)


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
    output: Value | None = None
    if isinstance(model, Object):
        output = model.fields.get("()")
    elif not isinstance(model, Call):
        return None
    elif model.name in _SEQUENTIAL:
        members = _added(model, calls)
        last = members[-1] if members else None
        return last if isinstance(last, Call) else None
    elif model.name.startswith("transformers.TF"):
        return model
    elif model.name in _FUNCTIONAL:
        output = model.argument(1, "outputs")
        if isinstance(output, Group) and len(output.members) == 1:
            output = output.members[0]
    if isinstance(output, Call) and output.name == "()" and isinstance(output.receiver, Call):
        return output.receiver
    return output if isinstance(output, Call) and _ACTIVATION.fullmatch(output.name) else None


def output_units(model: Value | None, calls: Iterable[Call]) -> int | None:
    """Return how many numbers a model, or a layer, gives for each example; None if the source does not say."""
    if model is None:
        return None
    last = _last_layer(model, calls) or (model if isinstance(model, Call) else None)
    return _output(last, layers_of(model, calls))[0]


def _added(model: Call, calls: Iterable[Call]) -> list[Value] | None:
    """The layers of a Sequential; None if they are not all known, or depend on a branch."""
    given = model.argument(0, "layers")
    if given is not None and not isinstance(given, Group):
        return None
    adds = [one for one in calls if one.name == ".add" and one.receiver is model and one.args]
    sides = [_sides(one.expression) for one in adds]
    if any((branch, not side) in sides[-1] for one in sides for branch, side in one):
        return None
    return [*(given.members if isinstance(given, Group) else ()), *(one.args[0] for one in adds)]


def _sides(node: ast.AST) -> set[tuple[int, bool]]:
    """The branches that a statement is in: each `if`, and whether it is its first side."""
    found: set[tuple[int, bool]] = set()
    child, parent = node, getattr(node, "parent", None)
    while parent is not None:
        if isinstance(parent, ast.If):
            found.add((id(parent), child in parent.body))
        child, parent = parent, getattr(parent, "parent", None)
    return found


def layers_of(model: Value, calls: Iterable[Call]) -> tuple[Call, ...] | None:
    """Return all layers of a model, first to last; None if the source does not say them all."""
    if not isinstance(model, Call):
        return None
    found: list[Value] = []
    if model.name in _SEQUENTIAL:
        found = _added(model, calls) or []
    elif model.name in _FUNCTIONAL:
        value = model.argument(1, "outputs")
        while isinstance(value, Call) and value.name == "()" and value.receiver is not None and len(value.args) == 1:
            found.append(value.receiver)
            value = value.args[0]
        base = value.base if isinstance(value, Item) and value.attribute else None
        if isinstance(base, Call) and base.name.startswith("keras.applications."):
            value = base
        elif not isinstance(value, Call) or value.name not in ("keras.Input", "keras.layers.Input"):
            return None
        found.append(value)
        found.reverse()
    layers = tuple(one for one in found if isinstance(one, Call))
    return layers if layers and len(layers) == len(found) else None


def _output(last: Call | None, layers: tuple[Call, ...] | None) -> tuple[int | None, str | None]:
    """The units and the activation of the last layer; an activation that is a layer has the units of the one before."""
    if last is None:
        return None, None
    if (function := _ACTIVATION.fullmatch(last.name)) is not None:
        return None, function[1]
    if last.name in ("keras.layers.Softmax", "keras.layers.Activation"):
        given = last.argument(0, "activation") if last.name.endswith("Activation") else Literal("softmax")
        before = layers[-2] if layers is not None and len(layers) > 1 and layers[-1] is last else None
        return _output(before, None)[0], _activation(given) or None  # a linear one leaves what comes before it
    if re.fullmatch(r"transformers\.TF\w+For\w+\.from_pretrained", last.name):
        return None, ""  # raw scores
    convolution = bool(re.fullmatch(r"keras\.layers\.Conv(2D|1D|3D)(Transpose)?", last.name))
    if last.name != "keras.layers.Dense" and not convolution:
        return None, None
    if convolution:
        return None, _activation(last.argument(None, "activation")) or None
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
