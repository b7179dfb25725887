"""Records with equal content, within a split and across splits."""

from __future__ import annotations

from collections.abc import Sequence

from recordsmith import _core
from recordsmith.facts.dataset_facts import DuplicateFacts, DuplicateGroup
from recordsmith.facts.from_core.survey_places import FilePlaces

__all__ = ["duplicates_of"]


def duplicates_of(
    counted: _core.DuplicateSummary,
    splits: Sequence[str],
    places: FilePlaces,
    provenance: Sequence[str],
    contradictions: _core.DuplicateSummary | None = None,
) -> DuplicateFacts:
    """Return what the core found to be there more than once.

    Args:
        counted: what the core found, with splits by number.
        splits: their names; "" where there are none.
        places: what names files.
        provenance: the features that were left out of the comparison.
        contradictions: what the core found to be there more than once under different labels.
    """
    differing = contradictions or _core.DuplicateSummary()
    return DuplicateFacts(
        within=_within(counted, splits),
        across=_across(counted, splits),
        groups=_groups(counted, splits, places, provenance),
        left_out=tuple(provenance),
        contradictory=_within(differing, splits),
        contradictory_across=_across(differing, splits),
        contradictory_groups=_groups(differing, splits, places, ()),
    )


def _within(counted: _core.DuplicateSummary, splits: Sequence[str]) -> dict[str, int]:
    return {name: count for name, count in zip(splits, counted.within, strict=False) if count}


def _across(counted: _core.DuplicateSummary, splits: Sequence[str]) -> dict[tuple[str, str], int]:
    return {(splits[first], splits[second]): count for (first, second), count in counted.across.items()}


def _groups(
    counted: _core.DuplicateSummary, splits: Sequence[str], places: FilePlaces, provenance: Sequence[str]
) -> tuple[DuplicateGroup, ...]:
    return tuple(
        DuplicateGroup(
            places=tuple(places.place_of((file, record, None)) for file, record in group.records),
            count=group.count,
            splits=tuple(splits[split] for split in group.splits if splits[split]),
            but_for=tuple(provenance) if group.payloads_differ else (),
        )
        for group in counted.groups
    )
