"""Folders of TensorFlow Datasets: prepared by it and opened here, and written here and opened by it."""

from __future__ import annotations

import importlib.resources.abc
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import recordsmith as rs


@pytest.fixture(scope="module")
def tfds() -> Any:
    return pytest.importorskip("tensorflow_datasets")


def tfds_features(tfds: Any) -> Any:
    return tfds.features.FeaturesDict(
        {
            "label": tfds.features.ClassLabel(names=["cat", "dog", "bird"]),
            "name": tfds.features.Text(),
            "score": tfds.features.Scalar(np.float32),
            "box": tfds.features.Tensor(shape=(4,), dtype=np.float32),
            "tokens": tfds.features.Tensor(shape=(None,), dtype=np.int32),
            "image": tfds.features.Image(shape=(4, 6, 3), encoding_format="png"),
            "meta": {"height": tfds.features.Scalar(np.int64), "flag": tfds.features.Scalar(np.bool_)},
        }
    )


def tfds_example(n: int) -> dict[str, Any]:
    return {
        "label": n % 3,
        "name": f"row {n}",
        "score": n / 4,
        "box": np.arange(4, dtype=np.float32) + n,
        "tokens": np.arange(n % 5, dtype=np.int32),
        "image": np.full((4, 6, 3), n, np.uint8),
        "meta": {"height": n * 10, "flag": n % 2 == 0},
    }


def check_like_tfds_examples(rows: list[dict[str, Any]]) -> None:
    found = {int(row["meta/height"]) // 10: row for row in rows}
    assert sorted(found) == list(range(len(rows)))
    for n, row in found.items():
        expected = tfds_example(n)
        assert (row["label"], row["name"], row["score"]) == (n % 3, f"row {n}", n / 4)
        assert row["box"].tolist() == expected["box"].tolist()
        assert row["tokens"].tolist() == expected["tokens"].tolist()
        assert bool(row["meta/flag"]) is (n % 2 == 0)
        assert tf.io.decode_png(row["image"]).numpy().tolist() == expected["image"].tolist()


@pytest.mark.filterwarnings("ignore")  # warnings of TFDS's own dependencies
def test_tfds_prepares_and_recordsmith_opens(tfds: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # TFDS asks for this backport without declaring it for the Pythons that have it built in.
    monkeypatch.setitem(sys.modules, "importlib_resources", importlib.resources)

    class Pets(tfds.core.GeneratorBasedBuilder):  # type: ignore[misc]
        VERSION = tfds.core.Version("1.0.0")
        name = "pets"

        def _info(self) -> Any:
            return self.dataset_info_from_configs(features=tfds_features(tfds))

        def _split_generators(self, dl_manager: Any) -> Any:  # noqa: ARG002 - TFDS's interface
            return {"train": self._generate_examples(40), "test": self._generate_examples(7)}

        def _generate_examples(self, count: int) -> Any:
            for n in range(count):
                yield n, tfds_example(n)

    builder = Pets(data_dir=tmp_path, file_format="tfrecord")
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(num_shards=3, try_download_gcs=False, register_checksums=False)
    )
    for split, count in (("train", 40), ("test", 7)):
        ds = rs.open(builder.data_dir, split=split)
        assert len(ds) == count
        check_like_tfds_examples(list(ds))
    ds = rs.open(builder.data_dir)
    assert set(ds.splits) == {"train", "test"}
    assert len(ds) == 47
    # The description beside the files says more than the records do.
    assert ds.schema["label"] == rs.Label(["cat", "dog", "bird"])
    assert ds.schema["tokens"] == rs.Tensor("int32", (None,), storage="list")
    assert ds.schema["meta/flag"] == rs.Scalar("bool", storage="list")
    assert ds.schema["image"] == rs.Image(4, 6)


@pytest.mark.filterwarnings("ignore")  # warnings of TFDS's own dependencies
def test_recordsmith_writes_and_tfds_opens(tfds: Any, tmp_path: Path):
    schema = rs.Schema(
        {
            "label": rs.Scalar("int64"),
            "name": rs.Text(),
            "score": rs.Scalar("float32"),
            "box": rs.Tensor("float32", (4,)),
            "tokens": rs.Tensor("int32", (None,), storage="list"),
            "image": rs.Bytes(),
            "meta/height": rs.Scalar("int64"),
            "meta/flag": rs.Scalar("bool", storage="list"),
        }
    )

    def flat(n: int) -> dict[str, Any]:
        example = tfds_example(n)
        meta = example.pop("meta")
        image = tf.io.encode_png(example.pop("image")).numpy()
        return {**example, "image": image, "meta/height": meta["height"], "meta/flag": meta["flag"]}

    for shard, (start, stop) in enumerate([(0, 12), (12, 20)]):
        with rs.RecordWriter(tmp_path / f"pets-train.tfrecord-{shard:05}-of-00002") as writer:
            writer.write_rows((flat(n) for n in range(start, stop)), schema)
    tfds.folder_dataset.write_metadata(
        data_dir=str(tmp_path),
        features=tfds_features(tfds),
        split_infos=[split_info(tfds, tmp_path)],
        filename_template="{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
    )
    builder = tfds.builder_from_directory(str(tmp_path))
    found = list(builder.as_dataset(split="train", shuffle_files=False).as_numpy_iterator())
    assert len(found) == 20
    for n, example in enumerate(found):
        expected = tfds_example(n)
        assert (example["label"], example["name"].decode(), example["score"]) == (n % 3, f"row {n}", n / 4)
        assert example["tokens"].tolist() == expected["tokens"].tolist()
        assert example["image"].tolist() == expected["image"].tolist()
        assert (example["meta"]["height"], example["meta"]["flag"]) == (n * 10, n % 2 == 0)
    # And the same folder, with TFDS's description in it, is one that recordsmith opens.
    check_like_tfds_examples(list(rs.open(tmp_path)))


def split_info(tfds: Any, folder: Path) -> Any:
    template = tfds.core.ShardedFileTemplate(
        template="{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
        dataset_name="pets",
        data_dir=folder,
        split="train",
        filetype_suffix="tfrecord",
    )
    return tfds.core.SplitInfo(name="train", shard_lengths=[12, 8], num_bytes=0, filename_template=template)
