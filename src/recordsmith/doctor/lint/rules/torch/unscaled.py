"""Pixels of 0 to 255 that a PyTorch network is trained on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.lint.interpreter.values import Call, Element, Literal, Value, walk
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.libraries.torch.tensors import sequence_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Rule, Severity

__all__ = ["unscaled_in_torch"]

_NETWORK = re.compile(r"torchvision\.models\.[\w.]+|timm\.create_model")
_LAYER = re.compile(r"torch\.nn\.(Conv2d|Linear|LazyConv2d|LazyLinear)")


def unscaled_in_torch(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find batches of images that a network gets as they were read, with pixels of 0 to 255."""
    trained = any(one.name == ".backward" for one in program.calls)
    normed = any(re.search(r"\.\w*(Batch|Layer|Instance|Group)Norm", one.name) for one in program.calls)
    for call in program.calls:
        if call.name != "()" or not call.args or call.node is None or not trained:
            continue
        network = _takes_images(call.receiver)
        if network is None or not _is_batch(call.args[0]):
            continue
        found = scaling_of(call.args[0])
        if found is None or found.root != "image" or found.factor != 1.0 or found.steps or found.offset or found.shift:
            continue
        pretrained = _is_pretrained(network)
        yield program.finding(
            found_by,
            call.expression,
            "The network gets pixels from 0 to 255: nothing scales them"
            + (", and its weights were trained on scaled ones." if pretrained else "."),
            advice="Divide by 255, and normalise with the mean and standard deviation that the weights were trained "
            "with."
            if pretrained
            else "Divide by 255 in the dataset, or use `ToTensor`.",
            severity=Severity.INFO if normed and not pretrained else None,
        )
        return


def _takes_images(module: Value | None) -> Call | None:
    """The network, or the first layer of it, that a call runs."""
    layers = sequence_of(module)
    if layers:
        module = next((one for one in layers if one.name != "torch.nn.Flatten"), None)
    known = isinstance(module, Call) and (_NETWORK.fullmatch(module.name) or _LAYER.fullmatch(module.name))
    return module if known and isinstance(module, Call) else None


def _is_batch(value: Value) -> bool:
    return any(isinstance(one, Element) and one.batched for one in walk(value, 12))


def _is_pretrained(network: Call) -> bool:
    if not _NETWORK.fullmatch(network.name):
        return False
    given = network.argument(0, "weights", "pretrained")
    return given is not None and not (isinstance(given, Literal) and given.value in (None, False))
