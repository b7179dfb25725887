"""Records with equal content, within a split and across splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recordsmith.facts.dataset_facts import DuplicateFacts, DuplicateGroup
from recordsmith.facts.survey_places import FilePlaces

__all__ = ["duplicates_of"]


def duplicates_of(
    counted: dict[str, Any], splits: Sequence[str], places: FilePlaces, provenance: Sequence[str]
) -> DuplicateFacts:
    """Return what the core found to be there more than once.

    Args:
        counted: what the core found, with splits by number.
        splits: their names; "" where there are none.
        places: what names files.
        provenance: the features that were left out of the comparison.

    >>> counted = {"within": [1], "across": [], "groups": [(2, [(0, 0, 0), (0, 7, 0)], [0], False)]}
    >>> duplicates_of(counted, ["train"], FilePlaces(["a.tfrecord"]), []).within
    {'train': 1}
    """
    return DuplicateFacts(
        within={name: count for name, count in zip(splits, counted["within"], strict=True) if count},
        across={(splits[first], splits[second]): count for first, second, count in counted["across"]},
        groups=tuple(
            DuplicateGroup(
                # The core keeps no offsets of them.
                places=tuple(places.place_of((file, record, None)) for file, record, _ in found),
                count=count,
                splits=tuple(splits[split] for split in of_splits if splits[split]),
                but_for=tuple(provenance) if differ else (),
            )
            for count, found, of_splits, differ in counted["groups"]
        ),
        left_out=tuple(provenance),
    )
