"""Long chains of layers are followed once, not once for each way through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recordsmith.doctor.lint.interpreter.values import Call, Literal, Value
from recordsmith.doctor.lint.libraries import scaling
from recordsmith.doctor.lint.libraries.torch.scaled_pixels import torch_scaling

if TYPE_CHECKING:
    import pytest


def test_the_scaling_before_forty_layers_asks_each_of_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Call] = []

    def counting(call: Call, inner: object) -> object:
        asked.append(call)
        assert len(asked) <= 40
        return torch_scaling(call, inner)  # type: ignore[arg-type]

    monkeypatch.setattr(scaling, "torch_scaling", counting)
    value: Value = Call("numpy.load", None, (Literal("x.npy"),))
    for _ in range(40):
        value = Call("()", Call("torch.nn.ReLU", None), (value,))
    assert scaling.scaling_of(value) is None
    assert len(asked) == 40
