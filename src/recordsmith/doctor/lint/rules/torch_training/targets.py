"""The targets of PyTorch losses: class numbers beyond the outputs, and numbers of another type than the loss takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.lint.interpreter.values import Call, Element, Literal, Value, walk
from recordsmith.doctor.lint.libraries.torch.modules import losses
from recordsmith.doctor.lint.libraries.torch.numbers import number_kind, number_range
from recordsmith.doctor.lint.libraries.torch.tensors import last_layer, tensor_shape
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Rule

__all__ = ["labels_against_loss_in_torch", "labels_beyond_output_in_torch", "units_of"]


def labels_against_loss_in_torch(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find targets whose type or shape a loss refuses."""
    for call, loss, prediction, target, _ in losses(program.calls):
        if last_layer(prediction) is None:
            continue
        kind, shape = number_kind(target), tensor_shape(target)
        rows = shape is not None and len(shape) == 1
        if loss in ("cross_entropy", "nll_loss") and kind == "float" and (rows or _is_label(target)):
            found = "floats are given to a loss that takes class numbers as integers (int64)"
            advice = "Give the class numbers as they are, or `.long()`."
        elif loss in ("cross_entropy", "nll_loss") and kind == "integer" and shape is not None and shape[1:] == (1,):
            found = "class numbers of shape (N, 1) are given to a loss that takes the shape (N,)"
            advice = "Give them without the second axis: `target.squeeze(1)`."
        elif loss.startswith("binary_cross_entropy") and kind in ("integer", "bool"):
            found = f"{'integers' if kind == 'integer' else 'booleans'} are given to a loss that takes floats"
            advice = "Convert the targets: `target.float()`."
        else:
            continue
        yield program.finding(
            found_by,
            call.expression,
            f"Labels and loss do not fit: {found}. It stops with an error.",
            advice=advice,
        )


def _is_label(target: Value) -> bool:
    """It is what a dataset of torchvision gives as the label, converted."""
    return any(isinstance(one, Element) and one.kind == "label" for one in walk(target, 12))


def labels_beyond_output_in_torch(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find class numbers that are not below the number of outputs."""
    for call, loss, prediction, target, options in losses(program.calls):
        layer = last_layer(prediction)
        shape = units_of(layer[1]) if layer and layer[0] == "" else None
        bounds = number_range(target)
        if loss.startswith("binary_cross_entropy") and bounds is not None and (bounds[0] < 0 or bounds[1] > 1):
            yield program.finding(
                found_by,
                call.expression,
                f"The targets go from {bounds[0]} to {bounds[1]}, and this loss takes 0 and 1 (or numbers between "
                "them): it becomes negative without end, or fails.",
                advice="Map the targets to 0 and 1: `(target + 1) / 2` for -1 and 1.",
            )
            continue
        counted = _counted_from_one(target)
        if loss in ("cross_entropy", "nll_loss") and counted is not None and _is_length_of(layer, counted):
            yield program.finding(
                found_by,
                counted.expression,
                "The classes are numbered from 1, but the model has one output for each of them, for classes 0 to the "
                "number of classes - 1: the last class has no output.",
                advice="Number the classes from 0: leave out the start of `enumerate`.",
            )
            continue
        if loss not in ("cross_entropy", "nll_loss") or shape is None or options.argument(None, "ignore_index"):
            continue
        if bounds is not None and bounds[1] >= shape > 1 and bounds[0] >= 0 and layer is not None:
            from_one = " Class numbers must begin at 0." if bounds[0] == 1 else ""
            yield program.finding(
                found_by,
                call.expression,
                f"The labels go from {bounds[0]} to {bounds[1]}, but the model has {shape} outputs, for classes 0 to "
                f"{shape - 1}.{from_one}",
                advice="Subtract 1 from the labels." if bounds[0] == 1 else "",
                evidence={"largest": bounds[1], "units": shape},
            )
            continue


def units_of(layer: Call) -> int | None:
    """Return the number of outputs of a layer, where it is written down."""
    size = layer.argument(1, "out_features", "out_channels") if layer.name != "torch.nn.Embedding" else None
    return size.value if isinstance(size, Literal) and isinstance(size.value, int) else None


def _counted_from_one(target: Value) -> Call | None:
    for one in walk(target, 300):
        if isinstance(one, Call) and one.name == "builtins.enumerate":
            start = one.argument(1, "start")
            if isinstance(start, Literal) and start.value == 1:
                return one
    return None


def _is_length_of(layer: tuple[str, Call] | None, counted: Call) -> bool:
    size = layer[1].argument(1, "out_features") if layer else None
    return (
        isinstance(size, Call)
        and size.name == "builtins.len"
        and bool(counted.args)
        and size.args[0] is counted.args[0]
    )
