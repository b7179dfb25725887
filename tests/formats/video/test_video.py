"""Videos as clips: which frames are taken, when they are shown, and what is said about damaged files."""

from __future__ import annotations

import os
import pickle
from itertools import chain
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from recordsmith.errors import PipelineError
from recordsmith.formats.video import source as video_source
from recordsmith.formats.video.reading import FrameChoice
from recordsmith.formats.video.source import video
from recordsmith.images import decode_image, read_header
from recordsmith.schema import Image, Label, Steps

CODECS = {"avi": "MJPG", "mp4": "mp4v", "mkv": "mp4v"}
HEIGHT, WIDTH = 48, 64


def numbered(number: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A frame with its number in binary, as bars that any codec keeps."""
    bars = [(number >> bit & 1) * 255 for bit in range(8)]
    return np.repeat(np.repeat(np.array(bars, np.uint8), WIDTH // 8)[None, :, None], HEIGHT, 0).repeat(3, 2)


def write(path: Path, frames: int, fps: float = 25) -> Path:
    """A video whose frames show their numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    codec = cv2.VideoWriter.fourcc(*CODECS[path.suffix[1:]])
    writer = cv2.VideoWriter(str(path), codec, fps, (WIDTH, HEIGHT))
    assert writer.isOpened()
    for number in range(frames):
        writer.write(numbered(number))
    writer.release()
    return path


def load(source):
    schema = source.schema()
    columns: dict[str, list[object]] = {name: [] for name in schema}
    rejects, places = [], []
    for chunk in source.chunks():
        loaded = pickle.loads(pickle.dumps(chunk)).load()
        schema.columns_to_parts(loaded.columns)  # the rows fit their schema
        assert set(loaded.columns) == set(schema)
        for name, values in loaded.columns.items():
            assert len(values) == loaded.rows
            columns[name] += values
        places += [loaded.places.of(row) for row in range(loaded.rows)]
        rejects += loaded.rejects
    return columns, rejects, places


def numbers(clips) -> list[list[int]]:
    """Which frames of the video are in the clips."""
    return [[number_of(decode_image(frame)) for frame in clip] for clip in clips]


def number_of(pixels) -> int:
    bars = pixels.mean((0, 2)).reshape(8, -1).mean(1)
    return sum(1 << bit for bit in range(8) if bars[bit] > 128)


@pytest.mark.source("video", keeps="every frame, in order, with the rate")
@pytest.mark.parametrize("suffix", CODECS)
def test_every_frame_is_there_once_and_in_order(suffix, tmp_path):
    source = video(write(tmp_path / f"a.{suffix}", 50), clip_frames=16)
    columns, rejects, places = load(source)
    assert not rejects
    found = numbers(columns["frames"])
    assert [len(clip) for clip in found] == [16, 16, 16, 2]
    assert list(chain.from_iterable(found)) == list(range(50))
    assert columns["clip"] == [0, 1, 2, 3]
    assert columns["start"] == pytest.approx([0, 16 / 25, 32 / 25, 48 / 25])
    assert columns["fps"] == [25.0] * 4
    assert columns["video"] == [f"a.{suffix}"] * 4
    assert places[3] == f"{tmp_path / f'a.{suffix}'}, clip 3"


def test_the_schema(tmp_path):
    write(tmp_path / "walk" / "a.avi", 4)
    write(tmp_path / "run" / "b.avi", 4)
    source = video(tmp_path, size=(24, 32), encoding="png", channels=1)
    schema = source.schema()
    assert list(schema) == ["frames", "label", "video", "clip", "start", "fps"]
    assert schema["frames"] == Steps(Image(24, 32, channels=1, encoding="png"))
    assert schema["label"] == Label(["run", "walk"])
    assert (source.label, source.provenance) == ("label", ("video", "clip", "start"))
    columns, _, _ = load(source)
    assert columns["label"] == [0, 1]
    assert columns["video"] == ["run/b.avi", "walk/a.avi"]
    header = read_header(columns["frames"][0][0])
    assert header is not None
    assert (header.format, header.height, header.width, header.channels) == ("png", 24, 32, 1)
    assert list(video(tmp_path, label=None).schema()) == ["frames", "video", "clip", "start", "fps"]


@pytest.mark.parametrize(
    ("options", "taken", "fps"),
    [
        ({"stride": 1}, list(range(30)), 25.0),
        ({"stride": 7}, [0, 7, 14, 21, 28], 25 / 7),
        ({"fps": 5}, [0, 5, 10, 15, 20, 25], 5.0),
        ({"fps": 10}, [0, 3, 5, 8, 10, 13, 15, 18, 20, 23, 25, 28], 10.0),
        ({"fps": 25}, list(range(30)), 25.0),
        ({"fps": 60}, list(range(30)), 25.0),
    ],
)
def test_which_frames_are_taken(options, taken, fps, tmp_path):
    columns, _, _ = load(video(write(tmp_path / "a.avi", 30), clip_frames=4, **options))
    found = numbers(columns["frames"])
    assert list(chain.from_iterable(found)) == taken
    assert columns["fps"] == pytest.approx([fps] * len(found))
    assert columns["start"] == pytest.approx([clip[0] / 25 for clip in found])


@pytest.mark.parametrize("fps", [0.5, 3, 7, 10, 12.5, 23.976, 29.97])
def test_a_rate_is_kept_over_time(fps):
    choice = FrameChoice(64, 1, fps)
    taken = sum(choice.takes(frame, 30.0) for frame in range(3000))
    assert abs(taken - 100 * fps) <= 1
    assert abs(choice.count(3000, 30.0) - taken) <= 1


def test_long_videos_give_the_same_clips(tmp_path, monkeypatch):
    write(tmp_path / "x" / "a.avi", 40)
    write(tmp_path / "y" / "b.mp4", 25)
    short = video(tmp_path, clip_frames=8)
    assert not short.sequential
    expected = load(short)
    monkeypatch.setattr(video_source, "_SHORT_BYTES", 0)
    monkeypatch.setattr(video_source, "_CHUNK_BYTES", 20_000)
    long = video(tmp_path, clip_frames=8)
    assert long.sequential
    assert len(list(long.chunks())) > len(list(short.chunks()))
    assert load(long) == expected
    assert sum(chunk.source_bytes for chunk in long.chunks()) == long.size_bytes


@pytest.mark.parametrize("long", [False, True])
def test_damaged_videos_are_rejected(long, tmp_path, monkeypatch):
    if long:
        monkeypatch.setattr(video_source, "_SHORT_BYTES", 0)
    whole = write(tmp_path / "whole.avi", 40).read_bytes()
    (tmp_path / "cut.avi").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "text.mp4").write_bytes(b"this is text" * 50)
    moov = write(tmp_path / "a.mp4", 40).read_bytes()
    (tmp_path / "a.mp4").unlink()
    (tmp_path / "unfinished.mp4").write_bytes(moov[: len(moov) // 2])
    write(tmp_path / "none.avi", 0)
    (tmp_path / "gone.mp4").symlink_to(tmp_path / "nowhere.mp4")
    (tmp_path / "notes.txt").write_text("text")
    source = video(tmp_path, clip_frames=8)
    columns, rejects, _ = load(source)
    reasons = {os.path.basename(reject.source): reject.reason for reject in rejects}
    assert set(reasons) == {"cut.avi", "empty.mp4", "gone.mp4", "none.avi", "text.mp4", "unfinished.mp4"}
    assert "cut short or damaged: it ends after" in reasons["cut.avi"]
    assert "of 40 frames" in reasons["cut.avi"]
    assert reasons["gone.mp4"] == "It cannot be read: No such file or directory."
    assert "cannot be opened as a video" in reasons["text.mp4"]
    assert columns["video"].count("whole.avi") == 5
    assert 0 < columns["video"].count("cut.avi") < 5  # what is there is kept
    assert set(columns["video"]) == {"whole.avi", "cut.avi"}
    assert source.describe()["ignored_names"] == ["notes.txt"]


def test_files_and_patterns(tmp_path):
    write(tmp_path / "a.avi", 3)
    write(tmp_path / "b.avi", 3)
    assert load(video([tmp_path / "b.avi", tmp_path / "a.avi"]))[0]["video"] == ["b.avi", "a.avi"]
    assert load(video(str(tmp_path / "*.avi")))[0]["video"] == ["a.avi", "b.avi"]
    with pytest.raises(PipelineError, match="no such file"):
        video(tmp_path / "c.avi").schema()
    (tmp_path / "empty").mkdir()
    with pytest.raises(PipelineError, match="No videos were found"):
        video(tmp_path / "empty").schema()


def test_the_same_bytes_every_time(tmp_path):
    path = write(tmp_path / "a.mp4", 20)
    assert load(video(path)) == load(video(path))
    assert video(path).describe() == video(path).describe()
    assert video(path).describe() != video(path, stride=2).describe()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"clip_frames": 0}, "must be at least 1"),
        ({"stride": 0}, "must be at least 1"),
        ({"fps": 0}, "must be at least 1"),
        ({"fps": 5, "stride": 2}, "not both"),
        ({"channels": 4}, "1 or 3 channels"),
        ({"encoding": "gif"}, "JPEG, PNG, WebP or BMP"),
        ({"encoding": "webp", "channels": 1}, "cannot have 1 channels"),
        ({"size": (0, 1)}, "size must be"),
        ({"frames": "video"}, "same name"),
    ],
)
def test_options_that_cannot_be(options, problem, tmp_path):
    with pytest.raises(PipelineError, match=problem):
        video(tmp_path, **options)
