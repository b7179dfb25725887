"""Reads what a folder of LeRobot says about itself: features, episodes, and where their rows and frames are.

v2.0, v2.1   meta/episodes.jsonl, meta/tasks.jsonl; a Parquet and a video file for each episode
v3.0         meta/episodes/*/*.parquet, meta/tasks.parquet; files with many episodes
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import glob
from typing import Any

from recordsmith.errors import SchemaError, import_extra
from recordsmith.storage.json_descriptions import JsonObject, read_bounded, read_json_object

__all__ = ["Episode", "LeRobotFolder", "StoredFeature", "VideoPart", "is_lerobot", "read_folder"]

INFO = "meta/info.json"
_MOST_BYTES = 256 << 20  # of a list of episodes or tasks
_PLACEHOLDER = re.compile(r"\{(\w+)(?::0?(\d)d)?\}")
_LONGEST = 1 << 31


@dataclass(frozen=True, slots=True)
class StoredFeature:
    """A feature of a frame: its dtype ("video", "image", "string" or of numbers) and its shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VideoPart:
    """Where the frames of an episode are: in which video, and from which second on."""

    path: str
    start: float = 0.0


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode."""

    number: int
    length: int
    data: str
    videos: dict[str, VideoPart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeRobotFolder:
    """A folder of LeRobot.

    Attributes:
        path: the folder.
        version: of the format, such as "v3.0".
        fps: frames per second.
        features: the features of a frame by name.
        episodes: the episodes in order.
        tasks: what the numbers of tasks mean.
        splits: the episodes of each split, as ranges.
    """

    path: str
    version: str
    fps: float
    features: dict[str, StoredFeature]
    episodes: list[Episode]
    tasks: dict[int, str]
    splits: dict[str, range]


def is_lerobot(folder: str) -> bool:
    """Say whether a folder is one of LeRobot, by its description."""
    path = os.path.join(folder, INFO)
    try:
        with open(path, "rb") as file:
            return b'"codebase_version"' in file.read(1 << 20)
    except OSError:
        return False


def read_folder(folder: str) -> LeRobotFolder:
    """Read the descriptions of a folder."""
    path = os.path.join(folder, INFO)
    info = read_json_object(path, "LeRobot description")
    version = info.text("codebase_version")
    if not re.fullmatch(r"v(2\.[01]|3\.\d+)", version):
        raise SchemaError(
            "This version of LeRobot's format is not supported.",
            path=path,
            found=version[:40],
            expected="v2.0, v2.1 or v3.0",
            advice="Convert the dataset with the scripts of lerobot.",
        )
    features = {name: _feature(one, path) for name, one in info.object("features").members()}
    fps = info.entries.get("fps")
    if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps < 1e6:
        raise SchemaError("The LeRobot description has no frame rate.", path=path, found=repr(fps)[:40])
    is_old = version.startswith("v2")
    episodes = (_old_episodes if is_old else _episodes)(folder, info, features)
    tasks = _old_tasks(folder) if is_old else _tasks(folder)
    return LeRobotFolder(folder, version, float(fps), features, episodes, tasks, _splits(info, path))


def _feature(facts: JsonObject, path: str) -> StoredFeature:
    shape = facts.counts("shape")
    if len(shape) > 8 or any(size > _LONGEST for size in shape):
        raise SchemaError("The LeRobot description has an impossible shape.", path=path, found=str(shape)[:200])
    return StoredFeature(facts.text("dtype"), shape)


def _splits(info: JsonObject, path: str) -> dict[str, range]:
    found = {}
    for name, words in info.object("splits").all_texts().items() if "splits" in info.entries else ():
        match = re.fullmatch(r"(\d{1,12}):(\d{1,12})", words)
        if match is None:
            raise SchemaError("The LeRobot description has a split that is not a range.", path=path, found=words[:60])
        found[name] = range(int(match[1]), int(match[2]))
    return found


def _old_episodes(folder: str, info: JsonObject, features: Mapping[str, StoredFeature]) -> list[Episode]:
    size = info.count("chunks_size") or 1000
    found = []
    for facts in _lines(folder, "meta/episodes.jsonl"):
        number, length = _whole(facts.get("episode_index")), _whole(facts.get("length"))
        values = {"episode_chunk": number // size, "episode_index": number}
        videos = {
            name: VideoPart(_path(folder, info.text("video_path"), {**values, "video_key": name}))
            for name, feature in features.items()
            if feature.dtype == "video"
        }
        found.append(Episode(number, length, _path(folder, info.text("data_path"), values), videos))
    return sorted(found, key=lambda episode: episode.number)


def _episodes(folder: str, info: JsonObject, features: Mapping[str, StoredFeature]) -> list[Episode]:
    parquet = import_extra("pyarrow.parquet", "arrow", purpose="Reading LeRobot")
    cameras = [name for name, feature in features.items() if feature.dtype == "video"]
    needed = ["episode_index", "length", "data/chunk_index", "data/file_index"]
    for camera in cameras:
        needed += [f"videos/{camera}/{one}" for one in ("chunk_index", "file_index", "from_timestamp")]
    found = []
    paths = sorted(glob(os.path.join(glob_escape(folder), "meta", "episodes", "*", "*.parquet")))
    if not paths:
        raise SchemaError("There is no list of episodes.", path=folder, expected="meta/episodes/*/*.parquet")
    for path in paths:
        if os.path.getsize(path) > _MOST_BYTES:
            raise SchemaError("The list of episodes is too large.", path=path)
        try:
            rows = parquet.read_table(path, columns=needed).to_pylist()
        except (OSError, ValueError, KeyError) as error:  # Arrow's errors are among these
            raise SchemaError(f"The list of episodes cannot be read: {str(error)[:200]}", path=path) from None
        for row in rows:
            values = {one: _whole(row.get(f"data/{one}")) for one in ("chunk_index", "file_index")}
            videos = {}
            for camera in cameras:
                place = {one: _whole(row.get(f"videos/{camera}/{one}")) for one in ("chunk_index", "file_index")}
                start = row.get(f"videos/{camera}/from_timestamp")
                start = float(start) if isinstance(start, (int, float)) and 0 <= start < 1e9 else 0.0
                video = _path(folder, info.text("video_path"), {**place, "video_key": camera})
                videos[camera] = VideoPart(video, start)
            data = _path(folder, info.text("data_path"), values)
            found.append(Episode(_whole(row.get("episode_index")), _whole(row.get("length")), data, videos))
    return sorted(found, key=lambda episode: episode.number)


def glob_escape(path: str) -> str:
    """Return a path in which nothing is a pattern."""
    return re.sub(r"([*?[])", r"[\1]", path)


def _old_tasks(folder: str) -> dict[int, str]:
    return {_whole(facts.get("task_index")): str(facts.get("task", "")) for facts in _lines(folder, "meta/tasks.jsonl")}


def _tasks(folder: str) -> dict[int, str]:
    """Read the tasks of v3: a table that pandas wrote, with the words as its index."""
    path = os.path.join(folder, "meta/tasks.parquet")
    if not os.path.exists(path):
        return {}
    parquet = import_extra("pyarrow.parquet", "arrow", purpose="Reading LeRobot")
    try:
        columns = parquet.read_table(path).to_pydict()
    except (OSError, ValueError) as error:
        raise SchemaError(f"The list of tasks cannot be read: {str(error)[:200]}", path=path) from None
    words: list[Any] = next((values for name, values in columns.items() if name != "task_index"), [])
    return {_whole(number): str(word) for number, word in zip(columns.get("task_index", []), words, strict=False)}


def _lines(folder: str, name: str) -> list[dict[str, Any]]:
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        raise SchemaError(f"The LeRobot folder has no {name}.", path=folder)
    found = []
    for line in read_bounded(path, "list of LeRobot", _MOST_BYTES).splitlines():
        if line.strip():
            try:
                one = json.loads(line)
            except (ValueError, RecursionError):
                one = None
            if not isinstance(one, dict):
                raise SchemaError("A line is not a JSON object.", path=path, found=line[:100].decode(errors="replace"))
            found.append(one)
    return found


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LONGEST:
        raise SchemaError(
            "A LeRobot description has an entry that is not a number of at least 0.", found=repr(value)[:60]
        )
    return value


def _path(folder: str, template: str, values: Mapping[str, Any]) -> str:
    """Fill in a template by hand: format fields of somebody else's making can ask for any attribute."""

    def filled(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise SchemaError("The LeRobot description has an unknown placeholder.", found=match[0][:60])
        value = values[match[1]]
        return f"{value:0{int(match[2])}d}" if match[2] and isinstance(value, int) else str(value)

    name = _PLACEHOLDER.sub(filled, template)
    if "{" in name or name.startswith("/") or ".." in name.split("/") or "\\" in name or "\0" in name:
        raise SchemaError("The LeRobot description names a file outside of its folder.", found=repr(name[:200]))
    return os.path.join(folder, name)
