"""Long chains of layers are followed once, not once for each way through them."""

from __future__ import annotations

import pytest

from recordsmith.doctor.lint.interpreter.values import Call, Literal, Value
from recordsmith.doctor.lint.libraries import scaling


def test_the_scaling_before_forty_layers_asks_each_of_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Call] = []
    of_call = scaling.torch_scaling

    def counting(call: Call, inner: object) -> object:
        asked.append(call)
        assert len(asked) <= 40
        return of_call(call, inner)  # type: ignore[arg-type]

    monkeypatch.setattr(scaling, "torch_scaling", counting)
    value: Value = Call("numpy.load", None, (Literal("x.npy"),))
    for _ in range(40):
        value = Call("()", Call("torch.nn.ReLU", None), (value,))
    assert scaling.scaling_of(value) is None
    assert len(asked) == 40
