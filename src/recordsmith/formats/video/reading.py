"""Reads videos from the first frame to the last, as clips of encoded frames."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from recordsmith.images import Preparation
from recordsmith.images.codec import opencv
from recordsmith.images.limits import check_pixels

__all__ = ["Clip", "FrameChoice", "VideoError", "VideoFacts", "read_clips", "read_facts", "read_frames"]

_TOLERATED_LOSS = 0.05  # of the frames that a header promises: some count by the duration


class VideoError(ValueError):
    """A video cannot be read, or not to its end; the text is the reason, and callers add the place."""


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What a video's header says, right or wrong.

    Attributes:
        frames: how many frames there are; 0 or less where it is not said.
        fps: frames per second; 0 where it is not said.
        height, width: of each frame.
    """

    frames: int
    fps: float
    height: int
    width: int


@dataclass(frozen=True, slots=True)
class FrameChoice:
    """Which frames of a video are taken, and how many make a clip.

    Args:
        clip_frames: frames in a clip; the last one of a video may have fewer.
        stride: every how many frames one is taken.
        fps: how many frames a second are taken, instead of the stride.

    >>> [FrameChoice(64, 1, 10.0).takes(frame, 25.0) for frame in range(6)]
    [True, False, False, True, False, True]
    """

    clip_frames: int
    stride: int
    fps: float | None

    def takes(self, frame: int, source_fps: float) -> bool:
        """Whether a frame is taken, by its number: with `fps`, the first one in each of its intervals."""
        if self.fps is None:
            return frame % self.stride == 0
        rate = min(1.0, self.fps / source_fps)
        return frame == 0 or int(frame * rate + 1e-9) != int((frame - 1) * rate + 1e-9)

    def count(self, frames: int, source_fps: float) -> int:
        """About how many of so many frames are taken.

        >>> FrameChoice(64, 3, None).count(100, 25.0)
        34
        """
        if self.fps is None:
            return -(-frames // self.stride)
        return frames if source_fps <= self.fps else int(frames * self.fps / source_fps) + 1

    def rate(self, source_fps: float) -> float:
        """How many of the taken frames there are in a second."""
        return source_fps / self.stride if self.fps is None else min(self.fps, source_fps)


@dataclass(frozen=True, slots=True)
class Clip:
    """Some frames that follow each other.

    Attributes:
        number: which clip of its video it is, from 0.
        start: when its first frame is shown, in seconds from the video's start.
        fps: frames per second, of those that were taken; 0 if the video does not say.
        frames: the frames, encoded.
    """

    number: int
    start: float
    fps: float
    frames: list[bytes]

    @property
    def size(self) -> int:
        """The bytes of all frames."""
        return sum(map(len, self.frames))


def read_facts(path: str) -> VideoFacts:
    """Return what a video's header says, or raise a VideoError; an ImageError if its frames are too large."""
    with _opened(path) as capture:
        return _facts(capture)


def read_clips(path: str, choice: FrameChoice, preparation: Preparation) -> Iterator[Clip]:
    """Read a video's clips. A VideoError may come after some of them, where the video is cut short."""
    cv2 = opencv()
    with _opened(path) as capture:
        facts = _facts(capture)
        if choice.fps is not None and facts.fps <= 0:
            raise VideoError("The video does not say its frame rate, so `fps` cannot be used.")
        frame = number = 0
        start = 0.0
        frames: list[bytes] = []
        while capture.grab():
            if choice.takes(frame, facts.fps):
                done, pixels = capture.retrieve()
                if not done:
                    break
                if not frames:
                    start = _time(capture.get(cv2.CAP_PROP_POS_MSEC), frame, facts.fps)
                frames.append(preparation.encode(pixels))
                if len(frames) == choice.clip_frames:
                    yield Clip(number, start, choice.rate(facts.fps), frames)
                    number, frames = number + 1, []
            frame += 1
        if frames:
            yield Clip(number, start, choice.rate(facts.fps), frames)
        if not frame:
            raise VideoError("The video has no frame that can be decoded.")
        if frame < facts.frames * (1 - _TOLERATED_LOSS) - 1:
            raise VideoError(
                f"The video is cut short or damaged: it ends after {frame} of {facts.frames} frames. The clips before "
                "that are used."
            )


def read_frames(path: str, first: int, count: int, preparation: Preparation) -> list[bytes]:
    """Read some frames that follow each other, encoded. They are counted from the start: seeking is not exact."""
    frames: list[bytes] = []
    with _opened(path) as capture:
        _facts(capture)
        for frame in range(first + count):
            if not capture.grab():
                raise VideoError(
                    f"The video {os.path.basename(path)} ends after {frame} frames, before {first + count}."
                )
            if frame >= first:
                done, pixels = capture.retrieve()
                if not done:
                    raise VideoError(f"Frame {frame} of the video {os.path.basename(path)} cannot be decoded.")
                frames.append(preparation.encode(pixels))
    return frames


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # what FFmpeg would print is in our own errors
    cv2 = opencv()
    os.stat(path)  # OpenCV does not distinguish a missing file from one that is not a video
    capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
    try:
        if not capture.isOpened():
            raise VideoError("The file cannot be opened as a video: it is damaged, incomplete or in an unknown format.")
        yield capture
    finally:
        capture.release()


def _facts(capture: Any) -> VideoFacts:
    cv2 = opencv()
    facts = VideoFacts(
        frames=int(capture.get(cv2.CAP_PROP_FRAME_COUNT)),
        fps=float(capture.get(cv2.CAP_PROP_FPS)),
        height=int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT)),
        width=int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)),
    )
    check_pixels(f"video of {facts.width}×{facts.height}", facts.height, facts.width)
    return facts


def _time(milliseconds: float, frame: int, fps: float) -> float:
    """The time of a frame: as the video says, or counted where it says none."""
    if milliseconds > 0 or frame == 0 or fps <= 0:
        return milliseconds / 1000
    return frame / fps
