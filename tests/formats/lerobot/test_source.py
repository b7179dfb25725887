"""LeRobot folders of both layouts become episodes with every value, and frames as OpenCV decodes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import recordsmith as rs
from tests.formats.lerobot.made_lerobot import CAMERA, LENGTHS, TASKS, made_v21, made_v30, pixels, state

KEPT = "every feature of every frame, images, tasks, splits"


def decoded(path: Path) -> list[Any]:
    capture = cv2.VideoCapture(str(path))
    found: list[Any] = []
    while True:
        done, frame = capture.read()
        if not done:
            return found
        found.append(frame[:, :, ::-1])


@pytest.mark.source("lerobot", keeps=KEPT)
@pytest.mark.parametrize("make", [made_v21, made_v30])
def test_every_value_of_every_frame(make: Any, tmp_path: Path):
    folder = make(tmp_path / "robot")
    source = rs.sources.lerobot(folder, encoding="png")
    assert rs.make(source, tmp_path / "out", shuffle=False).ok
    ds = rs.open(tmp_path / "out")
    assert ds.schema["steps/observation/images/top"] == rs.Sequence(rs.Image(32, 48, encoding="png"))
    frames = [frame for path in sorted(folder.rglob("*.mp4")) for frame in decoded(path)]
    first = 0
    for episode, row in enumerate(ds.images(feature="steps/observation/images/top")):
        length = LENGTHS[episode]
        assert row["episode_index"] == episode
        np.testing.assert_array_equal(row["steps/observation/state"], state(episode))
        np.testing.assert_array_equal(np.asarray(row["steps/action"]), state(episode).astype(np.float64) * 2)
        assert row["steps/reward"].tolist() == list(range(length))
        assert row["steps/done"].tolist() == row["steps/is_last"].tolist() == [False] * (length - 1) + [True]
        assert row["steps/is_first"].tolist() == [True] + [False] * (length - 1)
        assert row["steps/note"].to_list() == [f"é {n}" for n in range(length)]
        assert row["steps/language_instruction"].to_list() == [TASKS[episode % 2]] * length
        images = row["steps/observation/images/top"]
        np.testing.assert_array_equal(images, frames[first : first + length])
        for number, image in enumerate(images):  # the video lost little
            assert np.abs(image.astype(int) - pixels(episode, number)).mean() < 12
        first += length
    tfds = pytest.importorskip("tensorflow_datasets")
    dataset = tfds.builder_from_directory(str(tmp_path / "out")).as_dataset(split="train", shuffle_files=False)
    assert [len(list(one["steps"])) for one in dataset] == list(LENGTHS)


def test_found_by_itself_with_its_splits(tmp_path: Path):
    folder = made_v30(tmp_path / "robot", splits={"train": "0:2", "test": "2:3"})
    made = rs.make(folder, tmp_path / "out")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 2, "test": 1}


def test_episodes_that_are_broken_are_rejects(tmp_path: Path):
    folder = made_v21(tmp_path / "robot")
    (folder / "data/chunk-000/episode_000000.parquet").write_bytes(b"PAR1 no")
    video = folder / f"videos/chunk-000/{CAMERA}/episode_000001.mp4"
    video.write_bytes(video.read_bytes()[:200])
    rs.make(folder, tmp_path / "out", max_rejects=1)
    lines = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()]
    assert [line["row"] for line in lines] == [0, 1]
    assert "Parquet" in lines[0]["reason"]
    assert "video" in lines[1]["reason"]
    assert len(rs.open(tmp_path / "out")) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"codebase_version": "v1.6"}, "not supported"),
        ({"data_path": "../../{chunk_index:03d}.parquet"}, "outside of its folder"),
        ({"data_path": "/etc/{chunk_index:03d}.parquet"}, "outside of its folder"),
        ({"data_path": "data/{chunk_index.__class__}.parquet"}, "outside of its folder"),
        ({"video_path": "{secret}.mp4"}, "unknown placeholder"),
        ({"fps": 0}, "frame rate"),
        ({"splits": {"train": "all"}}, "not a range"),
        ({"features": {"x": {"dtype": "float32", "shape": [10**12]}}}, "impossible shape"),
        ({"features": {"x": {"dtype": "object", "shape": [2]}}}, "dtype"),
    ],
    ids=repr,
)
def test_descriptions_that_lie_are_refused(changes: Any, words: str, tmp_path: Path):
    folder = made_v30(tmp_path / "robot", **changes)
    with pytest.raises(rs.SchemaError, match=words):
        rs.sources.lerobot(folder).schema()


def test_rows_that_lack_are_named(tmp_path: Path):
    folder = made_v21(tmp_path / "robot")
    path = folder / "meta/episodes.jsonl"
    path.write_text(path.read_text().replace('"length": 6', '"length": 7'))
    rs.make(folder, tmp_path / "out", max_rejects=1)
    assert "6 rows, and the list of episodes says 7" in (tmp_path / "out" / "rejected.jsonl").read_text()


@pytest.mark.source("lerobot", keeps=KEPT)
def test_exported_and_back(tmp_path: Path):
    datasets = pytest.importorskip("datasets")
    folder = made_v30(tmp_path / "robot", splits={"train": "0:2", "test": "2:3"})
    rs.make(rs.sources.lerobot(folder, encoding="png"), tmp_path / "data", shuffle=False)
    exported = rs.export(tmp_path / "data", tmp_path / "back", to="lerobot")
    assert (exported.rows, exported.left_out) == (3, ())
    info = json.loads((tmp_path / "back/meta/info.json").read_text())
    assert (info["fps"], info["total_frames"], info["splits"]) == (10, 13, {"train": "0:2", "test": "2:3"})
    frames = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "back/data/*/*.parquet"), cache_dir=str(tmp_path / "c")
    )
    assert isinstance(frames["train"].features["observation.images.top"], datasets.Image)
    assert frames["train"]["index"][:] == list(range(13))
    stats = json.loads((tmp_path / "back/meta/stats.json").read_text())
    everything = np.concatenate([state(n) for n in range(3)]).astype(np.float64)
    np.testing.assert_allclose(stats["observation.state"]["mean"], everything.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(stats["observation.state"]["std"], everything.std(axis=0), atol=1e-6)
    rs.make(tmp_path / "back", tmp_path / "again", shuffle=False)
    for split in ("train", "test"):
        before, after = (list(rs.open(tmp_path / name, split=split)) for name in ("data", "again"))
        for one, other in zip(before, after, strict=True):
            assert one.keys() == other.keys()
            for name, value in one.items():
                if name not in ("episode_index", "steps/index"):
                    assert np.array_equal(np.asarray(other[name], object), np.asarray(value, object)), name


def test_what_cannot_be_exported(tmp_path: Path):
    rs.make([{"n": 1}], tmp_path / "data")
    with pytest.raises(rs.SchemaError, match="Only episodes"):
        rs.export(tmp_path / "data", tmp_path / "out", to="lerobot")
    assert not (tmp_path / "out").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(rs.RecordsmithError, match="already exists"):
        rs.export(tmp_path / "data", tmp_path / "mine", to="lerobot", overwrite=True)
    with pytest.raises(rs.RecordsmithError, match="written whole"):
        rs.export(tmp_path / "data", tmp_path / "out", to="lerobot", where="n == 1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "mine"]
