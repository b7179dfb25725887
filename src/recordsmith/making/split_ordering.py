"""Which split each staged row is in, how often it is written there, and in which order."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.making.balance.balancing import Balance, balance_training
from recordsmith.making.options import MakeOptions
from recordsmith.run.policy import OrderedSplit
from recordsmith.run.splits.class_counts import class_names, count_classes
from recordsmith.run.splits.group_splitting import assign_groups
from recordsmith.run.splits.groups import unit_blocks
from recordsmith.run.splits.split_order import build_order
from recordsmith.run.splits.splitting import NO_SPLIT, assign_splits
from recordsmith.run.staging.staging import Staging
from recordsmith.schema import Schema
from recordsmith.wording.numbers import count_text

__all__ = ["SplitOrdering"]


class SplitOrdering:
    """Puts the staged rows into splits, balances the training split, and orders each.

    Attributes:
        warnings: what should be known about the splits.
    """

    def __init__(self, staging: Staging, schema: Schema, options: MakeOptions, label: str | None) -> None:
        self._staging = staging
        self._schema = schema
        self._options = options
        self._label = label
        self.warnings: list[str] = []
        self._codes = self._assign()

    @property
    def unassigned(self) -> int:
        """How many rows no split asked for."""
        return int(np.count_nonzero(self._codes == NO_SPLIT))

    def orders(self) -> dict[str, OrderedSplit]:
        """Put the rows of each split into their order, and count their classes."""
        options, staging, codes = self._options, self._staging, self._codes
        names = options.split.names
        balance: Balance | None = None
        if options.balance is not None and self._label is not None:
            code = names.index(options.split.training)
            balance = balance_training(
                staging,
                self._schema,
                lambda first, last: codes[first:last] == code,
                label=self._label,
                strategy=options.balance,
                seed=options.seed,
                class_names=class_names(staging.classes, self._schema[self._label]),
            )
        orders = {}
        for code, name in enumerate(names):
            training = name == options.split.training
            chosen = _rows_of(codes, code)
            rows = int(np.count_nonzero(codes == code))
            if training and balance is not None:
                chosen, rows = balance.chosen, balance.total
            order = build_order(
                staging,
                name,
                chosen,
                expected_rows=rows,
                shuffle_seed=options.seed if training and options.shuffle else None,
            )
            classes = {} if self._label is None else count_classes(staging, self._schema[self._label], chosen)
            orders[name] = OrderedSplit(order, classes)
        self._warn_about_shares()
        self._warn_about_classes()
        return orders

    def _warn_about_classes(self) -> None:
        """Say it if what is balanced or stratified by hardly repeats, such as a measurement or an id."""
        options, staging = self._options, self._staging
        asked = {
            "stratify by": (options.stratify if isinstance(options.stratify, str) else self._label, staging.strata),
            "balance": (self._label, staging.classes),
        }
        used = [*(["stratify by"] if options.stratify else []), *(["balance"] if options.balance is not None else [])]
        for what in used:
            name, values = asked[what]
            if 2 * len(values) > staging.rows > len(options.split.names) * 2:
                self.warnings.append(
                    f"It makes little difference to {what} {name!r}: it has {len(values):,} different values in "
                    f"{count_text(staging.rows, 'row')}."
                )

    def _warn_about_shares(self) -> None:
        """Say it if rows that had to stay together made the splits other than asked for."""
        codes = self._codes
        if self._options.split.kept:
            return
        for code, (name, share) in enumerate(self._options.split.shares.items()):
            found = int(np.count_nonzero(codes == code))
            wanted = share * len(codes) if isinstance(share, float) else share
            if wanted is not None and abs(found - wanted) > max(1.0, 0.02 * len(codes)):
                self.warnings.append(
                    f"The split {name!r} has {found} rows instead of {round(wanted)}: rows of one group, or with the "
                    "same content, stay together."
                )

    def _assign(self) -> npt.NDArray[np.uint8]:
        staging = self._staging
        # Space first: a page of a mapping that the disk has no room for would end the process without a word.
        with open(staging.path("splits"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, staging.rows)
        codes = np.memmap(staging.path("splits"), np.uint8, "r+", shape=(staging.rows,))
        if self._options.split.kept:
            first = 0
            for keys in staging.key_blocks():
                codes[first : first + len(keys)] = keys["split"]
                first += len(keys)
            return codes
        blocks = unit_blocks(staging, grouped=self._options.group is not None, stratified=bool(self._options.stratify))
        options = self._options
        if options.group is not None and len(options.split.names) > 1:
            assign_groups(blocks, staging.rows, options.split, options.seed, codes)
        else:
            assign_splits(blocks, staging.rows, options.split, options.seed, staging.path("sort"), codes)
        return codes


def _rows_of(codes: Any, code: int) -> Callable[[int, int], Any]:
    def chosen(first: int, last: int) -> Any:
        # A sampler may have staged rows that have no code of their own: they are chosen by the balance alone.
        result = np.zeros(last - first, np.int64)
        mine = codes[first:last] == code
        result[: len(mine)] = mine
        return result

    return chosen
