"""Which framework a model is of."""

from __future__ import annotations

from typing import Any

from recordsmith.doctor.diagnose.models.probe import ModelProbe
from recordsmith.doctor.diagnose.observing.batch import framework_of

__all__ = ["open_model"]


def open_model(model: Any, loss: Any) -> tuple[ModelProbe | None, str]:
    """Return what looks at a model, and if that cannot be done, why.

    >>> open_model(len, None)
    (None, 'The model is a builtin_function_or_method: only Keras 3 models and PyTorch modules can be checked.')
    """
    framework = framework_of(model)
    if framework == "keras" and hasattr(model, "stateless_call"):
        from recordsmith.doctor.diagnose.models.keras_model import KerasProbe

        return KerasProbe.open(model, loss)
    if framework == "torch" and hasattr(model, "forward"):
        from recordsmith.doctor.diagnose.models.torch_model import TorchProbe

        return TorchProbe.open(model, loss)
    return None, (f"The model is a {type(model).__name__}: only Keras 3 models and PyTorch modules can be checked.")
