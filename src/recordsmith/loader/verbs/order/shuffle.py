"""shuffle: a new random order in each epoch."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from recordsmith.errors import PipelineError
from recordsmith.loader.order.block_shuffle import BlockShuffled, block_shuffle
from recordsmith.loader.order.read_blocks import is_shuffled_in_windows
from recordsmith.loader.order.record_order import ENDLESS, Shuffled
from recordsmith.loader.order.shuffle_quality import shuffle_quality
from recordsmith.loader.plan import Plan
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.loader.warning import PipelineWarning
from recordsmith.wording.call_stack import caller_level

__all__ = ["ShuffleVerb"]

_said: set[str] = set()  # the datasets whose shuffle was explained


class ShuffleVerb(Chain[LoaderT]):
    """Gives a chain the method `shuffle`."""

    @verb
    def shuffle(
        self, *, seed: int = 0, buffer: int | None = None, exact: bool | None = None, reshuffle: bool = True
    ) -> LoaderT:
        """Put the rows into a random order: an exact, uniform permutation of all of them, a new one in each epoch.

        It needs no memory and no time at the start, however many records there are.

        Args:
            seed: a different seed gives a different sequence of orders.
            buffer: shuffle as tf.data does, through a buffer of this many rows, instead of exactly.
            exact: True mixes all rows; False mixes window by window: of many files side by side, what fits into memory.
                None: windows for large compressed data and for small records of remote files, which cannot be read
                one by one at speed; exact otherwise. A line on the terminal says so.
            reshuffle: use a new order in each epoch.
        """
        plan = self.plan
        check_whole_number("The seed", seed, least=None)
        plan.before_batching("shuffle", "leave the rows of each batch together. Shuffle first: .shuffle().batch().")
        if plan.has("repeated"):
            if plan.order.length >= ENDLESS:
                raise PipelineError(
                    "shuffle after an endless repeat has no last row to shuffle up to.",
                    advice="Shuffle first: .shuffle().repeat().",
                )
            warnings.warn(
                PipelineWarning(
                    "P002",
                    "shuffle after repeat mixes the epochs: some records come several times before others come once. "
                    "Shuffle first: .shuffle().repeat().",
                ),
                stacklevel=caller_level(),
            )
        settings = {"seed": seed, "buffer": buffer, "reshuffle": None if reshuffle else False}
        if buffer is not None:
            from recordsmith.loader.order.buffer_shuffle import BufferShuffled

            check_whole_number("The buffer", buffer, least=1)
            order: Any = BufferShuffled(plan.order, seed, buffer, reshuffle)
            _warn_of_long_runs(plan, buffer)
        else:
            order = Shuffled(plan.order, seed, reshuffle)
            if len(plan.datasets) == 1 and not exact and (exact is False or is_shuffled_in_windows(plan.datasets[0])):
                in_blocks = block_shuffle(plan.datasets[0], plan.order, seed, reshuffle=reshuffle)
                if in_blocks is not None:
                    order, settings["parts"] = in_blocks, in_blocks.parts
                    if exact is None and plan.datasets[0].is_remote:
                        _say_once(plan, in_blocks)
        return self._then(plan.then("shuffle", settings, order=order, known=plan.known | {"shuffled"}))


def _say_once(plan: Plan, order: BlockShuffled) -> None:
    """Say that a shuffle is not exact, once for each dataset."""
    url = os.path.dirname(plan.datasets[0].files[0])
    if url not in _said:
        _said.add(url)
        sys.stderr.write(
            f"recordsmith: {url}: the records are small, so they are shuffled in windows ({shuffle_quality(order)}). "
            "Write .shuffle(exact=True) to mix all rows, with a request for each record.\n"
        )


def _warn_of_long_runs(plan: Plan, buffer: int) -> None:
    from recordsmith.loader.fetching.label_runs import long_label_run

    found = long_label_run(plan, buffer)
    if found is not None:
        feature, run = found
        warnings.warn(
            PipelineWarning(
                "P004",
                f"A shuffle buffer of {buffer:,} rows is shorter than the runs of equal {feature!r} in the data: one "
                f"has {run:,} rows. Batches will have few different ones. Leave buffer out: .shuffle() mixes all rows.",
            ),
            stacklevel=caller_level(),
        )
