"""What is asked of a model, whatever the framework."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.observing.batch import Batch
from recordsmith.doctor.diagnose.observing.model_facts import FirstLayerFacts, ModelFacts, OutputFacts

__all__ = ["LayerInputs", "ModelProbe", "Trainer", "layer_facts", "output_facts", "short_reason"]

_LONGEST_REASON = 600


@dataclass(eq=False)
class LayerInputs:
    """A layer, in the order in which layers were called, and what reached it."""

    name: str
    kind: str
    values: npt.NDArray[Any]
    entries: int | None = None


class Trainer:
    """Trains a copy of a model's weights; the model itself stays as it is."""

    def close(self) -> None:
        """Put back what was changed for the sake of speed."""

    def reset(self) -> None:
        """Begin again with the model's own weights."""
        raise NotImplementedError

    def gradients(self, batch: Any) -> tuple[float, list[npt.NDArray[Any] | None]]:
        """Return the loss of a batch, and the gradient of each weight; None where there is none."""
        raise NotImplementedError

    def step(self, batch: Any, rate: float) -> float:
        """Take one step of Adam, and return the loss before it."""
        raise NotImplementedError

    def row_losses(self, batch: Any) -> npt.NDArray[np.float64]:
        """Return the loss of each row, or of small groups of rows."""
        raise NotImplementedError

    def prepared(self, batch: Batch, rows: npt.NDArray[np.int64] | None = None, order: Any = None) -> Any:
        """Return a batch as the other methods take it: some of its rows, with targets in another order."""
        raise NotImplementedError


class ModelProbe:
    """A model that is looked at."""

    def facts(self, batch: Batch) -> ModelFacts:
        """Return what can be known of it, and what it answers to a batch."""
        raise NotImplementedError

    def trainer(self) -> Trainer | None:
        """Return what trains a copy of it; None where that is not possible."""
        raise NotImplementedError


def output_facts(answer: npt.NDArray[Any]) -> OutputFacts:
    """Describe what a model answered.

    >>> output_facts(np.array([[0.25, 0.75]])).sums_to_one
    True
    """
    values = answer.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (float("nan"), float("nan"))
    several = values.ndim > 1 and values.shape[-1] > 1 and finite.size == values.size
    sums = several and low >= 0 and bool(np.allclose(values.sum(axis=-1), 1, atol=1e-3))
    logarithms = several and high <= 1e-6 and bool(np.allclose(np.exp(values).sum(axis=-1), 1, atol=1e-3))
    whole = finite.size == values.size
    varies = not whole or len(values) < 2 or float(np.ptp(values, axis=0).max()) > 1e-6 * max(1.0, abs(low), abs(high))
    return OutputFacts(tuple(values.shape), low, high, sums, logarithms, finite=whole, varies=varies)


def layer_facts(seen: LayerInputs) -> FirstLayerFacts:
    """Describe what reached a layer.

    >>> layer_facts(LayerInputs("dense", "linear", np.array([[0.0, 255.0]]))).max
    255.0
    """
    values = np.asarray(seen.values, np.float64)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return FirstLayerFacts(seen.name, seen.kind, float("nan"), float("nan"), entries=seen.entries)
    spread = 0.0
    if values.ndim == 2 and len(values) > 1 and finite.size == values.size:
        spread = float(np.maximum(values.std(axis=0), np.abs(values.mean(axis=0))).max())
    low, high = float(finite.min()), float(finite.max())
    return FirstLayerFacts(seen.name, seen.kind, low, high, float(finite.std()), spread, seen.entries)


def short_reason(error: BaseException) -> str:
    r"""Return what an error says, without the pages that frameworks add.

    >>> short_reason(ValueError("the shape is wrong\n\nArguments received by Dense.call(): ..."))
    'ValueError: the shape is wrong'
    """
    text = str(error).split("\n\nArguments received")[0].split("\nArguments received")[0].strip()
    lines = " ".join(line.strip() for line in text.splitlines() if line.strip())
    lines = re.sub(r"\x1b\[[01]m|\{\{function_node .*?\}\} ?", "", lines)
    return f"{type(error).__name__}: {lines}"[:_LONGEST_REASON]
