"""pairs: (inputs, target) tuples, as training loops take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from recordsmith.dataset.class_weights import class_weights
from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.loader.order.labels import class_codes
from recordsmith.loader.plan import RECORD_NUMBERS, BatchChange, Plan
from recordsmith.loader.verbs.arguments import verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.schema import Feature, Label

__all__ = ["Paired", "PairsVerb", "Picked", "features_of", "pick"]

Picked: TypeAlias = str | tuple[tuple[str, str], ...]
"""A single feature, or several, which come as a dict: the name there, and the feature."""

Names: TypeAlias = str | Sequence[str] | Mapping[str, str]


def features_of(picked: Picked | None) -> tuple[str, ...]:
    """Return the features that are picked.

    >>> features_of("x"), features_of((("image", "x"),)), features_of(None)
    (('x',), ('x',), ())
    """
    if picked is None:
        return ()
    return (picked,) if isinstance(picked, str) else tuple(feature for _, feature in picked)


def pick(batch: Mapping[str, Any], picked: Picked) -> Any:
    """Return one column, or a dict of several.

    >>> pick({"x": 1, "y": 2}, "x"), pick({"x": 1, "y": 2}, (("image", "x"),))
    (1, {'image': 1})
    """
    for feature in features_of(picked):
        if feature not in batch:
            raise PipelineError(
                f"pairs names a feature {feature!r} that the batch does not have.{did_you_mean(feature, batch)}",
                expected=list_names(name for name in batch if name != RECORD_NUMBERS),
            )
    return batch[picked] if isinstance(picked, str) else {name: batch[feature] for name, feature in picked}


@dataclass(frozen=True)
class Paired(BatchChange):
    """Turns a batch into (inputs, target), and weights and record numbers after them if they were asked for."""

    inputs: Picked
    target: Picked | None
    one_hot: int | None
    with_index: bool = False
    weight: str | None = None
    class_weights: tuple[tuple[Any, float], ...] | None = None
    picks_columns = True
    makes_tuples = True

    @property
    def features(self) -> tuple[str, ...]:
        """The features that it looks at, each once."""
        weight = () if self.weight is None else (self.weight,)
        return tuple(dict.fromkeys((*features_of(self.inputs), *features_of(self.target), *weight)))

    def apply(self, batch: dict[str, Any]) -> tuple[Any, ...]:
        """Return the tuple."""
        result: list[Any] = [pick(batch, self.inputs)]
        if self.target is not None:
            target = pick(batch, self.target)
            result.append(target if self.one_hot is None else self._one_hot(target))
            weights = self._weights(batch, target)
            if weights is not None:
                result.append(weights)
        if self.with_index:
            result.append(batch[RECORD_NUMBERS])
        return tuple(result)

    def _weights(self, batch: dict[str, Any], target: Any) -> Any:
        weights = None if self.weight is None else pick(batch, self.weight)
        if self.class_weights is None:
            return weights
        table = dict(self.class_weights)
        classes = np.asarray(target).tolist() if isinstance(target, np.ndarray) else target.to_list()
        missing = [one for one in classes if one not in table]
        if missing:
            raise PipelineError(
                "A class has no weight.",
                feature=features_of(self.target)[0],
                found=repr(missing[0]),
                expected=list_names(map(str, table)),
                advice="Give every class a weight, or write class_weight='balanced'.",
            )
        by_class = np.array([table[one] for one in classes], np.float32)
        return by_class if weights is None else by_class * np.asarray(weights, np.float32)

    def _one_hot(self, target: Any) -> Any:
        classes = np.asarray(target)
        outside = (classes < 0) | (classes >= self.one_hot)
        if outside.any():
            raise PipelineError(
                f"A class of {self.target!r} is outside its one-hot encoding.",
                feature=features_of(self.target)[0],
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
        inputs: Names,
        target: Names | None = None,
        *,
        weight: str | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        one_hot: bool | int = False,
        with_index: bool = False,
    ) -> LoaderT:
        """Turn batches into tuples (inputs, target), or (inputs, target, weights), as training loops take them.

        Args:
            inputs: one feature, which then comes by itself; several, which come as a dict; or a mapping of the names
                that the model has for them to features.
            target: the feature to learn, or several, as for `inputs`.
            weight: the feature with the weight of each row in the loss.
            class_weight: weights by class of the target, or "balanced", which reads the target of all records once;
                multiplied with `weight` if both are given.
            one_hot: encode the target one-hot, with this number of classes; True uses that of its `Label`.
            with_index: add the numbers of the records, for `verify_pairs`.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"x": [1, 2, 3], "y": [0, 0, 1]},
        ...                          rs.Schema({"x": rs.Scalar("int64"), "y": rs.Label(2)}))
        >>> for inputs, target, weights in rs.open(path).batch(3).pairs({"in": "x"}, "y", class_weight={0: 1, 1: 2}):
        ...     print(inputs, target, weights)
        {'in': array([1, 2, 3])} [0 0 1] [1. 1. 2.]
        """
        plan = self.plan
        plan.before_pairs("pairs")
        chosen = _picked("inputs", inputs)
        wanted = None if target is None else _picked("target", target)
        names, targets = features_of(chosen), features_of(wanted)
        for name in (*names, *targets, *(() if weight is None else (weight,))):
            plan.feature(name, "pairs")
        shown = [name for name in targets if name in names]
        if shown:
            raise PipelineError(
                f"{shown[0]!r} is both an input and the target: the model would be shown the answer.",
                advice="Take it out of the inputs.",
            )
        single = wanted if isinstance(wanted, str) else None
        if single is None:
            given = {"weight": weight, "class_weight": class_weight, "one_hot": one_hot or None}
            _check_single(wanted, {name: value for name, value in given.items() if value is not None})
        size = _classes(one_hot, None if single is None or plan.features is None else plan.features[single], single)
        by_class = None if single is None else _class_weights(plan, single, class_weight)
        change = Paired(chosen, wanted, size, with_index, weight, by_class)
        settings = {
            "inputs": _shown(chosen),
            "target": None if wanted is None else _shown(wanted),
            "weight": weight,
            "class_weight": None if by_class is None else [list(one) for one in by_class],
            "one_hot": size,
            "with_index": with_index or None,
        }
        # It is done to batches, wherever in the chain it stands.
        paired = replace(plan.then("pairs", settings), batch_changes=(*plan.batch_changes, change))
        if plan.changes or plan.batch_changes or plan.features is None:
            return self._then(paired)
        # Nothing looks at the other features, so they need not be decoded.
        needed = change.features
        if plan.batching is not None:
            needed = (*needed, *(name for name in plan.batching.features if name not in needed))
        return self._then(replace(paired, datasets=tuple(dataset.select(*needed) for dataset in plan.datasets)))


def _picked(role: str, given: Any) -> Picked:
    """Return what was picked by one name, a list of names, or a mapping of new names to features."""
    if isinstance(given, str):
        return given
    pairs = list(given.items()) if isinstance(given, Mapping) else [(name, name) for name in _listed(role, given)]
    if not pairs or not all(isinstance(name, str) and isinstance(feature, str) for name, feature in pairs):
        raise PipelineError(
            f"pairs needs at least one feature as its {role}.",
            found=repr(given)[:200],
            expected='a name, a list of names, or a mapping such as {"tokens": "text"}',
        )
    return tuple(pairs)


def _listed(role: str, given: Any) -> list[Any]:
    if isinstance(given, Sequence) and not isinstance(given, bytes):
        return list(given)
    raise PipelineError(
        f"The {role} of pairs is not valid.",
        found=repr(given)[:200],
        expected='a name, a list of names, or a mapping such as {"tokens": "text"}',
    )


def _shown(picked: Picked) -> Any:
    if isinstance(picked, str):
        return picked
    return [name for name, _ in picked] if all(name == feature for name, feature in picked) else dict(picked)


def _check_single(target: Picked | None, given: Mapping[str, Any]) -> None:
    """Refuse settings of the target where there is none, or where there are several."""
    needs_one = [name for name in given if name != "weight" or target is None]
    if needs_one:
        raise PipelineError(
            f"{needs_one[0]} needs {'a target' if target is None else 'a single target'}.",
            found=f"{needs_one[0]}={given[needs_one[0]]!r}, target={None if target is None else _shown(target)!r}",
        )


def _class_weights(
    plan: Plan, target: str, given: Mapping[Any, float] | str | None
) -> tuple[tuple[Any, float], ...] | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        return tuple((name, float(weight)) for name, weight in given.items())
    if given != "balanced":
        raise PipelineError(
            "Unknown class_weight.", found=repr(given), expected="'balanced', or a mapping of classes to weights"
        )
    classes, codes = class_codes(plan.datasets, target)
    counts = dict(zip(classes, np.bincount(codes, minlength=len(classes)).tolist(), strict=True))
    return tuple(sorted(class_weights(counts).items()))


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
