"""pairs: (inputs, target) tuples, as training loops take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError
from recordsmith.loader.plan import RECORD_NUMBERS, BatchChange
from recordsmith.loader.verbs.arguments import verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.schema import Feature, Label

__all__ = ["Paired", "PairsVerb"]


@dataclass(frozen=True)
class Paired(BatchChange):
    """Turns a batch into (inputs, target), or (inputs, target, records)."""

    inputs: str | tuple[str, ...]
    target: str | None
    one_hot: int | None
    with_index: bool = False
    picks_columns = True

    def apply(self, batch: dict[str, Any]) -> tuple[Any, ...]:
        """Return the tuple."""
        inputs = self.inputs
        chosen = batch[inputs] if isinstance(inputs, str) else {name: batch[name] for name in inputs}
        result: list[Any] = [chosen]
        if self.target is not None:
            target = batch[self.target]
            result.append(target if self.one_hot is None else self._one_hot(target))
        if self.with_index:
            result.append(batch[RECORD_NUMBERS])
        return tuple(result)

    def _one_hot(self, target: Any) -> Any:
        classes = np.asarray(target)
        outside = (classes < 0) | (classes >= self.one_hot)
        if outside.any():
            raise PipelineError(
                f"A class of {self.target!r} is outside its one-hot encoding.",
                feature=self.target,
                found=int(classes[outside][0]),
                expected=f"0 to {int(self.one_hot or 0) - 1}",
            )
        encoded = np.zeros((*classes.shape, int(self.one_hot or 0)), np.float32)
        np.put_along_axis(encoded, classes[..., np.newaxis], 1, axis=-1)
        return encoded


class PairsVerb(Chain[LoaderT]):
    """Gives a chain the method `pairs`."""

    @verb
    def pairs(
        self,
        inputs: str | Sequence[str],
        target: str | None = None,
        *,
        one_hot: bool | int = False,
        with_index: bool = False,
    ) -> LoaderT:
        """Turn batches into tuples (inputs, target), as training loops expect them.

        Args:
            inputs: one feature, or several, which become a dict.
            target: the feature to learn.
            one_hot: encode the target one-hot, with this number of classes; True uses that of its `Label`.
            with_index: add the numbers of the records, for `verify_pairs`.
        """
        plan = self.plan
        names = (inputs,) if isinstance(inputs, str) else tuple(inputs)
        if not names:
            raise PipelineError("pairs needs at least one input feature.")
        for name in (*names, *(() if target is None else (target,))):
            plan.feature(name, "pairs")
        if target is not None and target in names:
            raise PipelineError(
                f"{target!r} is both an input and the target: the model would be shown the answer.",
                advice="Take it out of the inputs.",
            )
        size = _classes(one_hot, None if target is None or plan.features is None else plan.features[target], target)
        change = Paired(inputs if isinstance(inputs, str) else names, target, size, with_index)
        settings = {
            "inputs": inputs if isinstance(inputs, str) else list(names),
            "target": target,
            "one_hot": size,
            "with_index": with_index or None,
        }
        # It is done to batches, wherever in the chain it stands.
        paired = replace(plan.then("pairs", settings), batch_changes=(*plan.batch_changes, change))
        if plan.changes or plan.batch_changes or plan.features is None:
            return self._then(paired)
        # Nothing looks at the other features, so they need not be decoded.
        wanted = (*names, *(() if target is None else (target,)))
        if plan.batching is not None:
            wanted = (*wanted, *(name for name in plan.batching.features if name not in wanted))
        return self._then(replace(paired, datasets=tuple(dataset.select(*wanted) for dataset in plan.datasets)))


def _classes(one_hot: bool | int, feature: Feature | None, target: str | None) -> int | None:  # noqa: FBT001 - as given
    if one_hot is False:
        return None
    if target is None:
        raise PipelineError("one_hot needs a target.")
    if one_hot is not True:
        return int(one_hot)
    if isinstance(feature, Label):
        return feature.size
    raise PipelineError(
        f"The number of classes of {target!r} is not known.",
        feature=target,
        found=repr(feature),
        advice="Give it as one_hot=10, or declare the feature as rs.Label.",
    )
