"""Datasets of Ray Data from TFRecords and back: rows, types, damage, and tasks that are tried twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.formats.made_sources import file_digests

ray_data = pytest.importorskip("ray.data")
pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    pytest.mark.filterwarnings("ignore:::ray"),  # Ray Data warns of its own settings
    pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning"),
]

SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64"),
        "score": rs.Scalar("float32", optional=True),
        "label": rs.Label(["cat", "dog", "bird"]),
        "text": rs.Text(),
        "tokens": rs.Tensor("int64", (None,)),
        "pixels": rs.Tensor("uint8", (2, 3)),
        "boxes": rs.Tensor("float32", (None, 4)),
    }
)


def row(n: int) -> dict[str, Any]:
    return {
        "n": n,
        "score": None if n % 5 == 0 else n / 2,
        "label": n % 3,
        "text": f"row {n}",
        "tokens": np.arange(n % 4),
        "pixels": np.full((2, 3), n % 256, np.uint8),
        "boxes": np.full((n % 3, 4), n, np.float32),
    }


@pytest.fixture(autouse=True)
def _quiet() -> None:
    context = ray_data.DataContext.get_current()
    context.enable_progress_bars = False


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored") / "data"
    with rs.write(folder, SCHEMA, shards=2) as writer:
        writer.extend(map(row, range(1000)))
    return folder


def test_rows_and_types(stored: Path) -> None:
    import recordsmith.ray

    dataset = recordsmith.ray.read(stored, override_num_blocks=5)
    assert dataset.count() == 1000
    assert dataset.schema().names == list(SCHEMA)
    expected = {int(one["n"]): one for one in rs.open(stored)}
    batches = list(dataset.iter_batches(batch_size=None, batch_format="numpy"))
    assert len(batches) == 5, "two files are five ranges"
    assert sorted(int(n) for batch in batches for n in batch["n"]) == list(range(1000))
    for batch in batches:
        assert batch["pixels"].shape[1:] == (2, 3)
        assert batch["pixels"].dtype == np.uint8
        for place, n in enumerate(batch["n"].tolist()):
            one = expected[n]
            assert batch["text"][place] == one["text"]
            assert batch["label"][place] == n % 3
            assert np.array_equal(batch["tokens"][place], one["tokens"])
            assert np.array_equal(batch["pixels"][place], one["pixels"])
            assert np.array_equal(batch["boxes"][place], one["boxes"])
            assert batch["boxes"][place].shape == (n % 3, 4)
            score = batch["score"][place]
            assert (score is None or np.isnan(score)) if n % 5 == 0 else score == n / 2


def test_columns_and_conditions(stored: Path) -> None:
    import recordsmith.ray

    chosen = recordsmith.ray.read(stored, columns=["n", "text"], where="label == 'dog' and n < 100")
    assert sorted(one["n"] for one in chosen.take_all()) == [n for n in range(100) if n % 3 == 1]
    assert chosen.schema().names == ["n", "text"]
    with pytest.raises(rs.SchemaError, match="Did you mean 'text'"):
        recordsmith.ray.read(stored, columns=["txet"])


def test_a_damaged_record_is_named(stored: Path, tmp_path: Path) -> None:
    import recordsmith.ray

    (first, *_) = sorted(stored.glob("*.tfrecord-*"))
    damaged = bytearray(first.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "damaged.tfrecord").write_bytes(damaged)
    with pytest.raises(Exception, match=r"damaged\.tfrecord, record \d+"):
        recordsmith.ray.read(tmp_path / "damaged.tfrecord", schema=SCHEMA).take_all()


def test_compressed_files(stored: Path, tmp_path: Path) -> None:
    import recordsmith.ray

    rs.copy(stored, tmp_path / "gzip", compression="gzip", shards=3)
    dataset = recordsmith.ray.read(tmp_path / "gzip", columns=["n"])
    assert dataset.count() == 1000
    assert sorted(one["n"] for one in dataset.take_all()) == list(range(1000))


def test_written_and_read_again(stored: Path, tmp_path: Path) -> None:
    import recordsmith.ray

    dataset = recordsmith.ray.read(stored, override_num_blocks=4).drop_columns(["score"])
    schema = rs.Schema({name: feature for name, feature in SCHEMA.items() if name != "score"})
    sink = recordsmith.ray.RecordsmithSink(tmp_path / "out", schema, name="pets", compression="gzip")
    dataset.write_datasink(sink)
    written = rs.open(tmp_path / "out", split="train")
    assert written.schema == schema
    assert sorted(int(one["n"]) for one in written) == list(range(1000))
    for one in written:
        assert np.array_equal(one["boxes"], row(int(one["n"]))["boxes"])
    assert rs.check(tmp_path / "out").ok
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names[-1] == "recordsmith.json"
    begun = ("pets-train.tfrecord.gz-", "dataset_info", "features", "label", "record")
    assert all(name.startswith(begun) for name in names)


def test_types_are_taken_as_they_are(tmp_path: Path) -> None:
    import recordsmith.ray

    dataset = ray_data.range_tensor(100, shape=(2, 2), override_num_blocks=3).map(
        lambda one: {"x": one["data"].astype(np.float32), "name": str(one["data"][0, 0])}
    )
    dataset.write_datasink(recordsmith.ray.RecordsmithSink(tmp_path / "out"))
    written = rs.open(tmp_path / "out")
    assert written.schema == rs.Schema({"x": rs.Tensor("float32", (2, 2)), "name": rs.Text()})
    assert len(written) == 100
    with pytest.raises(rs.RecordsmithError, match="already has a split"):
        dataset.write_datasink(recordsmith.ray.RecordsmithSink(tmp_path / "out"))
    dataset.write_datasink(recordsmith.ray.RecordsmithSink(tmp_path / "out", split="test"))
    assert len(rs.open(tmp_path / "out", split="test")) == 100


class DiesOnce:
    """Kills its own process for one row, the first time."""

    def __init__(self, marker: str) -> None:
        self.marker = marker

    def __call__(self, one: dict[str, Any]) -> dict[str, Any]:
        if one["id"] == 60 and not os.path.exists(self.marker):
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return one


def test_a_task_that_is_tried_twice_leaves_one_copy(tmp_path: Path) -> None:
    import recordsmith.ray

    dataset = ray_data.range(100, override_num_blocks=4).map(DiesOnce(str(tmp_path / "died")).__call__)
    dataset.write_datasink(recordsmith.ray.RecordsmithSink(tmp_path / "out"))
    assert (tmp_path / "died").exists()
    assert sorted(int(one["id"]) for one in rs.open(tmp_path / "out")) == list(range(100))
    assert not (tmp_path / "out" / ".recordsmith-making").exists()


def fails(one: dict[str, Any]) -> dict[str, Any]:
    if one["id"] == 60:
        raise ZeroDivisionError("row 60")
    return one


def test_a_failed_job_leaves_what_was_there(tmp_path: Path) -> None:
    import recordsmith.ray

    ray_data.range(10).write_datasink(recordsmith.ray.RecordsmithSink(tmp_path / "out"))
    before = file_digests(tmp_path / "out")
    dataset = ray_data.range(100, override_num_blocks=4).map(fails)
    with pytest.raises(Exception, match="row 60"):
        dataset.write_datasink(recordsmith.ray.RecordsmithSink(tmp_path / "out", overwrite=True))
    assert file_digests(tmp_path / "out") == before
