"""shuffle: a new random order in each epoch."""

from __future__ import annotations

import warnings
from typing import Any

from recordsmith.errors import PipelineError
from recordsmith.loader.order.block_shuffle import block_shuffle
from recordsmith.loader.order.record_order import ENDLESS, Shuffled
from recordsmith.loader.plan import Plan
from recordsmith.loader.warning import PipelineWarning
from recordsmith.wording.call_stack import caller_level

__all__ = ["shuffle"]


def shuffle(plan: Plan, seed: int, *, buffer: int | None, reshuffle: bool) -> Plan:
    """Put the rows into a random order; see `Loader.shuffle`."""
    check_whole_number("The seed", seed, least=None)
    plan.before_batching("shuffle", "leave the rows of each batch together. Shuffle first: .shuffle().batch().")
    if plan.has("repeated"):
        if plan.order.length >= ENDLESS:
            raise PipelineError(
                "shuffle after an endless repeat has nothing to shuffle.",
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
        if len(plan.datasets) == 1:
            in_blocks = block_shuffle(plan.datasets[0], plan.order, seed, reshuffle=reshuffle)
            if in_blocks is not None:
                order, settings["parts"] = in_blocks, in_blocks.parts
    return plan.then("shuffle", settings, order=order, known=plan.known | {"shuffled"})


def _warn_of_long_runs(plan: Plan, buffer: int) -> None:
    from recordsmith.loader.order.label_runs import long_label_run

    found = long_label_run(plan, buffer)
    if found is not None:
        feature, run = found
        warnings.warn(
            PipelineWarning(
                "P004",
                f"A shuffle buffer of {buffer:,} rows is shorter than the runs of equal {feature!r} in the data: one "
                f"has {run:,} rows. Batches will have few different ones. Leave buffer out: .shuffle(seed) mixes all.",
            ),
            stacklevel=caller_level(),
        )


def check_whole_number(what: str, number: Any, *, least: int | None) -> None:
    """Refuse what is no whole number, or one that is too small.

    >>> check_whole_number("The buffer", 10, least=1)
    """
    if isinstance(number, bool) or not hasattr(number, "__index__") or (least is not None and number < least):
        limit = "" if least is None else f" from {least} on"
        raise PipelineError(f"{what} is a whole number{limit}.", found=repr(number))
