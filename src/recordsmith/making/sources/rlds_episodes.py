"""Episodes of robots as RLDS stores them (Open X-Embodiment): a row for each episode, or for each step."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from recordsmith.columns import Ragged
from recordsmith.columns.any_column import row_of
from recordsmith.dataset.layout import DatasetLayout, find_layout
from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.formats.files.source_files import PathLike
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.making.sources.tfrecord_files import TFRecordsSource
from recordsmith.schema import Feature, Scalar, Schema, Sequence, Tensor, Text
from recordsmith.schema.export.tfds import STEPS, is_rlds
from recordsmith.schema.features.strings import StringFeature

__all__ = ["rlds"]

_EPISODE, _STEP = "episode", "step"
_FORMS = ("episodes", "steps")


def rlds(
    folder: PathLike | Iterable[PathLike],
    *,
    split: str | None = None,
    rows: Literal["episodes", "steps"] = "episodes",
    label: str | None = None,
) -> RldsSource:
    """Read episodes of robots, as RLDS and Open X-Embodiment store them.

    Args:
        folder: a folder of TensorFlow Datasets whose records have `steps`, or a dataset with `steps/is_first`.
        split: only the files of this split.
        rows: "episodes" keeps episodes whole, with lists below `steps/`: TFDS opens the result as RLDS again. "steps"
            makes a row of each step: `steps/action` becomes `action`, what belongs to the episode is repeated, and
            `episode` and `step` say where the row comes from (use group="episode" for splits).
        label: the feature that is the label.
    """
    if rows not in _FORMS:
        raise PipelineError(f"Unknown rows {rows!r}.{did_you_mean(str(rows), _FORMS)}", expected=list_names(_FORMS))
    return RldsSource(find_layout(folder).select(split), split, label, rows)


class RldsSource(TFRecordsSource):
    """What `rlds` returns."""

    kind: ClassVar[str] = "rlds"

    def __init__(self, layout: DatasetLayout, split: str | None, label: str | None, rows: str) -> None:
        super().__init__(layout, split, None, label, said={"rows": rows})
        self._by_step = rows == "steps"
        if self._by_step:
            self.provenance = (_EPISODE, _STEP)

    def schema(self) -> Schema:
        """Return the schema of episodes, or of steps."""
        episodes = self._schema
        if not is_rlds(episodes):
            raise PipelineError(
                "These records are not episodes of RLDS.",
                path=self._files[0].path if self._files else None,
                found=list_names(episodes),
                expected="a feature 'steps/is_first', and a list for each feature below 'steps/'",
                advice="Open them with rs.sources.tfrecords.",
            )
        return _schema_of_steps(episodes) if self._by_step else episodes

    def chunks(self) -> Iterator[Chunk]:
        """Give the chunks of the files; in each, episodes are cut into steps where that was asked for."""
        schema = self.schema()
        for chunk in self._chunks(self._schema):
            yield StepsChunk(chunk, schema, chunk.source_bytes) if self._by_step else chunk

    @property
    def row_count(self) -> int | None:
        """How many rows there are; None for steps, which are not counted yet."""
        return None if self._by_step else super().row_count

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of a chunk's file."""
        return super().split_of(chunk.episodes if isinstance(chunk, StepsChunk) else chunk)


def _schema_of_steps(episodes: Schema) -> Schema:
    features: dict[str, Feature] = {
        _EPISODE: Text(description="the file and the number of the episode"),
        _STEP: Scalar("int64", description="the number of the step in its episode"),
    }
    for name, feature in episodes.items():
        own = name.removeprefix(STEPS)
        if own in features:
            raise PipelineError(
                f"Two features would have the name {own!r}.", found=list_names(episodes), advice="Use rows='episodes'."
            )
        features[own] = _of_one_step(feature) if name.startswith(STEPS) else feature
    return Schema(features)


def _of_one_step(feature: Feature) -> Feature:
    """Return the feature of one entry of a list."""
    if isinstance(feature, Sequence):
        return feature.feature
    if isinstance(feature, StringFeature):
        return type(feature)(description=feature.description)
    assert isinstance(feature, Tensor)  # noqa: S101 - for the type checker: `is_rlds` said so
    rest = feature.shape[1:]
    said: dict[str, Any] = {"storage": feature.storage, "description": feature.description}
    return Tensor(feature.dtype, rest, **said) if rest else Scalar(feature.dtype, **said)


@dataclass(frozen=True, slots=True)
class StepsChunk(Chunk):
    """Some episodes, to be cut into steps."""

    episodes: Chunk
    schema: Schema
    source_bytes: int

    def origin(self) -> str | None:
        """Return the file."""
        return self.episodes.origin()

    def load(self) -> Loaded:
        """Read the episodes; one whose lists differ in length is a reject."""
        loaded = self.episodes.load()
        columns, places = loaded.columns, [loaded.places.of(row) for row in range(loaded.rows)]
        lists = {name: column for name, column in columns.items() if name.startswith(STEPS)}
        lengths = {name: np.diff(column.offsets) for name, column in lists.items()}
        counts = next(iter(lengths.values()))
        wrong = np.any([other != counts for other in lengths.values()], axis=0)
        rejects = list(loaded.rejects)
        for row in np.flatnonzero(wrong).tolist():
            found = ", ".join(f"{name} {int(of[row])}" for name, of in lengths.items())
            rejects.append(Reject(places[row], None, None, f"The lists of its steps differ in length: {found}."[:500]))
        kept = np.flatnonzero(~wrong)
        counts = counts[kept]
        cut: dict[str, Any] = {}
        for name, column in columns.items():
            if name in lists:
                chosen: Ragged = column[kept]
                cut[name.removeprefix(STEPS)] = chosen.values[int(chosen.offsets[0]) : int(chosen.offsets[-1])]
            else:
                cut[name] = [row_of(column, row) for row in np.repeat(kept, counts).tolist()]
        names = [_episode(places[row]) for row in kept.tolist()]
        cut[_EPISODE] = [name for name, count in zip(names, counts.tolist(), strict=True) for _ in range(count)]
        steps = np.concatenate([np.arange(count) for count in counts.tolist()] or [np.empty(0, np.int64)])
        cut[_STEP] = steps.astype(np.int64)
        return Loaded({name: cut[name] for name in self.schema}, len(steps), _StepPlaces(cut[_EPISODE], steps), rejects)


def _episode(place: str) -> str:
    """Name an episode by its file, without the folder, and its number."""
    path, _, record = place.rpartition(", ")
    return f"{os.path.basename(path)}, {record}"


@dataclass(frozen=True, slots=True)
class _StepPlaces:
    episodes: list[str]
    steps: Any

    def of(self, row: int) -> str:
        return f"{self.episodes[row]}, step {int(self.steps[row])}"
