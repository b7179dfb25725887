"""rs.open: which files it takes, and what lies beside them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.dataset.descriptions.tfds_folder import UnusedSchemaWarning
from recordsmith.records.shards import ChangedFileWarning, IncompleteShardsWarning, RepeatedFileWarning
from tests.dataset.numbered_rows import SCHEMA, numbers, write
from tests.made_records import file_bytes

# --- what is opened ---


def test_a_file(one_file: Path):
    for path in (one_file, str(one_file)):
        assert numbers(rs.open(path)) == list(range(10))


def test_a_folder(folder: Path):
    ds = rs.open(folder)
    assert [os.path.basename(file)[:10] for file in ds.files] == ["pets-train", "pets-train", "pets-valid"]
    assert ds.splits == ("train", "validation")
    assert len(ds) == 100
    assert numbers(ds) == list(range(100))


def test_a_glob(folder: Path):
    assert numbers(rs.open(folder / "pets-train*")) == list(range(75))
    assert numbers(rs.open(str(folder / "*validation*"))) == list(range(75, 100))


def test_a_list_keeps_its_order(folder: Path):
    paths = [folder / "pets-validation.tfrecord-00000-of-00001", folder / "pets-train*"]
    assert numbers(rs.open(paths)) == [*range(75, 100), *range(75)]
    with pytest.warns(RepeatedFileWarning, match="1 file is given more than once"):
        assert numbers(rs.open([folder, folder / "pets-validation*"])) == [*range(100), *range(75, 100)]


def test_a_split(folder: Path):
    assert numbers(rs.open(folder, split="validation")) == list(range(75, 100))
    assert len(rs.open(folder, split="train")) == 75
    with pytest.raises(rs.RecordsmithError, match=r"no split 'valdation'\. Did you mean 'validation'"):
        rs.open(folder, split="valdation")
    with pytest.raises(rs.RecordsmithError, match="'train', 'validation'"):
        rs.open(folder, split="everything")


def test_a_split_where_names_tell_of_none(one_file: Path):
    with pytest.raises(rs.RecordsmithError, match="the file names do not indicate any"):
        rs.open(one_file, split="train")


def test_missing_shards_are_warned_of(folder: Path):
    os.remove(folder / "pets-train.tfrecord-00000-of-00002")
    for path in (folder, folder / "pets-*"):
        with pytest.warns(IncompleteShardsWarning, match=r"1 of 2 \(number 0\)") as caught:
            assert numbers(rs.open(path)) == list(range(40, 100))
        assert caught[0].filename == __file__, "the warning points at the wrong line"


def test_a_file_that_is_given_twice_is_warned_of(folder: Path):
    with pytest.warns(RepeatedFileWarning, match="3 files are given more than once, such as") as caught:
        assert len(rs.open([folder, f"{folder}/pets-*"])) == 200
    assert caught[0].filename == __file__, "the warning points at the wrong line"


def test_a_file_of_another_size_than_the_manifest_says_is_warned_of(tmp_path: Path):
    with rs.write(tmp_path / "data", SCHEMA, name="pets", shards=2) as writer:
        writer.extend({"n": list(range(10)), "name": ["x"] * 10, "values": [[1.0]] * 10})
    first = tmp_path / "data" / "pets-train.tfrecord-00000-of-00002"
    size = first.stat().st_size
    first.write_bytes(b"")  # nothing is wrong with a file without records
    said = rf"1 file is not as recordsmith\.json says: '{first.name}' has 0 bytes instead of {size}\. Records may"
    with pytest.warns(ChangedFileWarning, match=said) as caught:
        assert len(rs.open(tmp_path / "data")) == 5
    assert caught[0].filename == __file__, "the warning points at the wrong line"


def test_one_shard_alone_is_no_reason_to_warn(folder: Path):
    assert len(rs.open(folder / "pets-train.tfrecord-00000-of-00002")) == 40


def test_files_whose_names_say_nothing_are_told_by_content(tmp_path: Path):
    write(tmp_path / "one", 0, 3)
    write(tmp_path / "two", 3, 3, "gzip")
    (tmp_path / "notes").write_text("nothing of interest")
    assert numbers(rs.open(tmp_path)) == list(range(6))


def test_a_folder_without_tfrecords(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("nothing of interest")
    with pytest.raises(rs.RecordsmithError, match="no TFRecord files") as caught:
        rs.open(tmp_path)
    assert "notes.txt" in str(caught.value)
    (tmp_path / "deeper").mkdir()
    with pytest.raises(rs.RecordsmithError, match="'deeper'"):
        rs.open(tmp_path)


def test_an_empty_folder(tmp_path: Path):
    with pytest.raises(rs.RecordsmithError, match="no TFRecord files"):
        rs.open(tmp_path)


def test_a_path_that_is_not_there(one_file: Path):
    with pytest.raises(FileNotFoundError) as caught:
        rs.open(one_file.parent / "oen.tfrecord")
    assert "Did you mean 'one.tfrecord'?" in "".join(caught.value.__notes__)


def test_opening_reads_nothing(tmp_path: Path):
    path = tmp_path / "damaged.tfrecord"
    path.write_bytes(b"not a record at all")
    ds = rs.open(path)
    assert ds.files == (str(path),)
    with pytest.raises(rs.NotTFRecordError):
        len(ds)


@pytest.mark.parametrize("compression", ["auto", None, ""])
def test_an_empty_file(compression: str | None, tmp_path: Path):
    path = tmp_path / "empty.tfrecord"
    path.touch()
    ds = rs.open(path, compression=compression)
    assert len(ds) == 0
    assert list(ds) == ds.head() == list(ds.batch(4)) == []
    assert ds.payload == "empty"
    assert len(ds.schema) == 0
    assert ds.verify() == 0
    with pytest.raises(IndexError, match="the dataset has 0"):
        ds[0]


def test_records_without_features(tmp_path: Path):
    path = tmp_path / "hollow.tfrecord"
    path.write_bytes(file_bytes([b"", b"", b""]))
    ds = rs.open(path)
    assert list(ds) == [{}, {}, {}]
    assert ds[1] == {}
    assert ds.raw(2) == b""


# --- descriptions beside the files ---


def manifest(schema: rs.Schema | None, splits: dict[str, list[str]]) -> str:
    document: dict[str, Any] = {
        "format": "recordsmith-dataset",
        "version": 1,
        "name": "pets",
        "splits": {name: {"shards": [{"file": file} for file in files]} for name, files in splits.items()},
    }
    if schema is not None:
        document["schema"] = schema.to_json()
    return json.dumps(document)


def test_a_manifest_names_files_splits_and_schema(folder: Path):
    declared = rs.Schema({"n": rs.Scalar("int64", description="the number")})
    splits = {
        "late": ["pets-validation.tfrecord-00000-of-00001"],
        "early": ["pets-train.tfrecord-00000-of-00002"],
    }
    (folder / "recordsmith.json").write_text(manifest(declared, splits))
    ds = rs.open(folder)
    assert ds.splits == ("late", "early")
    assert ds.schema == declared
    assert numbers(ds) == [*range(75, 100), *range(40)]
    assert ds[0].keys() == {"n"}
    assert numbers(rs.open(folder, split="early")) == list(range(40))


def test_a_manifest_without_a_schema(folder: Path):
    (folder / "recordsmith.json").write_text(manifest(None, {"all": ["pets-train.tfrecord-00000-of-00002"]}))
    assert rs.open(folder).schema == SCHEMA


def test_a_given_schema_comes_before_the_declared_one(folder: Path):
    declared = rs.Schema({"n": rs.Scalar("int64")})
    (folder / "recordsmith.json").write_text(manifest(declared, {"all": ["pets-train.tfrecord-00000-of-00002"]}))
    assert rs.open(folder, schema=SCHEMA)[3].keys() == SCHEMA.keys()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        (
            '{"format": "recordsmith-dataset", "version": 99, "splits": {}}',
            "not supported by this version of recordsmith",
        ),
        ('{"format": "recordsmith-dataset", "version": 1}', "incomplete"),
        ('{"format": "recordsmith-dataset", "version": 1, "splits": {"a": {}}}', "incomplete"),
        ('{"format": "recordsmith-dataset", "version": 1, "splits": {}, "schema": {}}', "not a recordsmith schema"),
        (manifest(None, {"a": ["/etc/passwd"]}), "only list files in its own folder"),
        (manifest(None, {"a": ["../outside"]}), "only list files in its own folder"),
        (manifest(None, {"a": ["missing.tfrecord"]}), "no file 'missing.tfrecord'"),
    ],
)
def test_manifests_that_cannot_be(content: str, said: str, folder: Path):
    (folder / "recordsmith.json").write_text(content)
    with pytest.raises(rs.RecordsmithError, match=said) as caught:
        rs.open(folder)
    assert str(folder / "recordsmith.json") in str(caught.value)


def tfds_feature(kind: str, **settings: Any) -> dict[str, Any]:
    return {"pythonClassName": "tensorflow_datasets.core.features." + kind, **settings}


def describe_for_tfds(folder: Path, features: dict[str, Any], shards: int = 2) -> None:
    (folder / "dataset_info.json").write_text(
        json.dumps(
            {
                "fileFormat": "tfrecord",
                "name": "pets",
                "version": "1.0.0",
                "splits": [
                    {
                        "name": "train",
                        "numBytes": "100",
                        "shardLengths": ["1"] * shards,
                        "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
                    }
                ],
            }
        )
    )
    tree = tfds_feature("FeaturesDict", featuresDict={"features": features})
    (folder / "features.json").write_text(json.dumps(tree))


def test_a_tfds_folder(folder: Path):
    describe_for_tfds(
        folder,
        {
            "n": tfds_feature("ClassLabel", classLabel={"numClasses": "100"}),
            "name": tfds_feature("Text", text={}),
            "values": tfds_feature(
                "Tensor", tensor={"shape": {"dimensions": ["-1"]}, "dtype": "float32", "encoding": "none"}
            ),
        },
    )
    ds = rs.open(folder)
    assert ds.splits == ("train",)
    assert ds.schema == rs.Schema({**SCHEMA, "n": rs.Label(100)})
    assert numbers(ds) == list(range(75))


def test_a_tfds_folder_with_features_that_are_not_known_here(folder: Path):
    """The schema is then inferred from the records."""
    describe_for_tfds(folder, {"clip": tfds_feature("Hologram", hologram={})})
    with pytest.warns(UnusedSchemaWarning, match="'clip'"):
        assert rs.open(folder).schema == SCHEMA


def test_a_tfds_folder_without_features(folder: Path):
    describe_for_tfds(folder, {})
    os.remove(folder / "features.json")
    assert len(rs.open(folder)) == 75


def test_tfds_folders_that_cannot_be(folder: Path):
    describe_for_tfds(folder, {}, shards=3)
    with pytest.raises(rs.RecordsmithError, match="3 of 3 files"):
        rs.open(folder)
    (folder / "dataset_info.json").write_text('{"name": "pets", "fileFormat": "array_record", "splits": []}')
    with pytest.raises(rs.SchemaError, match="stored as array_record"):
        rs.open(folder)
    (folder / "dataset_info.json").write_text("not json")
    with pytest.raises(rs.SchemaError, match="not JSON"):
        rs.open(folder)
