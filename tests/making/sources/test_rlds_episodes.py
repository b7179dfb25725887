"""Episodes of RLDS: written by TFDS, opened, fed, cut into steps, and written so that TFDS opens them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.schema.export.test_tfds_features import F, tfds, written

pytestmark = pytest.mark.filterwarnings("ignore")  # of TFDS's own dependencies
KEPT = "episodes with their steps: observations, images, actions, rewards, flags, instructions"


def episode(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    length = 2 + number % 3
    return {
        "steps": [
            {
                "observation": {
                    "image": rng.integers(0, 256, (8, 6, 3)).astype(np.uint8),
                    "wrist": rng.integers(0, 256, (4, 4, 3)).astype(np.uint8),
                    "state": rng.normal(size=7).astype(np.float32),
                },
                "action": rng.normal(size=3).astype(np.float64),
                "reward": np.float32(step),
                "is_first": step == 0,
                "is_last": step == length - 1,
                "language_instruction": f"move {step}",
            }
            for step in range(length)
        ],
        "episode_metadata": {"file_path": f"robot/{number}.pkl"},
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    step = {
        "observation": {
            "image": F.Image(shape=(8, 6, 3), encoding_format="png"),
            "wrist": F.Image(shape=(4, 4, 3), encoding_format="png"),
            "state": F.Tensor(shape=(7,), dtype=np.float32),
        },
        "action": F.Tensor(shape=(3,), dtype=np.float64),
        "reward": F.Scalar(np.float32),
        "is_first": F.Scalar(np.bool_),
        "is_last": F.Scalar(np.bool_),
        "language_instruction": F.Text(),
    }
    features = {"steps": F.Dataset(step), "episode_metadata": {"file_path": F.Text()}}
    return written(tmp_path_factory.mktemp("rlds") / "robot", features, [episode(n) for n in range(6)])


@pytest.mark.source("rlds", keeps=KEPT)
def test_episodes_are_fed_with_their_images(folder: Path):
    ds = rs.open(folder)
    assert ds.schema["steps/observation/image"] == rs.Sequence(rs.Image(8, 6))
    loader = ds.images(feature="steps/observation/image").images(
        (2, 2), feature="steps/observation/wrist", scale=1 / 255
    )
    seen = 0
    for batch in loader.batch(4):
        images = batch["steps/observation/image"]
        for row in range(len(images)):
            wanted = episode(seen)["steps"]
            np.testing.assert_array_equal(images[row], [step["observation"]["image"] for step in wanted])
            assert batch["steps/observation/wrist"][row].shape == (len(wanted), 2, 2, 3)
            actions = np.array([step["action"] for step in wanted]).astype(np.float32)
            np.testing.assert_array_equal(batch["steps/action"][row], actions)
            assert batch["steps/language_instruction"][row].to_list() == [f"move {n}" for n in range(len(wanted))]
            seen += 1
    assert seen == 6
    padded = next(iter(ds.select("steps/observation/image", "steps/reward").images().padded_batch(6)))
    assert padded["steps/observation/image"].shape == (6, 4, 8, 6, 3)


def test_all_images_of_an_episode_are_augmented_alike(folder: Path):
    ds = rs.open(folder).select("steps/observation/image")
    flips = [rs.augment.flip_left_right(), rs.augment.brightness(0.3)]
    plain = list(ds.images())
    for row, (changed, whole) in enumerate(zip(ds.images(augment=flips, seed=4), plain, strict=True)):
        before, after = (one["steps/observation/image"].astype(int) for one in (whole, changed))
        if abs(after - before).sum() > abs(after - before[:, :, ::-1]).sum():
            before = before[:, :, ::-1]
        inside = (after > 0) & (after < 255)
        assert np.ptp((after - before)[inside]) <= 1, row


@pytest.mark.source("rlds", keeps=KEPT)
def test_written_again_tfds_reads_the_same_episodes(folder: Path, tmp_path: Path):
    rs.make(rs.sources.rlds(folder), tmp_path / "out", name="robot", shuffle=False)
    datasets = [
        tfds.builder_from_directory(str(path)).as_dataset(split="train", shuffle_files=False)
        for path in (folder, tmp_path / "out")
    ]
    episodes = [list(dataset) for dataset in datasets]
    assert len(episodes[1]) == 6
    for one, other in zip(*episodes, strict=True):
        assert one["episode_metadata"]["file_path"] == other["episode_metadata"]["file_path"]
        for step, same in zip(tfds.as_numpy(one["steps"]), tfds.as_numpy(other["steps"]), strict=True):
            for name in ("action", "reward", "is_first", "language_instruction"):
                assert np.asarray(step[name]).dtype == np.asarray(same[name]).dtype
                np.testing.assert_array_equal(step[name], same[name])
            np.testing.assert_array_equal(step["observation"]["image"], same["observation"]["image"])


@pytest.mark.source("rlds", keeps=KEPT)
def test_a_row_for_each_step(folder: Path, tmp_path: Path):
    rs.make(rs.sources.rlds(folder, rows="steps"), tmp_path / "out", shuffle=False)
    ds = rs.open(tmp_path / "out")
    assert ds.schema["observation/image"] == rs.Image(8, 6)
    assert ds.schema["action"] == rs.Tensor("float64", (3,), storage="list")
    rows = list(ds.select("action", "reward", "step", "episode", "episode_metadata/file_path", "is_last"))
    wanted = [(n, place, step) for n in range(6) for place, step in enumerate(episode(n)["steps"])]
    assert len(rows) == len(wanted)
    for row, (number, place, step) in zip(rows, wanted, strict=True):
        assert row["action"].tolist() == step["action"].astype(np.float32).tolist()
        assert (row["reward"], row["step"], row["is_last"]) == (step["reward"], place, step["is_last"])
        assert row["episode_metadata/file_path"] == f"robot/{number}.pkl"
        assert row["episode"].endswith(f"record {number}")


def test_other_records_and_uneven_lists(folder: Path, tmp_path: Path):
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example({"n": 1})
    with pytest.raises(rs.PipelineError, match="not episodes of RLDS"):
        rs.sources.rlds(tmp_path / "a.tfrecord").schema()
    with pytest.raises(rs.PipelineError, match="Did you mean 'steps'"):
        rs.sources.rlds(folder, rows="step")  # type: ignore[arg-type]
    schema = rs.Schema({"steps/is_first": rs.Tensor("int64", (None,)), "steps/action": rs.Tensor("float32", (None, 2))})
    with rs.write(tmp_path / "data", schema, name="uneven") as writer:
        writer.add({"steps/is_first": [1, 0], "steps/action": np.zeros((2, 2))})
        writer.add({"steps/is_first": [1, 0], "steps/action": np.zeros((3, 2))})
    made = rs.make(rs.sources.rlds(tmp_path / "data", rows="steps"), tmp_path / "out", max_rejects=1)
    assert made.rejects == 1
    assert "differ in length" in (tmp_path / "out" / "rejected.jsonl").read_text()
    assert len(rs.open(tmp_path / "out")) == 2
