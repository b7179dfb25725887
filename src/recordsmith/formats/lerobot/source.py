"""LeRobot's episodes as the rows of a dataset, in the form of RLDS: below `steps/`, a list for each feature."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recordsmith.errors import PipelineError, SchemaError, import_extra
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files
from recordsmith.formats.images.options import describe_preparation, preparation_of
from recordsmith.formats.lerobot.layout import INFO, Episode, LeRobotFolder, StoredFeature, read_folder
from recordsmith.formats.source import Chunk, Loaded, NumberedRows, Reject, Source
from recordsmith.formats.video.reading import VideoError, read_frames
from recordsmith.images import ImageError, Preparation
from recordsmith.schema import Feature, Image, Scalar, Schema, Sequence, Tensor, Text
from recordsmith.schema.export.tfds import STEPS
from recordsmith.schema.features.numeric import checked_dtype

__all__ = ["lerobot"]

_EPISODE = "episode_index"
_FIRST, _LAST, _WORDS = f"{STEPS}is_first", f"{STEPS}is_last", f"{STEPS}language_instruction"


def lerobot(
    folder: PathLike,
    *,
    size: tuple[int, int] | None = None,
    encoding: str = "jpeg",
    quality: int = 95,
) -> LeRobotSource:
    """Read episodes of LeRobot (formats v2.0, v2.1 and v3.0): Parquet files, and MP4 files with the images.

    A row is an episode, as in RLDS: `observation.state` becomes `steps/observation/state`, a list with an entry for
    each frame, and `steps/is_first`, `steps/is_last` and `steps/language_instruction` (the task) are added. Frames of
    videos are stored as images. Needs the extras "arrow" and "images".

    Args:
        folder: the folder with `meta/info.json`.
        size: resize frames to this height and width.
        encoding: of the frames of videos: jpeg, png, webp or bmp.
        quality: of JPEG and WebP.
    """
    if encoding in (None, "gif"):
        raise PipelineError("Frames can be stored only as JPEG, PNG, WebP or BMP.", found=repr(encoding))
    return LeRobotSource(os.fspath(folder), preparation_of(size=size, channels=3, encoding=encoding, quality=quality))


class LeRobotSource(Source):
    """What `lerobot` returns."""

    kind: ClassVar[str] = "lerobot"
    declared = True
    provenance = (_EPISODE,)

    def __init__(self, folder: str, preparation: Preparation) -> None:
        self._path = folder
        self._preparation = preparation

    @cached_property
    def _folder(self) -> LeRobotFolder:
        return read_folder(self._path)

    def schema(self) -> Schema:
        """Return the schema of episodes."""
        features: dict[str, Feature] = {_EPISODE: Scalar("int64", description="the number of the episode")}
        for name, stored in self._folder.features.items():
            if name != _EPISODE:
                features[_step_name(name)] = self._feature(name, stored)
        features[_FIRST] = features[_LAST] = Tensor("bool", (None,), storage="list")
        features[_WORDS] = Text((None,))
        return Schema(features)

    def _feature(self, name: str, stored: StoredFeature) -> Feature:
        if stored.dtype in ("video", "image"):
            if len(stored.shape) != 3:
                raise SchemaError("Images of LeRobot have three dimensions.", feature=name, found=str(stored.shape))
            height, width = stored.shape[:2] if stored.shape[2] in (1, 3, 4) else stored.shape[1:]
            if stored.dtype == "image":
                return Sequence(Image(height, width, channels=3))
            height, width = self._preparation.size or (height, width)
            return Sequence(Image(height, width, channels=3, encoding=self._preparation.encoding))
        if stored.dtype == "string":
            return Text((None,))
        dtype = checked_dtype(stored.dtype)
        shape = () if stored.shape == (1,) else stored.shape
        if dtype.name in ("float64", "uint64"):  # of which not every value fits into a list of an Example
            return Sequence(Tensor(dtype, shape) if shape else Scalar(dtype))
        return Tensor(dtype, (None, *shape), storage=None if dtype.name in ("float32", "int64") else "list")

    def chunks(self) -> Iterator[Chunk]:
        """Give the episodes one by one."""
        folder = self._folder
        for episode in folder.episodes:
            split = self._split(episode.number)
            yield EpisodeChunk(episode, folder.fps, folder.features, folder.tasks, self._preparation, split)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the folder says, where there are several."""
        return tuple(self._folder.splits) if len(self._folder.splits) > 1 else ()

    def _split(self, number: int) -> str | None:
        if not self.splits:
            return None
        return next((name for name, numbers in self._folder.splits.items() if number in numbers), self.splits[0])

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of an episode."""
        return chunk.split if isinstance(chunk, EpisodeChunk) else None

    @property
    def row_count(self) -> int:
        """How many episodes there are."""
        return len(self._folder.episodes)

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its options, and what identifies its files."""
        videos = [part.path for episode in self._folder.episodes for part in episode.videos.values()]
        paths = dict.fromkeys([os.path.join(self._path, INFO), *(one.data for one in self._folder.episodes), *videos])
        return {
            "kind": self.kind,
            "path": self._path,
            "version": self._folder.version,
            "files": describe_files([SourceFile.at(path) for path in paths if os.path.exists(path)]),
            **describe_preparation(self._preparation),
        }


def _step_name(name: str) -> str:
    return STEPS + name.replace(".", "/")


@dataclass(frozen=True, slots=True)
class EpisodeChunk(Chunk):
    """One episode."""

    episode: Episode
    fps: float
    features: dict[str, StoredFeature]
    tasks: dict[int, str]
    preparation: Preparation
    split: str | None
    source_bytes: int = 0

    def load(self) -> Loaded:
        """Read the episode; one whose rows or frames are missing is a reject."""
        place = f"{self.episode.data}, episode {self.episode.number}"
        places = NumberedRows(self.episode.data, self.episode.number)
        try:
            row = self._row()
        except (_EpisodeError, VideoError, ImageError) as error:
            return Loaded({}, 0, places, [Reject(place, self.episode.number, None, str(error))])
        except OSError as error:
            reason = f"It cannot be read: {error.strerror or error}: {error.filename or ''}."
            return Loaded({}, 0, places, [Reject(place, self.episode.number, None, reason)])
        return Loaded({name: [value] for name, value in row.items()}, 1, places)

    def _row(self) -> dict[str, Any]:
        length = self.episode.length
        table = self._table()
        row: dict[str, Any] = {_EPISODE: self.episode.number}
        for name, stored in self.features.items():
            if name == _EPISODE:
                continue
            if stored.dtype == "video":
                part = self.episode.videos[name]
                row[_step_name(name)] = read_frames(part.path, round(part.start * self.fps), length, self.preparation)
            else:
                row[_step_name(name)] = _values(table[name], stored, name)
        numbers = row.get(f"{STEPS}task_index")
        words = [""] * length if numbers is None else [self.tasks.get(int(number), "") for number in numbers]
        flags = np.arange(length)
        return {**row, _FIRST: flags == 0, _LAST: flags == length - 1, _WORDS: words}

    def _table(self) -> Any:
        parquet = import_extra("pyarrow.parquet", "arrow", purpose="Reading LeRobot")
        names = [name for name, stored in self.features.items() if stored.dtype != "video"]
        try:
            table = parquet.read_table(
                self.episode.data,
                columns=list(dict.fromkeys([*names, _EPISODE, "frame_index"])),
                filters=[(_EPISODE, "=", self.episode.number)],
                partitioning=None,
            )
        except FileNotFoundError:
            raise
        except (OSError, ValueError, KeyError) as error:
            raise _EpisodeError(f"Its Parquet file cannot be read: {str(error).splitlines()[0][:200]}") from None
        missing = [name for name in names if name not in table.column_names]
        if missing:
            raise _EpisodeError(f"Its Parquet file has no column {missing[0]!r}.")
        if table.num_rows != self.episode.length or not self.episode.length:
            raise _EpisodeError(f"It has {table.num_rows} rows, and the list of episodes says {self.episode.length}.")
        return table.sort_by("frame_index") if "frame_index" in table.column_names else table


class _EpisodeError(Exception):
    """What is wrong with an episode, in one sentence."""


def _values(column: Any, stored: StoredFeature, name: str) -> Any:
    """Return the values of all frames."""
    values = column.to_pylist()
    if any(value is None for value in values):
        raise _EpisodeError(f"The feature {name!r} has no value in some frame.")
    if stored.dtype == "string":
        return [str(value[0] if isinstance(value, list) and len(value) == 1 else value) for value in values]
    if stored.dtype == "image":
        images = [value.get("bytes") if isinstance(value, dict) else value for value in values]
        if not all(isinstance(image, bytes) for image in images):
            raise _EpisodeError(f"The images of {name!r} are not in the Parquet file.")
        return images
    try:
        array = np.asarray(values, np.dtype(stored.dtype))
        return array.reshape(len(values), *(() if stored.shape == (1,) else stored.shape))
    except (ValueError, TypeError, OverflowError):
        raise _EpisodeError(f"The values of {name!r} do not have the declared shape {stored.shape}.") from None
