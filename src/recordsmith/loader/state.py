"""The state of a loader: where its consumer is, of which chain over which data, as plain JSON.

A state comes back from a file that anybody may have written. So every part of it is held against the chain before it is
used: a place that the chain cannot have reached is refused, and so is the state of other data. Data is recognised by
the names of its files, the rows that were chosen, and a digest of all records that the index keeps: it is the same for
every copy of the data, on any machine, and costs no reading.

The size of batches, the number of ranks and the shares of a mixture are not part of what a chain is recognised by, and
a mixture may have more sources. A state that was saved with others is read as the chain that saved it reads it, and
then turned into a number of rows: see rest_of_epoch.py and mixture_changes.py.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from recordsmith.dataset import StoredDataset
from recordsmith.errors import PipelineError
from recordsmith.loader.engine.batch_ranges import BatchRanges
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.mixture_changes import (
    changes_after,
    changes_json,
    plan_as_saved,
    read_changes,
    shares_json,
)
from recordsmith.loader.engine.rest_of_epoch import mixture_of, rest_of_epoch, rows_fed, rows_of
from recordsmith.loader.order.mixed import Changes, Mixed
from recordsmith.loader.order.record_order import ENDLESS, Shard
from recordsmith.loader.plan import PACKED_ROWS, Batching, Plan

__all__ = ["place_in_state", "shown_verb", "state_of_place"]

_FORMAT = "recordsmith-loader"
_VERSION = 2
_MOST_EPOCHS = 1 << 32
_MOST_BATCHES = 1 << 53  # of an endless epoch
_MOST_RANKS = 1 << 31
_SIZES = {"batch": "n", "padded_batch": "n", "bucket_batch": "sizes"}  # the setting of each verb that is the batch size


def state_of_place(plan: Plan, place: Cursor) -> dict[str, Any]:
    """Return a place in what a plan feeds, JSON-ready."""
    mixture = mixture_of(plan)
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "chain": _fingerprint(plan),
        "layout": _layout(plan),
        "epoch": place.epoch,
        "batch": place.batch,
        "position": place.position,
        **({"waiting": list(place.waiting)} if place.waiting else {}),
        **({"rows_before": place.rows_before} if place.rows_before else {}),
        **({} if mixture is None else {"shares": shares_json(mixture)}),
        **({"changes": changes_json(place.changes)} if place.changes else {}),
    }


def place_in_state(plan: Plan, state: Mapping[str, Any]) -> Cursor:
    """Return the place that a state names, or explain why it does not fit this plan."""
    if not isinstance(state, Mapping) or state.get("format") != _FORMAT or state.get("version") != _VERSION:
        raise PipelineError("This is not the state of a loader.", found=repr(state)[:200])
    theirs = state.get("chain")
    if not isinstance(theirs, Mapping):
        raise _damaged("chain", theirs, "what the state is of")
    _check_chain(plan, theirs)
    epoch = _whole_number(state, "epoch", 0, _MOST_EPOCHS)
    before, changes = (plan, ()) if mixture_of(plan) is None else _saved_mixture(plan, state)
    saved = _saved_plan(before, state)
    start = Cursor(epoch, changes=changes)
    most = _most_rows(rest_of_epoch(saved, start))
    if "rows_before" in state:
        start = replace(start, rows_before=_whole_number(state, "rows_before", 1, most))
    place = _place(rest_of_epoch(saved, start), state, epoch)
    place = replace(place, rows_before=start.rows_before, changes=changes)
    return _in_layout(plan, saved, place)


def _check_chain(plan: Plan, theirs: Mapping[str, Any]) -> None:
    """Refuse the state of another chain or of other data."""
    ours = _fingerprint(plan)
    their_data = theirs.get("data")
    if isinstance(ours["data"], list) and isinstance(their_data, list) and their_data:
        ours["data"] = ours["data"][: len(their_data)]  # sources may have been added
    changed = [part for part in ours if ours[part] != theirs.get(part)]
    if not changed:
        return
    advice = "Build the same chain over the same files; workers, prefetch and the batch size may differ."
    if "shard(" in ours["verbs"]:
        advice += " The number of ranks may differ if .shard() is the last verb that chooses or orders rows."
    raise PipelineError(
        "The state belongs to other data or to another chain.",
        found=", ".join(f"{part} {ours[part]}" for part in changed),
        expected=", ".join(f"{part} {theirs.get(part)}" for part in changed),
        advice=advice,
    )


def _place(plan: Plan, state: Mapping[str, Any], epoch: int) -> Cursor:
    """Return the place of a state in the plan that it was saved with."""
    if plan.is_streamed:
        return _streamed_place(plan, state, epoch)
    most = 0 if plan.batching is None else _most_batches(plan)
    batch = _whole_number(state, "batch", 0, most)
    _whole_number(state, "position", 0, 0)
    return Cursor(epoch, batch, 0, _waiting(state, 0, 0))


# --- other batch sizes and other numbers of ranks ---


def _layout(plan: Plan) -> dict[str, Any]:
    """Return how rows are divided among ranks and into batches."""
    order = plan.order
    ranks = (order.world, order.remainder) if isinstance(order, Shard) else (1, "even")
    sizes = [] if plan.batching is None else list(plan.batching.sizes)
    return {"world": ranks[0], "remainder": ranks[1], "sizes": sizes}


def _saved_plan(plan: Plan, state: Mapping[str, Any]) -> Plan:
    """Return the plan as it was when a state was saved: for other ranks, and with batches of other sizes."""
    layout, ours = state.get("layout"), _layout(plan)
    if not isinstance(layout, Mapping) or set(layout) != set(ours):
        raise _damaged("layout", layout, "a world, a remainder and sizes")
    if layout == ours:
        return plan
    world = _whole_number(layout, "world", 1, _MOST_RANKS)
    sizes = layout["sizes"]
    sound = isinstance(sizes, Sequence) and len(sizes) == len(ours["sizes"])
    if not sound or not all(type(size) is int and 0 < size < ENDLESS for size in sizes):
        raise _damaged("sizes", sizes, f"{len(ours['sizes'])} numbers of rows, at least 1")
    if layout["remainder"] not in ("even", "drop", "repeat"):
        raise _damaged("remainder", layout["remainder"], "'even', 'drop' or 'repeat'")
    order, even = plan.order, plan.even_world
    inner = order.inner if isinstance(order, Shard) else order
    if (world, layout["remainder"]) != (ours["world"], ours["remainder"]):
        if inner.length < world and layout["remainder"] != "repeat":
            raise _damaged("world", world, f"at most {inner.length} ranks")
        order = Shard(inner, 0, world, layout["remainder"])
        is_even = layout["remainder"] == "even" and inner.length < ENDLESS and not plan.drops_rows
        even = (world, inner.length) if is_even else None
    batching = plan.batching and _Sized(max(sizes), plan.batching.drop_last, tuple(sizes))
    return replace(plan, order=order, even_world=even, batching=batching)


@dataclass(frozen=True)
class _Sized(Batching):
    """Batches of other sizes, to count with."""

    bucket_sizes: tuple[int, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows in a batch of each bucket."""
        return self.bucket_sizes


def _in_layout(plan: Plan, saved: Plan, place: Cursor) -> Cursor:
    """Return a place in the plan that a state was saved with as one in a plan of another layout."""
    ours, theirs = _layout(plan), _layout(saved)
    mixtures = [None if one is None else one.phases for one in map(mixture_of, (plan, saved))]
    is_mixed_otherwise = mixtures[0] != mixtures[1]
    if place.batch == 0 and not place.rows_before:
        return Cursor(place.epoch) if is_mixed_otherwise else place
    if ours == theirs and not is_mixed_otherwise:
        return place
    if plan.batches_taken != (0, None):
        raise PipelineError(
            "The state was saved with another batch size, number of ranks or mixture, and this chain counts batches.",
            found=str(ours),
            expected=str(theirs),
            advice="Leave out .take() and .skip() after .batch(), or continue as it was saved.",
        )
    if saved.is_streamed:
        if ours["world"] != theirs["world"] and place.batch:
            raise PipelineError(
                "The state was saved with another number of ranks, and it is not known which rows the other ranks have "
                "fed: how many a filter or a bucket has let through differs from rank to rank.",
                found=f"{ours['world']} ranks",
                expected=f"{theirs['world']} ranks",
                advice="Continue this epoch with as many ranks as before, or begin the next one.",
            )
        return place
    fed = place.rows_before + rows_fed(rest_of_epoch(saved, place), place.batch)
    changes = changes_after(saved, place.changes, fed) if is_mixed_otherwise else place.changes
    left = rows_of(rest_of_epoch(plan, Cursor(changes=changes))).length - fed
    if left <= 0:
        return Cursor(place.epoch + 1)
    _check_rest(plan, left)
    return Cursor(place.epoch, rows_before=fed, changes=changes)


def _check_rest(plan: Plan, left: int) -> None:
    """Refuse a rest of an epoch that cannot be divided into the same number of batches for each rank."""
    world, size = _layout(plan)["world"], plan.batched().size
    uneven = plan.even_world is not None and size == 1 and left % world and not plan.batched().drop_last
    if left < ENDLESS and (uneven or (left < world and plan.even_world is not None)):
        raise PipelineError(
            "What is left of the epoch cannot be divided among the ranks: some would get an empty batch.",
            found=f"{left} rows for {world} ranks, in batches of {size}",
            advice="Continue this epoch with fewer ranks or larger batches, or with "
            ".shard(rank, world, remainder='repeat').",
        )


# --- mixtures ---


def _sources(plan: Plan, mixture: Mixed) -> list[str]:
    """Return what each source of a mixture is recognised by."""
    starts = np.cumsum([0, *(len(dataset) for dataset in plan.datasets[:-1])])
    owners = np.searchsorted(mixture.shifts, starts, side="right") - 1
    datasets: list[list[Any]] = [[] for _ in mixture.shifts]
    for owner, dataset in zip(owners.tolist(), plan.datasets, strict=True):
        datasets[owner].append(_identity(dataset))
    return [_digest(one) for one in datasets]


def _saved_mixture(plan: Plan, state: Mapping[str, Any]) -> tuple[Plan, Changes]:
    """Return the plan with the shares and sources that a state was saved with, and what they were changed from."""
    before = plan_as_saved(plan, state.get("shares"))
    if before is None:
        raise _damaged("shares", state.get("shares"), "rows, and the shares of the sources from there on")
    changes = read_changes(before, state["changes"]) if "changes" in state else ()
    if changes is None:
        raise _damaged("changes", state["changes"], "shares, and for how many rows they held")
    return before, changes


# --- the parts of a state ---


def _streamed_place(plan: Plan, state: Mapping[str, Any], epoch: int) -> Cursor:
    """Return a place where rows are left out, or wait in buckets: it has a position too."""
    length = min(plan.order.length * (1 if plan.window is None else PACKED_ROWS), _MOST_BATCHES)
    batch = _whole_number(state, "batch", 0, length)
    sizes = (1,) if plan.batching is None else plan.batching.sizes
    position = _whole_number(state, "position", min(batch, length), length if batch else 0)
    most = 0 if len(sizes) == 1 else min(sum(size - 1 for size in sizes), position - batch)
    return Cursor(epoch, batch, position, _waiting(state, position, most))


def _most_batches(plan: Plan) -> int:
    if plan.order.length >= ENDLESS:
        return _MOST_BATCHES
    start, stop = plan.batches_taken
    count = BatchRanges(plan).count
    return max(0, min(count, count if stop is None else stop) - start)


def _most_rows(plan: Plan) -> int:
    order = plan.order.inner if isinstance(plan.order, Shard) else plan.order
    return min(order.length - 1, _MOST_BATCHES)


def _waiting(state: Mapping[str, Any], below: int, most: int) -> tuple[int, ...]:
    waiting = state.get("waiting", [])
    sound = isinstance(waiting, (list, tuple)) and len(waiting) <= most
    sound = sound and all(type(row) is int and 0 <= row < below for row in waiting)
    if not sound or any(row >= after for row, after in pairwise(waiting)):
        raise _damaged("waiting", waiting, f"at most {most} rising row positions below {below}")
    return tuple(waiting)


def _whole_number(state: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = state.get(name)
    if type(value) is not int or not least <= value <= most:
        raise _damaged(name, value, str(least) if least == most else f"an integer from {least} to {most}")
    return value


def _damaged(field: str, found: object, expected: str) -> PipelineError:
    return PipelineError(
        f"The state is damaged: {field!r} is not what this chain can have reached.",
        found=repr(found)[:200],
        expected=expected,
        advice="Use a state as Loader.state() returned it.",
    )


def _fingerprint(plan: Plan) -> dict[str, Any]:
    mixture = mixture_of(plan)
    verbs = [
        {name: value for name, value in verb.items() if name != _SIZES.get(verb["verb"])}
        for verb in plan.verbs
        if verb["verb"] != "prefetch"
    ]
    if isinstance(plan.order, Shard):
        del verbs[max(place for place, verb in enumerate(verbs) if verb["verb"] == "shard")]
    if mixture is not None:  # shares may change, and sources may be added
        kept = ("verb", "seed", "stop")
        verbs = [verb if verb["verb"] != "mix" else {name: verb[name] for name in kept} for verb in verbs]
    return {
        "verbs": " ".join(map(shown_verb, verbs)),
        "data": _digest([_identity(dataset) for dataset in plan.datasets])
        if mixture is None
        else _sources(plan, mixture),
    }


def _digest(data: Any) -> str:
    return hashlib.blake2b(json.dumps(data).encode(), digest_size=8).hexdigest()


def _identity(dataset: StoredDataset) -> list[Any]:
    rows = dataset.record_range()
    indexes = dataset.places().indexes
    files = [[index.path.rsplit("/", 1)[-1], index.records, index.content] for index in indexes]
    return [files, [rows.start, rows.stop, rows.step]]


def shown_verb(verb: Mapping[str, Any]) -> str:
    """Return a verb as it was written.

    >>> shown_verb({"verb": "batch", "size": 32})
    'batch(size=32)'
    """
    settings = ", ".join(f"{name}={_short(value)}" for name, value in verb.items() if name != "verb")
    return f"{verb['verb']}({settings})"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=lambda x: np.asarray(x).tolist())
