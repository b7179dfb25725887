"""Which kind of loss a loss is, by the name that frameworks give it."""

from __future__ import annotations

import re
from typing import Any

from recordsmith.doctor.diagnose.observing.model_facts import LossFacts

__all__ = ["loss_facts"]

# In lower case without underscores: the kind, whether raw scores are taken (None: it depends), and logarithms.
_KERAS = {
    "sparsecategoricalcrossentropy": "sparse-categorical",
    "categoricalcrossentropy": "categorical",
    "categoricalfocalcrossentropy": "categorical",
    "kldivergence": "categorical",
    "kld": "categorical",
    "binarycrossentropy": "binary",
    "bce": "binary",
    "binaryfocalcrossentropy": "binary",
}
_REGRESSION = {
    "meansquarederror", "mse", "mseloss", "meanabsoluteerror", "mae", "l1loss", "smoothl1loss", "huber", "huberloss",
    "logcosh", "meansquaredlogarithmicerror", "msle", "meanabsolutepercentageerror", "mape",
}  # fmt: skip
_TORCH: dict[str, tuple[str, bool | None, bool]] = {
    "crossentropyloss": ("sparse-categorical", True, False),
    "crossentropy": ("sparse-categorical", True, False),
    "nllloss": ("sparse-categorical", None, True),
    "bceloss": ("binary", False, False),
    "binarycrossentropy": ("binary", False, False),
    "bcewithlogitsloss": ("binary", True, False),
    "binarycrossentropywithlogits": ("binary", True, False),
}


def loss_facts(loss: Any, *, torch: bool) -> LossFacts | None:
    """Describe a loss: a name, a function or an object; None for None, or for one loss an output.

    >>> loss_facts("sparse_categorical_crossentropy", torch=False)
    LossFacts(name='sparse_categorical_crossentropy', kind='sparse-categorical', from_logits=False, ...)
    >>> loss_facts("mse", torch=False).kind
    'regression'
    """
    if loss is None or isinstance(loss, (dict, list, tuple)):
        return None
    name = loss if isinstance(loss, str) else getattr(loss, "__name__", None) or type(loss).__name__
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    if plain in _REGRESSION:
        return LossFacts(name, "regression")
    if torch:
        kind, from_logits, logarithms = _TORCH.get(plain, ("other", None, False))
        ignored = getattr(loss, "ignore_index", -100 if kind == "sparse-categorical" else None)
        return LossFacts(name, kind, from_logits, logarithms, ignored)
    if plain not in _KERAS:
        return LossFacts(name, "other")
    ignored = getattr(loss, "ignore_class", None)
    return LossFacts(name, _KERAS[plain], _keras_logits(loss), ignored=ignored)


def _keras_logits(loss: Any) -> bool | None:
    """Return from_logits; the default of a Keras loss is False."""
    try:
        return bool(loss.get_config().get("from_logits", False)) if hasattr(loss, "get_config") else False
    except Exception:  # noqa: BLE001 - a loss of the user's own with a config of its own
        return None
