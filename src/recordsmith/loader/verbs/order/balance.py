"""balance: every class equally often, or as often as asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.keyed_random import stream_key
from recordsmith.loader.order.labels import class_codes
from recordsmith.loader.order.record_order import (
    AGAIN,
    ENDLESS,
    AllRecords,
    Int64s,
    Order,
    OrderedRecords,
    Part,
    Records,
    ShuffleKind,
    groups,
    keyed_permutation,
)
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.schema import Label

__all__ = ["BalanceVerb", "Balanced"]

_STRATEGIES = ("oversample", "undersample")


@dataclass(frozen=True, eq=False)
class Balanced(Order):
    """Classes in given numbers, in a random order that is another one in each epoch.

    A class with too few records is repeated; of a class with more than enough, each epoch takes others.

    Args:
        inner: the records.
        members: the positions of each class in `inner`.
        targets: how often each class is to come.
        seed: another seed, another choice and order.
    """

    inner: Order
    members: tuple[Int64s, ...]
    targets: tuple[int, ...]
    seed: int
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", sum(self.targets))

    @property
    def shuffle(self) -> tuple[ShuffleKind, int]:
        """All rows are mixed."""
        return "exact", self.length

    def at(self, epoch: int, positions: Int64s) -> OrderedRecords:
        """Return the records at these positions."""
        mixed = keyed_permutation(self.length, stream_key(self.seed, f"balance/{epoch}")).at(positions)
        ends = np.cumsum(self.targets)
        classes = np.searchsorted(ends, mixed, side="right")
        numbers, epochs = np.empty_like(positions), np.empty_like(positions)
        for code, mine in groups(classes):
            members = self.members[code]
            turns, place = np.divmod(mixed[mine] - (int(ends[code]) - self.targets[code]), len(members))
            for turn, these in groups(turns):
                key = stream_key(self.seed, f"balance/{epoch}/{code}/{turn}")
                chosen = members[keyed_permutation(len(members), key).at(place[these])]
                numbers[mine[these]], epochs[mine[these]] = self.inner.at(epoch + turn * AGAIN, chosen)
        return OrderedRecords(numbers, epochs)


class BalanceVerb(Chain[LoaderT]):
    """Gives a chain the method `balance`."""

    @verb
    def balance(self, by: str, strategy: str | Mapping[Any, int] = "oversample", *, seed: int = 0) -> LoaderT:
        """Use every class equally often, in a random order.

        The feature of all records is read once, and takes 12 bytes of memory per record.

        Args:
            by: the feature with the class.
            strategy: "oversample" repeats records until every class has as many as the largest one; "undersample" uses
                as many as the smallest class has, other ones in each epoch; a mapping gives the numbers for some
                classes.
            seed: a different seed gives another choice and order.
        """
        plan = self.plan
        check_whole_number("The seed", seed, least=None)
        feature = plan.feature(by, "balance")
        if plan.changes or plan.batching is not None or not isinstance(plan.order, (AllRecords, Records, Part)):
            raise PipelineError(
                "balance works on stored records, before any other verb changes or orders them.",
                advice="Let it be the first verb: .balance('label').shuffle().batch(n).",
            )
        values, codes = class_codes(plan.datasets, by)
        here = plan.order.at(0, np.arange(plan.order.length, dtype=np.int64)).numbers
        codes = codes[here]
        names = [feature.label_of(value) if isinstance(feature, Label) else value for value in values]
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=len(values))
        members = tuple(np.split(order.astype(np.int64), np.cumsum(counts)[:-1]))
        targets = _targets(strategy, dict(zip(names, counts.tolist(), strict=True)), by)
        if sum(targets) >= ENDLESS:
            raise PipelineError("balance asks for more rows than can be counted.", feature=by, found=str(sum(targets)))
        kept = [code for code in range(len(values)) if targets[code] > 0]
        balanced = Balanced(
            plan.order, tuple(members[code] for code in kept), tuple(targets[code] for code in kept), seed
        )
        shown = dict(strategy) if isinstance(strategy, Mapping) else strategy
        return self._then(
            plan.then("balance", {"by": by, "strategy": shown, "seed": seed}, order=balanced, even_world=None)
        )


def _targets(strategy: str | Mapping[Any, int], counts: dict[Any, int], by: str) -> list[int]:
    there = [count for count in counts.values() if count > 0]
    if not there:
        raise PipelineError("There are no rows to balance.")
    if isinstance(strategy, Mapping):
        for name, count in strategy.items():
            if name not in counts:
                raise PipelineError(
                    f"balance names a class {name!r} that {by!r} does not have."
                    f"{did_you_mean(str(name), map(str, counts))}",
                    feature=by,
                    expected=list_names(map(str, counts)),
                )
            check_whole_number(f"The number of rows of {name!r}", count, least=0)
            if count and not counts[name]:
                raise PipelineError(f"balance asks for rows of the class {name!r}, and none has it.", feature=by)
        return [int(strategy.get(name, count)) for name, count in counts.items()]
    if strategy not in _STRATEGIES:
        raise PipelineError(
            f"Unknown strategy.{did_you_mean(str(strategy), _STRATEGIES)}",
            found=repr(strategy),
            expected="'oversample', 'undersample', or a mapping of classes to counts",
        )
    target = max(there) if strategy == "oversample" else min(there)
    return [target if count else 0 for count in counts.values()]
