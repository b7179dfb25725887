"""mix: rows of several datasets, in given shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from recordsmith.errors import PipelineError, list_names
from recordsmith.loader.order.mixed import Mixed, Stop, mixed_length
from recordsmith.loader.order.record_order import ENDLESS
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["MixVerb", "mix"]

Weights: TypeAlias = Sequence[float] | Mapping[int, Sequence[float]]


class MixVerb(Chain[LoaderT]):
    """Gives a chain the method `mix`."""

    @verb
    def mix(
        self,
        *others: Chain[Any],
        weights: Weights | None = None,
        seed: int = 0,
        stop: Stop = "first",
    ) -> LoaderT:
        """Mix the rows with those of other datasets. The shares hold in every thousand rows.

        Args:
            others: the other datasets, or chains that only select and order rows.
            weights: the share of each, this one first; None: equal shares. Shares that change within an epoch are a
                mapping of the row from which they hold: {0: [1, 0], 10_000: [1, 3]}.
            seed: a different seed gives another interleaving.
            stop: an epoch ends when the first dataset ends, or when all have ended and shorter ones were repeated.
        """
        plan = self.plan
        check_whole_number("The seed", seed, least=None)
        for other in others:
            if not isinstance(other, Chain):
                raise PipelineError(
                    "mix needs datasets.", found=repr(other)[:200], expected="what rs.open returns, or a chain over it"
                )
        plans = [plan, *(other.plan for other in others)]
        for one in plans:
            if one.changes or one.batching is not None:
                raise PipelineError(
                    "mix needs datasets with rows that are not changed or batched yet.",
                    advice="Call .mix() before .map(), .images() and .batch().",
                )
            if one.features != plan.features:
                raise PipelineError(
                    "The datasets to be mixed have different features.",
                    found=list_names(one.features or ()),
                    expected=list_names(plan.features or ()),
                    advice="Bring them to the same features with .select(), or to the same schema when they are made.",
                )
            if one.order.length == 0 or one.order.length >= ENDLESS:
                raise PipelineError(
                    "mix needs datasets that are neither empty nor endless.", advice="Use .repeat() after .mix()."
                )
        given = _phases(weights, len(plans))
        if stop not in ("first", "all"):
            raise PipelineError("Unknown stop.", found=repr(stop), expected="'first' or 'all'")
        phases = tuple((start, _exact(shares)) for start, shares in given)
        length = mixed_length([one.order.length for one in plans], phases, stop)
        sizes = [sum(len(dataset) for dataset in one.datasets) for one in plans]
        shifts = tuple(int(shift) for shift in np.cumsum([0, *sizes[:-1]]))
        order = Mixed(tuple(one.order for one in plans), shifts, phases, seed, length, stop)
        settings = {
            "others": [[str(verb) for verb in one.verbs] for one in plans[1:]],
            "weights": given[0][1] if len(given) == 1 else [[start, shares] for start, shares in given],
            "seed": seed,
            "stop": stop,
        }
        datasets = tuple(dataset for one in plans for dataset in one.datasets)
        return self._then(plan.then("mix", settings, datasets=datasets, order=order, even_world=None))


def mix(sources: Sequence[Any], *, weights: Weights | None = None, seed: int = 0, stop: Stop = "first") -> Any:
    """Mix the rows of several datasets, or of chains that only choose and order rows; returns a loader.

    It is `sources[0].mix(*sources[1:], ...)`. All sources are read by the same few threads, also hundreds of them.

    >>> import recordsmith as rs, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for name, rows in (("a", [1, 2]), ("b", [3, 4])):
    ...     with rs.RecordWriter(f"{folder}/{name}.tfrecord") as writer:
    ...         writer.write_columns({"n": rows}, rs.Schema({"n": rs.Scalar("int64")}))
    >>> mixed = rs.mix([rs.open(f"{folder}/a.tfrecord"), rs.open(f"{folder}/b.tfrecord")]).batch(4)
    >>> sorted(next(iter(mixed))["n"].tolist()), mixed.rows_by_source()
    ([1, 2, 3, 4], [2, 2])
    """
    if not sources or not all(isinstance(source, Chain) for source in sources):
        raise PipelineError(
            "mix needs a list of datasets.",
            found=repr(sources)[:200],
            expected="for example [rs.open('a'), rs.open('b')]",
        )
    first, *others = sources
    return first.mix(*others, weights=weights, seed=seed, stop=stop)


def _phases(weights: Weights | None, count: int) -> list[tuple[int, list[float]]]:
    """Return from which row on which shares hold."""
    if not isinstance(weights, Mapping):
        return [(0, _weights(weights, count))]
    starts = list(weights)
    sound = starts and all(type(start) is int for start in starts) and starts == sorted(starts) and starts[0] == 0
    if not sound:
        raise PipelineError(
            "Weights that change must be given by their first row, starting at 0 and increasing.",
            found=repr(starts)[:200],
            expected="for example {0: [1, 1], 10_000: [1, 3]}",
        )
    phases = [(start, _weights(shares, count, is_phase=True)) for start, shares in weights.items()]
    never = [number for number in range(count) if not any(shares[number] for _, shares in phases)]
    if never:
        raise PipelineError(f"Dataset {never[0]} of the mix has weight 0 throughout.", advice="Leave it out.")
    return phases


def _weights(weights: Any, count: int, *, is_phase: bool = False) -> list[float]:
    try:
        given = [1.0] * count if weights is None else [float(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError):
        given = []
    is_low = len(given) != count or min(given) < 0 or (not is_phase and min(given) == 0) or sum(given) == 0
    if is_low or not np.isfinite(given).all():
        raise PipelineError(
            f"mix needs a weight {'of at least 0' if is_phase else 'above 0'} for each dataset.",
            found=repr(weights),
            expected=f"{count} numbers; weights that change are given by row, such as {{0: [1, 1], 10_000: [1, 3]}}",
        )
    return given


def _exact(weights: Sequence[float]) -> tuple[int, ...]:
    """Return whole numbers in the same relation to each other.

    >>> _exact([0.5, 2.0])
    (1, 4)
    """
    ratios = [weight.as_integer_ratio() for weight in weights]
    unit = max(denominator for _, denominator in ratios)  # all are powers of two
    return tuple(numerator * (unit // denominator) for numerator, denominator in ratios)
