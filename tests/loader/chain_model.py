"""A model of chains that is too simple to be wrong: lists that are permuted, cut and joined.

A chain is a tuple of verbs, each a tuple of its name and its settings; the first says which rows are opened. The model
knows nothing of the loader but its sources of randomness: keys of streams and the permutations that belong to them.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.keyed_random import stream_key

Row = tuple[int, int]  # the number of a row, and the epoch that its random streams count
Chain = tuple[tuple[Any, ...], ...]

AGAIN = 1_000_003  # between the epochs of rows that are gone through twice in one
HORIZON = 120  # so many rows, or batches, are looked at of what has no end
WINDOW = 8  # rows that a mix deals at a time: see small_pieces


class BeyondHorizonError(Exception):
    """A chain without end is to be looked at farther than the model sees."""


def is_endless(chain: Chain) -> bool:
    """Say whether rows or batches come for ever."""
    verb, *settings = chain[-1]
    if verb == "open" or (verb in ("take", "take batches") and settings[0] < HORIZON):
        return False
    return (settings == [None] and verb in ("repeat", "repeat batches")) or is_endless(chain[:-1])


@lru_cache(maxsize=4096)
def rows_of(chain: Chain, epoch: int, horizon: int = HORIZON) -> list[Row]:
    """Return the rows of an epoch, before they are batched; of what has no end, so many at least."""
    (verb, *settings), before = chain[-1], chain[:-1]
    if verb == "open":
        return [(n, epoch) for n in opened(*settings)]
    if verb == "repeat":
        far = partial(rows_of, horizon=horizon)
        return repeated(far, before, epoch, 1 if is_endless(before) else settings[0], settings[0], horizon)
    if verb == "balance":
        return balanced(before, epoch, *settings)
    if verb == "mix":
        return mixed(before, epoch, *settings)
    rows = rows_of(before, epoch, horizon * (settings[1] if verb == "shard" else 1))
    if verb == "shuffle":
        seed, buffer, reshuffle = settings
        again = epoch if reshuffle else 0
        if buffer is None:
            return permuted(rows, seed, f"shuffle/{again}")
        stream = _core.BufferShuffle(len(rows), buffer, stream_key(seed, f"buffer/{again}"))
        return [rows[place] for place in stream.next(len(rows)).tolist()]
    if verb == "shard":
        rank, world, remainder = settings
        if remainder == "drop":
            rows = rows[: len(rows) // world * world]
        if remainder == "repeat":
            rows = [rows[place % len(rows)] for place in range(-(-len(rows) // world) * world)]
        return rows[rank::world]
    if verb == "filter":
        return [row for row in rows if row[0] % settings[0] != 0]
    if verb == "take":
        return rows[: settings[0]]
    if verb == "skip" and settings[0] >= HORIZON and is_endless(before):
        raise BeyondHorizonError
    return rows[settings[0] :] if verb == "skip" else rows


def opened(size: int, start: int, step: int) -> range:
    """Return the numbers of the rows that a chain begins with."""
    return range(size)[start::step]


def permuted(rows: list[Any], seed: int, purpose: str) -> list[Any]:
    """Return the rows in the order of a random stream."""
    places = _core.Permutation(len(rows), stream_key(seed, purpose)).at(np.arange(len(rows)))
    return [rows[place] for place in places.tolist()]


def repeated(
    items_of: Any, before: Chain, epoch: int, turns: int | None, times: int | None, horizon: int = HORIZON
) -> list[Any]:
    """Return rows or batches of several epochs, or as many as are looked at."""
    items: list[Any] = []
    for turn in range(horizon if turns is None else turns):
        items += items_of(before, epoch * (times or 1) + turn)
        if turns is None and len(items) >= horizon:
            break
    return items


def balanced(before: Chain, epoch: int, strategy: str, seed: int) -> list[Row]:
    """Return every class as often as the largest or the smallest one."""
    classes: dict[int, list[int]] = {label: [] for label in range(3)}
    for n, _ in rows_of(before, epoch):
        classes[n % 3].append(n)
    kept = [members for members in classes.values() if members]
    target = (max if strategy == "oversample" else min)(map(len, kept))
    rows: list[Row] = []
    for code, members in enumerate(kept):
        turns = range(-(-target // len(members)))
        again = [(n, epoch + t * AGAIN) for t in turns for n in permuted(members, seed, f"balance/{epoch}/{code}/{t}")]
        rows += again[:target]
    return permuted(rows, seed, f"balance/{epoch}")


def mixed(
    before: Chain, epoch: int, others: tuple[Chain, ...], weights: tuple[int, ...], seed: int, stop: str
) -> list[Row]:
    """Return rows of several chains, dealt some at a time."""
    sources, rows = [before, *others], []
    lengths = [len(rows_of(source, epoch)) for source in sources]
    nearest = [rounded(length * sum(weights), weight) for length, weight in zip(lengths, weights, strict=True)]
    total = min(nearest) if stop == "first" else max(nearest)
    while any(d < n if stop == "all" else d > n for d, n in zip(dealt(weights, total), lengths, strict=True)):
        total += 1 if stop == "all" else -1
    for window, first in enumerate(range(0, total, WINDOW)):
        pool: list[Row] = []
        ends = dealt(weights, min(first + WINDOW, total))
        for source, start, end in zip(sources, dealt(weights, first), ends, strict=True):
            taken: list[Row] = []
            turn = 0
            while len(taken) < end:
                taken += rows_of(source, epoch + turn * AGAIN)
                turn += 1
            pool += taken[start:end]
        rows += permuted(pool, seed, f"mix/{epoch}/{window}")
    return rows


def dealt(weights: tuple[int, ...], rows: int) -> list[int]:
    """Return how many of so many rows each source gives: halved and halved again."""
    if len(weights) == 1:
        return [rows]
    half = len(weights) // 2
    left = rounded(rows * sum(weights[:half]), sum(weights))
    return dealt(weights[:half], left) + dealt(weights[half:], rows - left)


def rounded(numerator: int, denominator: int) -> int:
    """Return the whole number that is nearest to a fraction."""
    return (2 * numerator + denominator) // (2 * denominator)


def batches_of(chain: Chain, epoch: int) -> list[list[Row]]:
    """Return the batches of an epoch."""
    (verb, *settings), before = chain[-1], chain[:-1]
    if verb == "take batches":
        return batches_of(before, epoch)[: settings[0]]
    if verb == "skip batches":
        return batches_of(before, epoch)[settings[0] :]
    if verb == "repeat batches":
        return repeated(batches_of, before, epoch, 1 if is_endless(before) else settings[0], settings[0])
    # A filter leaves rows out when they are read: a shuffle after it has put them into their order with all others.
    filters = tuple(step for step in before if step[0] == "filter")
    rows = rows_of((*(step for step in before if step[0] != "filter"), *filters), epoch)
    if verb == "bucket_batch":
        return bucketed(rows, *settings)
    n, drop_last = settings
    batches = [rows[start : start + n] for start in range(0, len(rows), n)]
    ranks = rows_of_ranks(before)
    if ranks and drop_last:
        return batches[: min(ranks) // n]
    if ranks and len(batches) < -(-max(ranks) // n):  # the last row makes one more batch
        return [*batches[:-1], batches[-1][:-1], batches[-1][-1:]]
    return [batch for batch in batches if len(batch) == n or not drop_last]


def rows_of_ranks(before: Chain) -> list[int]:
    """Return how many rows each rank has, if all are to have as many batches."""
    for place in range(len(before) - 1, 0, -1):
        verb, *settings = before[place]
        if verb == "shard":
            if settings[2] != "even" or is_endless(before[:place]):
                return []
            whole = rows_of(before[:place], 0)
            return [len(whole[rank :: settings[1]]) for rank in range(settings[1])]
        if verb not in ("shuffle", "map"):
            return []
    return []


def bucketed(rows: list[Row], boundaries: tuple[int, ...], sizes: tuple[int, ...], drop_last: bool) -> list[list[Row]]:  # noqa: FBT001 - a setting
    """Return batches of rows of similar length: that of row n is n % 5."""
    waiting: list[list[Row]] = [[] for _ in sizes]
    batches = []
    for row in rows:
        bucket = sum(row[0] % 5 > boundary for boundary in boundaries)
        waiting[bucket].append(row)
        if len(waiting[bucket]) == sizes[bucket]:
            batches.append(waiting[bucket])
            waiting[bucket] = []
    return batches + [left for left in waiting if left and not drop_last]
