"""Which rows must stay together in one split: those of one group, and those with the same content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from recordsmith.keyed_random import Uint64s, priorities
from recordsmith.run.external_sort import sorted_blocks
from recordsmith.run.splits.splitting import UnitBlock
from recordsmith.run.staging import Staging

__all__ = ["unit_blocks"]


def unit_blocks(staging: Staging, *, grouped: bool, stratified: bool) -> Callable[[], Iterable[UnitBlock]]:
    """Return a function that gives, block by block, the unit and the class of each staged row.

    Without groups a unit is the content of a row, without its label: one image under two labels would be a leak too,
    and its label no better for being in two splits. With groups it is the group; and groups that have a row in common
    are one unit, because a row in two splits would be a leak whichever groups it is counted to.
    """
    joined = _joined_groups(staging) if grouped else {}

    def blocks() -> Iterator[UnitBlock]:
        for keys in staging.key_blocks():
            units = keys["group"] if grouped else keys["content"]
            classes = keys["stratum"].astype(np.int64) if stratified else np.full(len(keys), -1, np.int64)
            yield _replaced(units, joined), classes

    return blocks


def _joined_groups(staging: Staging) -> dict[int, int]:
    """Find groups that share a row, and name one of them for all: group -> the group that stands for it."""
    leaders: dict[int, int] = {}

    def leader(group: int) -> int:
        while (above := leaders.get(group, group)) != group:
            group = above
        return group

    last = np.zeros((0, 2), np.uint64)  # rows of one content may be in several blocks
    for block in sorted_blocks(_content_entries(staging), staging.rows, staging.path("sort-groups")):
        contents, groups = np.concatenate([last, block]).T
        last = block[-1:]
        same = np.flatnonzero((contents[1:] == contents[:-1]) & (groups[1:] != groups[:-1]))
        for one, other in zip(groups[same].tolist(), groups[same + 1].tolist(), strict=True):
            first, second = sorted((leader(one), leader(other)))
            leaders[second] = first
    return {group: leader(group) for group in leaders}


def _content_entries(staging: Staging) -> Iterator[Uint64s]:
    for keys in staging.key_blocks():
        yield np.stack([priorities(np.ascontiguousarray(keys["content"]), 0), keys["group"]], axis=1)


def _replaced(units: Uint64s, joined: dict[int, int]) -> Uint64s:
    if not joined:
        return np.ascontiguousarray(units)
    members = np.array(sorted(joined), np.uint64)
    leaders = np.array([joined[member] for member in members.tolist()], np.uint64)
    places = np.searchsorted(members, units).clip(max=len(members) - 1)
    return np.where(members[places] == units, leaders[places], units)
