"""Looks at the boxes of a dataset: those that are outside of their image, have swapped corners, or no area.

Boxes are known by the schema (rs.Boxes), or by the stored names of the TensorFlow Object Detection API: a name that
ends in /ymin, with /xmin, /ymax and /xmax as well. Their four numbers belong together, so they are read again, alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import BoxFacts, ShardFacts
from recordsmith.facts.from_core.schema_mismatches import record_batches
from recordsmith.facts.value_facts import FeatureFacts, Place
from recordsmith.schema import Boxes, Schema
from recordsmith.schema.features.detection.geometry import BOX_SLACK
from recordsmith.schema.native import compile_plan
from recordsmith.workers.progress_display import OnPhase

__all__ = ["boxes_of"]

Bools = npt.NDArray[np.bool_]

_MOST_PLACES = 5
_IN_PIXELS = 2.0  # a coordinate above cannot be a part of the image


def boxes_of(
    schema: Schema | None, features: Sequence[FeatureFacts], shards: Sequence[ShardFacts], progress: OnPhase
) -> tuple[BoxFacts, ...]:
    """Return what is known about the boxes of each feature that has some.

    Args:
        schema: what records should hold, if it is declared.
        features: the features, as facts.
        shards: the files.
        progress: called now and then with the phase, the records done and those in all.
    """
    found = []
    in_all = sum(shard.records for shard in shards)
    for name, feature in _box_features(schema, features).items():
        tally = _Tally(Schema({name: feature}))
        done = 0
        for shard in shards:
            for batch in record_batches(shard.path):
                tally.add(shard.path, batch)
                done += len(batch)
                progress(f"reading {name!r} again", min(done, in_all), in_all)
        found.append(tally.facts(name))
    return tuple(found)


def _box_features(schema: Schema | None, features: Sequence[FeatureFacts]) -> dict[str, Boxes]:
    floats = {feature.name for feature in features if not feature.in_steps and set(feature.kinds) == {"float"}}
    found = {}
    for name, feature in (schema or {}).items():
        if isinstance(feature, Boxes) and {column.key for column in feature.plan(name)} & floats:
            found[name] = Boxes(split=feature.split, optional=True)
    for key in sorted(floats):
        name, _, last = key.rpartition("/")
        if last == "ymin" and name not in found and all(f"{name}/{side}" in floats for side in Boxes.coordinates):
            found[name] = Boxes(optional=True)
    return found


@dataclass(slots=True)
class _Kind:
    """The boxes with one problem."""

    boxes: int = 0
    records: int = 0
    places: list[Place] = field(default_factory=list)

    def add(self, wrong: Bools, boxes: npt.NDArray[np.float32], path: str, record: int) -> None:
        count = int(wrong.sum())
        if not count:
            return
        self.boxes += count
        self.records += 1
        if len(self.places) < _MOST_PLACES:
            first = boxes[int(wrong.argmax())].tolist()
            words = ", ".join(f"{side} {value:.4g}" for side, value in zip(Boxes.coordinates, first, strict=True))
            self.places.append(Place(path, record, None, words))


class _Tally:
    """Counts the boxes of one feature."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._boxes = self._in_pixels = 0
        self._outside, self._swapped, self._empty = _Kind(), _Kind(), _Kind()

    def add(self, path: str, records: list[tuple[int, bytes]]) -> None:
        for number, boxes in self._decoded(records):
            finite = np.all(np.isfinite(boxes), axis=1)  # V001 reports the others
            swapped: Bools = finite & np.any(boxes[:, :2] > boxes[:, 2:], axis=1)
            outside: Bools = finite & ~swapped & np.any((boxes < -BOX_SLACK) | (boxes > 1 + BOX_SLACK), axis=1)
            empty: Bools = finite & ~swapped & np.any(boxes[:, :2] == boxes[:, 2:], axis=1)
            self._boxes += len(boxes)
            self._in_pixels += int((finite & (boxes > _IN_PIXELS).any(axis=1)).sum())
            self._outside.add(outside, boxes, path, number)
            self._swapped.add(swapped, boxes, path, number)
            self._empty.add(empty, boxes, path, number)

    def _decoded(self, records: list[tuple[int, bytes]]) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        """Give the boxes of each record; what does not fit is left out, as other rules report it."""
        try:
            parts = _core.decode_payloads(compile_plan(self._schema), [payload for _, payload in records])
            (column,) = self._schema.assemble(parts).values()
        except RecordsmithError:
            if len(records) > 1:
                for record in records:
                    yield from self._decoded([record])
            return
        for (number, _), boxes in zip(records, column, strict=True):
            if boxes is not None and len(boxes):
                yield number, boxes

    def facts(self, name: str) -> BoxFacts:
        kinds = {"outside": self._outside, "swapped": self._swapped, "empty": self._empty}
        return BoxFacts(
            name,
            self._boxes,
            self._in_pixels,
            {what: kind.boxes for what, kind in kinds.items()},
            {what: kind.records for what, kind in kinds.items()},
            {what: tuple(kind.places) for what, kind in kinds.items()},
        )
