"""The state of a loader: where its consumer is, of which chain over which data, as plain JSON.

A state comes back from a file that anybody may have written. So every part of it is held against the chain before it is
used: a place that the chain cannot have reached is refused, and so is the state of other data. Data is recognised by
the names of its files, the rows that were chosen, and a digest of all records that the index keeps: it is the same for
every copy of the data, on any machine, and costs no reading.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from recordsmith.dataset import StoredDataset
from recordsmith.errors import PipelineError
from recordsmith.loader.engine.batch_ranges import BatchRanges
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.order.record_order import ENDLESS
from recordsmith.loader.plan import Plan

__all__ = ["place_in_state", "shown_verb", "state_of_place"]

_FORMAT = "recordsmith-loader"
_VERSION = 1
_MOST_EPOCHS = 1 << 32
_MOST_BATCHES = 1 << 53  # of an endless epoch


def state_of_place(plan: Plan, place: Cursor) -> dict[str, Any]:
    """Return a place in what a plan feeds, JSON-ready."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "chain": _fingerprint(plan),
        "epoch": place.epoch,
        "batch": place.batch,
        "position": place.position,
        **({"waiting": list(place.waiting)} if place.waiting else {}),
    }


def place_in_state(plan: Plan, state: Mapping[str, Any]) -> Cursor:
    """Return the place that a state names, or explain why it is none of this plan."""
    if not isinstance(state, Mapping) or state.get("format") != _FORMAT or state.get("version") != _VERSION:
        raise PipelineError("This is not the state of a loader.", found=repr(state)[:200])
    ours, theirs = _fingerprint(plan), state.get("chain")
    if not isinstance(theirs, Mapping):
        raise _damaged("chain", theirs, "what the state is of")
    if ours != theirs:
        changed = [part for part in ours if ours[part] != theirs.get(part)]
        raise PipelineError(
            "The state is that of other data or of another chain.",
            found=", ".join(f"{part} {ours[part]}" for part in changed),
            expected=", ".join(f"{part} {theirs.get(part)}" for part in changed),
            advice="Build the same chain over the same files; workers and prefetch may differ.",
        )
    epoch = _whole_number(state, "epoch", 0, _MOST_EPOCHS)
    if plan.is_streamed:
        return _streamed_place(plan, state, epoch)
    most = 0 if plan.batching is None else _most_batches(plan)
    batch = _whole_number(state, "batch", 0, most)
    _whole_number(state, "position", 0, 0)
    return Cursor(epoch, batch, 0, _waiting(state, 0, 0))


def _streamed_place(plan: Plan, state: Mapping[str, Any], epoch: int) -> Cursor:
    """Return a place where rows are left out, or wait in buckets: it has a position too."""
    length = min(plan.order.length, _MOST_BATCHES)
    batch = _whole_number(state, "batch", 0, length)
    sizes = (1,) if plan.batching is None else plan.batching.sizes
    size = sizes[0] if len(sizes) == 1 else 1
    position = _whole_number(state, "position", min(batch * size, length), length if batch else 0)
    most = 0 if len(sizes) == 1 else min(sum(size - 1 for size in sizes), position - batch)
    return Cursor(epoch, batch, position, _waiting(state, position, most))


def _most_batches(plan: Plan) -> int:
    if plan.order.length >= ENDLESS:
        return _MOST_BATCHES
    start, stop = plan.batches_taken
    count = BatchRanges(plan).count
    return max(0, min(count, count if stop is None else stop) - start)


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
        raise _damaged(name, value, str(least) if least == most else f"a whole number from {least} to {most}")
    return value


def _damaged(field: str, found: object, expected: str) -> PipelineError:
    return PipelineError(
        f"The state is damaged: {field!r} is not what this chain can have reached.",
        found=repr(found)[:200],
        expected=expected,
        advice="Use a state as Loader.state() returned it.",
    )


def _fingerprint(plan: Plan) -> dict[str, str]:
    data = json.dumps([_identity(dataset) for dataset in plan.datasets])
    return {
        "verbs": " ".join(shown_verb(verb) for verb in plan.verbs if verb["verb"] != "prefetch"),
        "data": hashlib.blake2b(data.encode(), digest_size=8).hexdigest(),
    }


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
