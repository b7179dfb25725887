"""Records with equal content, within a split and across splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recordsmith.facts.dataset_facts import DuplicateFacts, DuplicateGroup
from recordsmith.facts.survey_places import FilePlaces

__all__ = ["duplicates_of"]


def duplicates_of(
    counted: dict[str, Any],
    splits: Sequence[str],
    places: FilePlaces,
    provenance: Sequence[str],
    contradictions: dict[str, Any] | None = None,
) -> DuplicateFacts:
    """Return what the core found to be there more than once.

    Args:
        counted: what the core found, with splits by number.
        splits: their names; "" where there are none.
        places: what names files.
        provenance: the features that were left out of the comparison.
        contradictions: what the core found to be there more than once under different labels.

    >>> counted = {"within": [1], "across": [], "groups": [(2, [(0, 0, 0), (0, 7, 0)], [0], False)]}
    >>> duplicates_of(counted, ["train"], FilePlaces(["a.tfrecord"]), []).within
    {'train': 1}
    """
    differing = contradictions or {"within": [0] * len(splits), "across": [], "groups": []}
    return DuplicateFacts(
        within=_within(counted, splits),
        across=_across(counted, splits),
        groups=_groups(counted, splits, places, provenance),
        left_out=tuple(provenance),
        contradictory=_within(differing, splits),
        contradictory_across=_across(differing, splits),
        contradictory_groups=_groups(differing, splits, places, ()),
    )


def _within(counted: dict[str, Any], splits: Sequence[str]) -> dict[str, int]:
    return {name: count for name, count in zip(splits, counted["within"], strict=True) if count}


def _across(counted: dict[str, Any], splits: Sequence[str]) -> dict[tuple[str, str], int]:
    return {(splits[first], splits[second]): count for first, second, count in counted["across"]}


def _groups(
    counted: dict[str, Any], splits: Sequence[str], places: FilePlaces, provenance: Sequence[str]
) -> tuple[DuplicateGroup, ...]:
    return tuple(
        DuplicateGroup(
            # The core keeps no offsets of them.
            places=tuple(places.place_of((file, record, None)) for file, record, _ in found),
            count=count,
            splits=tuple(splits[split] for split in of_splits if splits[split]),
            but_for=tuple(provenance) if differ else (),
        )
        for count, found, of_splits, differ in counted["groups"]
    )
