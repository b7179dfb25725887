"""Videos as the rows of a dataset: each row is a clip of frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from recordsmith.errors import PipelineError
from recordsmith.formats.files.source_files import PathLike, SourceFile, describe_files
from recordsmith.formats.images.folder_layout import splits_of
from recordsmith.formats.images.labels import Labelled, Labelling, labels_from_folders, without_labels
from recordsmith.formats.images.listing import Listing, list_files, list_folder, readable_name
from recordsmith.formats.images.options import describe_preparation, preparation_of
from recordsmith.formats.source import Chunk, Loaded, Reject, Source
from recordsmith.formats.video.reading import Clip, FrameChoice, VideoError, VideoFacts, read_clips, read_facts
from recordsmith.images import ImageError, Preparation
from recordsmith.schema import Feature, Image, Label, Scalar, Schema, Steps, Text

__all__ = ["video"]

_SUFFIXES = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".wmv", ".flv", ".3gp", ".ogv", ".mts")
_CHUNK_BYTES = 8 << 20
_SHORT_BYTES = 32 << 20  # of encoded frames that a video may have to be read as one chunk
_SHORT_FILE_BYTES = 64 << 20
_SHOWN_NAMES = 20
# About how much smaller than its pixels an encoded frame is. Only which videos are read as a whole depends on it.
_SHRINKAGE = {"jpeg": 4, "webp": 8, "png": 1, "bmp": 1}


def video(  # noqa: PLR0913 - each is a setting of its own
    paths: PathLike | Iterable[PathLike],
    *,
    clip_frames: int = 64,
    stride: int = 1,
    fps: float | None = None,
    size: tuple[int, int] | None = None,
    channels: int = 3,
    encoding: str = "jpeg",
    quality: int = 95,
    classes: Sequence[str] | None = None,
    frames: str = "frames",
    label: str | None = "label",
) -> VideoSource:
    """Return videos as a source for `make`. Each row has the frames of one clip, each encoded as an image.

    A row also has `video` (the path relative to the folder), `clip` (its number in the video), `start` (the time of its
    first frame in seconds) and `fps` (the rate of the frames in the clip). Videos are read from the start, without
    seeking, because seeking is not exact in all formats.

    Args:
        paths: a folder, whose subfolders, if there are any, are classes; or files and globs.
        clip_frames: the number of frames in a clip; the last clip of a video may have fewer. It determines the memory
            used.
        stride: use every n-th frame.
        fps: use this number of frames per second instead. Videos with fewer keep all frames.
        size: resize frames to this height and width.
        channels: 3, or 1 for grey.
        encoding: jpeg, png, webp or bmp.
        quality: of JPEG and WebP.
        classes: the class names in the order of their numbers; None uses the names that were found, sorted.
        frames: the name of the feature with the frames.
        label: the name of the feature with the label; None leaves it out.

    >>> import cv2, tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.avi")
    ...     writer = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MJPG"), 25, (32, 24))
    ...     for number in range(10):
    ...         _ = writer.write(np.full((24, 32, 3), number * 20, np.uint8))
    ...     writer.release()
    ...     loaded = next(video(path, clip_frames=4).chunks()).load()
    >>> loaded.columns["clip"], [len(frames) for frames in loaded.columns["frames"]], loaded.columns["start"]
    ([0, 1, 2], [4, 4, 2], [0.0, 0.16, 0.32])
    """
    if clip_frames < 1 or stride < 1 or (fps is not None and fps <= 0):
        raise PipelineError(
            "clip_frames and stride must be at least 1, and fps greater than 0.",
            found=f"clip_frames={clip_frames}, stride={stride}, fps={fps}",
        )
    if fps is not None and stride != 1:
        raise PipelineError("Give either stride or fps, not both.", found=f"stride={stride}, fps={fps}", feature=frames)
    if channels == 4 or encoding in (None, "gif"):
        raise PipelineError(
            "Frames can be stored only as JPEG, PNG, WebP or BMP images with 1 or 3 channels.",
            found=f"encoding={encoding!r}, channels={channels}",
            feature=frames,
        )
    preparation = preparation_of(size=size, channels=channels, encoding=encoding, quality=quality)
    names = [frames, *_FACTS, *([] if label is None else [label])]
    if len(set(names)) < len(names):
        raise PipelineError("Two features have the same name.", found=", ".join(names))
    return VideoSource(
        [os.fspath(paths)] if isinstance(paths, (str, os.PathLike)) else [os.fspath(path) for path in paths],
        choice=FrameChoice(clip_frames, stride, fps),
        preparation=preparation,
        classes=None if classes is None else tuple(classes),
        frames=frames,
        label=label,
    )


_FACTS: dict[str, Feature] = {
    "video": Text(description="the path of the video, relative to the source folder"),
    "clip": Scalar("int64", description="the number of the clip in the video"),
    "start": Scalar("float64", description="the time of the first frame, in seconds"),
    "fps": Scalar("float64", description="frames per second; 0 if the video does not say"),
}


class VideoSource(Source):
    """What `video` returns."""

    kind: ClassVar[str] = "video"

    def __init__(
        self,
        paths: list[str],
        *,
        choice: FrameChoice,
        preparation: Preparation,
        classes: tuple[str, ...] | None,
        frames: str,
        label: str | None,
    ) -> None:
        self._paths = paths
        self._choice = choice
        self._preparation = preparation
        self._classes = classes
        self._frames = frames
        self._label = label
        self.provenance = ("video", "clip", "start")

    @property
    def label(self) -> str | None:  # type: ignore[override]
        """The feature with the label; None if the videos have none."""
        return None if self._labelling.classes is None else self._label

    @property
    def sequential(self) -> bool:  # type: ignore[override]
        """Whether there is a video so long that it has to be read piece by piece."""
        return not all(self._short.values())

    @property
    def size_bytes(self) -> int:
        """The size of all videos' files."""
        return sum(file.size for file in self._listing.files)

    def schema(self) -> Schema:
        """Return the schema: the frames, the label if there is one, and where the clip came from."""
        height, width = self._preparation.size or (None, None)
        channels, encoding = self._preparation.channels, self._preparation.encoding
        features: dict[str, Feature] = {
            self._frames: Steps(Image(height, width, channels=channels, encoding=encoding)),
        }
        if self.label is not None:
            features[self.label] = Label(list(self._labelling.classes or ()))
        return Schema({**features, **_FACTS})

    def chunks(self) -> Iterator[Chunk]:
        """Give short videos one by one to be read elsewhere, and long ones as clips that were read here."""
        for row in self._labelling.rows:
            assert row.file is not None  # noqa: S101 - for the type checker: there is no list that names lost files
            if row.problem is not None or self._short[row.file.path]:
                yield self._chunk(row, None, [], row.file.size)
            else:
                yield from self._long(row, row.file.size)

    def describe(self) -> dict[str, Any]:
        """Return what the source is: its options, and what identifies its files."""
        choice = self._choice
        files = [SourceFile(readable_name(file.name), file.size, file.modified) for file in self._listing.files]
        return {
            "kind": self.kind,
            "paths": [readable_name(path) for path in self._paths],
            "files": describe_files(files),
            "clip_frames": choice.clip_frames,
            "stride": choice.stride,
            "fps": choice.fps,
            **describe_preparation(self._preparation),
            "classes": None if self._classes is None else list(self._classes),
            "features": [self._frames, self._label],
            "ignored": len(self._listing.ignored),
            "ignored_names": self._listing.ignored[:_SHOWN_NAMES],
        }

    def _long(self, row: Labelled, size: int) -> Iterator[VideoChunk]:
        clips: list[Clip] = []
        reason = None
        reading = read_clips(row.file.path if row.file else "", self._choice, self._preparation)
        try:
            for clip in reading:
                if clips and sum(one.size for one in clips) + clip.size > _CHUNK_BYTES:
                    yield self._chunk(row, clips, [], 0)
                    clips = []
                clips.append(clip)
        except (VideoError, ImageError, OSError) as error:
            reason = _reason(error)
        yield self._chunk(row, clips, [] if reason is None else [reason], size)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits, where the folders are some."""
        return self._labelling.splits

    def split_of(self, chunk: Chunk) -> str | None:
        """Return the split of the video of a chunk."""
        return chunk.split if isinstance(chunk, VideoChunk) else None

    def _chunk(self, row: Labelled, clips: list[Clip] | None, reasons: list[str], size: int) -> VideoChunk:
        return VideoChunk(row, clips, reasons, self._choice, self._preparation, self._frames, self.label, size)

    @cached_property
    def _listing(self) -> Listing:
        if len(self._paths) != 1 or not os.path.isdir(self._paths[0]):
            return list_files(self._paths)
        try:
            listing = list_folder(self._paths[0], wanted=lambda entry: entry.name.casefold().endswith(_SUFFIXES))
        except OSError as error:
            raise PipelineError(f"The folder cannot be listed: {error.strerror}.", path=error.filename) from None
        if not listing.files:
            raise PipelineError(
                "No videos were found.",
                path=self._paths[0],
                found=f"{len(listing.ignored)} other files" if listing.ignored else "no files",
                expected=f"files that end in {', '.join(_SUFFIXES)}",
            )
        return listing

    @cached_property
    def _labelling(self) -> Labelling:
        if self._label is not None and len(self._paths) == 1 and os.path.isdir(self._paths[0]):
            return labels_from_folders(self._listing, self._classes)
        splits = splits_of([file.name for file in self._listing.files])
        return without_labels(self._listing).in_splits(dict(zip(self._listing.files, splits, strict=True)))

    @cached_property
    def _short(self) -> dict[str, bool]:
        """Which videos are short enough to be one chunk, according to their headers."""
        return {file.path: file.size <= _SHORT_FILE_BYTES and self._is_short(file.path) for file in self._listing.files}

    def _is_short(self, path: str) -> bool:
        try:
            facts: VideoFacts = read_facts(path)
        except (VideoError, ImageError, OSError):
            return True  # it is rejected where it is loaded
        if facts.frames <= 0:
            return False
        height, width = self._preparation.size or (facts.height, facts.width)
        frame = height * width * (self._preparation.channels or 3) // _SHRINKAGE[self._preparation.encoding or "png"]
        return self._choice.count(facts.frames, facts.fps) * frame <= _SHORT_BYTES


@dataclass(frozen=True, slots=True)
class VideoChunk(Chunk):
    """A whole video that is still to be read, or some clips of one that was."""

    row: Labelled
    clips: list[Clip] | None
    reasons: list[str]
    choice: FrameChoice
    preparation: Preparation
    frames: str
    label: str | None
    source_bytes: int

    @property
    def split(self) -> str | None:
        """The split of the video."""
        return self.row.split

    def load(self) -> Loaded:
        """Read the clips; a video that cannot be read, or not to its end, is a reject."""
        file = self.row.file
        assert file is not None  # noqa: S101 - for the type checker: there is no list that names lost files
        path = readable_name(file.path)
        if self.row.problem is not None:
            return Loaded(self._columns([]), 0, _Places(path, []), [Reject(path, None, self.label, self.row.problem)])
        clips = [] if self.clips is None else self.clips
        reasons = list(self.reasons)
        if self.clips is None:
            try:
                clips.extend(read_clips(file.path, self.choice, self.preparation))
            except (VideoError, ImageError, OSError) as error:
                reasons.append(_reason(error))
        rejects = [Reject(path, None, self.frames, reason) for reason in reasons]
        return Loaded(self._columns(clips), len(clips), _Places(path, clips), rejects)

    def _columns(self, clips: list[Clip]) -> dict[str, Any]:
        name = "" if self.row.file is None else readable_name(self.row.file.name)
        columns: dict[str, Any] = {
            self.frames: [clip.frames for clip in clips],
            "video": [name] * len(clips),
            "clip": [clip.number for clip in clips],
            "start": [clip.start for clip in clips],
            "fps": [clip.fps for clip in clips],
        }
        if self.label is not None:
            columns[self.label] = [self.row.label] * len(clips)
        return columns


@dataclass(frozen=True, slots=True)
class _Places:
    """The clips that were loaded."""

    path: str
    clips: list[Clip]

    def of(self, row: int) -> str:
        return f"{self.path}, clip {self.clips[row].number}"


def _reason(error: VideoError | ImageError | OSError) -> str:
    return f"It cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
