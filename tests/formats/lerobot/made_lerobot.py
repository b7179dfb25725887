"""Folders in the documented layouts of LeRobot, written with pyarrow and OpenCV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FPS = 10
LENGTHS = (4, 6, 3)
TASKS = ("pick the cube", "open the door")
CAMERA = "observation.images.top"


def state(episode: int) -> Any:
    return np.random.default_rng(episode).normal(size=(LENGTHS[episode], 3)).astype(np.float32)


def pixels(episode: int, frame: int) -> Any:
    image = np.full((32, 48, 3), 30 * episode + 10, np.uint8)
    image[:, : 4 * (frame + 1)] = 200
    return image


def table(episode: int, first: int) -> pa.Table:
    length = LENGTHS[episode]
    return pa.table(
        {
            "observation.state": pa.array(list(state(episode)), pa.list_(pa.float32(), 3)),
            "action": pa.array(list(state(episode).astype(np.float64) * 2), pa.list_(pa.float64(), 3)),
            "reward": pa.array(np.arange(length, dtype=np.float32)),
            "done": pa.array([False] * (length - 1) + [True]),
            "note": pa.array([f"é {n}" for n in range(length)]),
            "timestamp": pa.array(np.arange(length, dtype=np.float32) / FPS),
            "frame_index": pa.array(np.arange(length)),
            "episode_index": pa.array([episode] * length, pa.int64()),
            "index": pa.array(first + np.arange(length)),
            "task_index": pa.array([episode % 2] * length, pa.int64()),
        }
    )


def write_video(path: Path, frames: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), FPS, (48, 32))
    for frame in frames:
        writer.write(frame[:, :, ::-1])
    writer.release()


def info(version: str, **more: Any) -> dict[str, Any]:
    numbers = {
        "timestamp": "float32",
        **dict.fromkeys(("frame_index", "episode_index", "index", "task_index"), "int64"),
    }
    return {
        "codebase_version": version,
        "robot_type": "so100",
        "total_episodes": len(LENGTHS),
        "total_frames": sum(LENGTHS),
        "chunks_size": 1000,
        "fps": FPS,
        "splits": {"train": f"0:{len(LENGTHS)}"},
        "features": {
            "observation.state": {"dtype": "float32", "shape": [3], "names": ["x", "y", "z"]},
            "action": {"dtype": "float64", "shape": [3], "names": None},
            "reward": {"dtype": "float32", "shape": [1], "names": None},
            "done": {"dtype": "bool", "shape": [1], "names": None},
            "note": {"dtype": "string", "shape": [1], "names": None},
            CAMERA: {"dtype": "video", "shape": [32, 48, 3], "names": ["height", "width", "channels"]},
            **{name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in numbers.items()},
        },
        **more,
    }


def frames_of(episode: int) -> list[Any]:
    return [pixels(episode, frame) for frame in range(LENGTHS[episode])]


def made_v21(folder: Path) -> Path:
    """Write a file for each episode."""
    (folder / "meta").mkdir(parents=True)
    (folder / "data" / "chunk-000").mkdir(parents=True)
    paths = {
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
    }
    (folder / "meta/info.json").write_text(json.dumps(info("v2.1", **paths)))
    tasks = [json.dumps({"task_index": n, "task": task}) for n, task in enumerate(TASKS)]
    (folder / "meta/tasks.jsonl").write_text("\n".join(tasks))
    lines, first = [], 0
    for episode, length in enumerate(LENGTHS):
        lines.append(json.dumps({"episode_index": episode, "tasks": [TASKS[episode % 2]], "length": length}))
        pq.write_table(table(episode, first), folder / f"data/chunk-000/episode_{episode:06d}.parquet")
        write_video(folder / f"videos/chunk-000/{CAMERA}/episode_{episode:06d}.mp4", frames_of(episode))
        first += length
    (folder / "meta/episodes.jsonl").write_text("\n".join(lines))
    return folder


def made_v30(folder: Path, **more: Any) -> Path:
    """Write all episodes into one file."""
    for inner in ("meta/episodes/chunk-000", "data/chunk-000"):
        (folder / inner).mkdir(parents=True)
    paths = {
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    (folder / "meta/info.json").write_text(json.dumps(info("v3.0", **{**paths, **more})))
    pq.write_table(pa.table({"task_index": [0, 1], "__index_level_0__": list(TASKS)}), folder / "meta/tasks.parquet")
    starts = np.concatenate([[0], np.cumsum(LENGTHS)])
    count = len(LENGTHS)
    episodes = {
        "episode_index": list(range(count)),
        "length": list(LENGTHS),
        "data/chunk_index": [0] * count,
        "data/file_index": [0] * count,
        f"videos/{CAMERA}/chunk_index": [0] * count,
        f"videos/{CAMERA}/file_index": [0] * count,
        f"videos/{CAMERA}/from_timestamp": [start / FPS for start in starts[:-1].tolist()],
    }
    pq.write_table(pa.table(episodes), folder / "meta/episodes/chunk-000/file-000.parquet")
    whole = pa.concat_tables([table(n, int(starts[n])) for n in range(count)])
    pq.write_table(whole, folder / "data/chunk-000/file-000.parquet")
    write_video(folder / f"videos/{CAMERA}/chunk-000/file-000.mp4", [f for n in range(count) for f in frames_of(n)])
    return folder
