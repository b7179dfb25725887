"""Which kind of source a path stands for."""

from __future__ import annotations

import inspect
import json
import os
import shutil
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pytest

import recordsmith as rs
from recordsmith.formats.kinds import KINDS
from recordsmith.images import encode_image
from recordsmith.making import sources
from recordsmith.making.sources.detect import kind_of, source_for

IMAGE = encode_image(np.zeros((4, 4, 3), np.uint8), "png")


def filled(folder: Path, *names: str, data: bytes = b"") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "csv"),
        ("a.tsv", "csv"),
        ("A.CSV", "csv"),
        ("a.csv.gz", "csv"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson.gz", "jsonl"),
        ("a.json", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.npy", "arrays"),
        ("a.npz", "arrays"),
        ("a.tar", "webdataset"),
        ("a.tar.gz", "webdataset"),
        ("a.tfrecord", "tfrecords"),
        ("a.tfrecord.gz", "tfrecords"),
        ("a-train.tfrecord-00000-of-00002", "tfrecords"),
        ("a.mp4", "video"),
        ("a.MKV", "video"),
        ("a.jpeg", "images"),
    ],
)
def test_by_name(name, kind, tmp_path):
    assert kind_of(filled(tmp_path, name) / name) == kind
    assert kind_of(tmp_path) == kind
    assert kind_of(str(tmp_path / "*")) == kind
    assert kind_of([tmp_path / name]) == kind


def test_a_folder_of_class_folders(tmp_path):
    names = [f"{kind}/{number}.jpg" for kind in ("cat", "dog") for number in range(30)]
    filled(tmp_path, *names, "README.md", "labels.csv", ".DS_Store")
    assert kind_of(tmp_path) == "images"


def test_names_that_say_nothing_are_opened(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "a").write_bytes(IMAGE)
    assert kind_of(tmp_path / "1") == "images"
    with rs.RecordWriter(tmp_path / "records") as writer:
        writer.write(b"")
    assert kind_of(tmp_path / "records") == "tfrecords"
    (tmp_path / "lines").write_text(json.dumps({"a": 1}) + "\n")
    assert kind_of(tmp_path / "lines") == "jsonl"


def test_a_folder_that_recordsmith_or_tfds_made(tmp_path):
    assert kind_of(filled(tmp_path, "dataset_info.json", "features.json", "label.labels.txt")) == "tfrecords"


def test_several_kinds_are_listed_with_the_way_to_name_one(tmp_path):
    filled(tmp_path, "a.csv", "b.csv", "c.parquet")
    with pytest.raises(rs.RecordsmithError) as caught:
        kind_of(tmp_path)
    assert "2 of kind csv (a.csv), 1 of kind parquet (c.parquet)" in str(caught.value)
    assert "rs.sources.csv" in str(caught.value)
    assert "--kind csv" in caught.value.on_command_line()


def test_an_empty_folder_is_called_that(tmp_path):
    (tmp_path / "inside").mkdir()
    with pytest.raises(rs.RecordsmithError, match="The folder is empty"):
        kind_of(tmp_path)


@pytest.mark.parametrize("names", [["notes.txt"], ["a.what", "b.what"]])
def test_nothing_known_says_what_is_there(names, tmp_path):
    with pytest.raises(rs.RecordsmithError, match=r"could not be detected(.|\n)*rs.sources.csv"):
        kind_of(filled(tmp_path, *names))


@pytest.mark.parametrize("names", [["cat/1.jpg", "dog/1.jpg"], ["a/1.xml", "b/1.jpg"], ["train.csv", "test.csv"]])
def test_an_archive_of_files_is_not_a_webdataset(names, tmp_path):
    filled(tmp_path / "files", *names)
    path = shutil.make_archive(str(tmp_path / "packed"), "gztar", tmp_path / "files")
    with pytest.raises(rs.RecordsmithError, match="an archive of files, and not of the samples") as caught:
        kind_of(path)
    assert "--kind webdataset" in caught.value.on_command_line()
    assert (
        kind_of(shutil.make_archive(str(tmp_path / "s"), "tar", filled(tmp_path / "s", "1.jpg", "1.cls")))
        == "webdataset"
    )


def test_a_list_of_classes_beside_other_files_is_not_the_data(tmp_path):
    filled(tmp_path / "cifar-10-batches-bin", "data_batch_1.bin", "test_batch.bin", data=bytes(3073))
    (tmp_path / "cifar-10-batches-bin" / "batches.meta.txt").write_text("airplane\n")
    with pytest.raises(rs.RecordsmithError, match="raw numbers"):
        kind_of(tmp_path)


def test_a_repository_of_hugging_face(tmp_path):
    for name in ("en/train.csv", "en/test.csv", "de/train.csv", "de/test.csv"):
        filled(tmp_path / "repository", name, data=f"text\n{name}\n".encode())
    files = [f"  - split: {split}\n    path: {{}}/{split}.csv\n" for split in ("train", "test")]
    configs = "".join(
        f"- config_name: {name}\n  data_files:\n{''.join(files).format(name, name)}" for name in ("en", "de")
    )
    (tmp_path / "repository/README.md").write_text(f"---\nconfigs:\n{configs}---\n# Words\n")
    with pytest.raises(
        rs.RecordsmithError, match=r"(?s)several datasets.*'en', 'de'.*load_dataset\(.*, 'en'\)"
    ) as caught:
        rs.make(tmp_path / "repository", tmp_path / "out")
    lines = str(caught.value).partition("and pass it:")[2].replace('"data"', repr(str(tmp_path / "made")))
    exec(inspect.cleandoc(lines), {"rs": rs})
    assert rs.open(tmp_path / "made", split="test")[0]["text"] == "en/test.csv"
    assert rs.make(tmp_path / "repository" / "de", tmp_path / "out").splits_kept


def test_folders_with_the_same_shard_are_several_datasets(tmp_path):
    for name in ("en", "de"):
        filled(tmp_path / "words", f"{name}/train-00000-of-00001.csv", data=b"text\n" + name.encode() + b"\n")
        filled(tmp_path / "years", f"lang={name}/train-00000-of-00001.csv", data=b"text\nx\n")
    with pytest.raises(rs.RecordsmithError, match=r"(?s)look like several datasets.*'de/train-.*', 'en/train-"):
        rs.make(tmp_path / "words", tmp_path / "out")
    assert rs.make(str(tmp_path / "words/*/*.csv"), tmp_path / "a").rows == 2
    assert rs.make(tmp_path / "years", tmp_path / "b").rows == 2


def test_the_metadata_of_hugging_face_is_not_the_data(tmp_path):
    filled(tmp_path, "dataset_infos.json", data=b"{}")
    filled(tmp_path, "croissant.json", data=b"{}")
    filled(tmp_path, "train.csv")
    assert kind_of(tmp_path) == "csv"


def test_annotations_of_images_in_folders_are_named(tmp_path):
    filled(tmp_path, "imgs/a/1.png", "imgs/b/2.png", data=IMAGE)
    filled(tmp_path, "all.json", data=b'{"images": [], "annotations": [], "categories": []}')
    with pytest.raises(rs.RecordsmithError, match=r"1 of kind coco \(all.json\), 2 of kind images(.|\n)*sources.coco"):
        kind_of(tmp_path)


def test_the_cache_of_hugging_face(tmp_path):
    table = datasets.Dataset.from_dict({"x": [1, 2, 3]})
    for split in ("train", "test"):
        with pa.ipc.new_stream(tmp_path / f"words-{split}.arrow", table.data.table.schema) as writer:
            writer.write(table.data.table)
    table.info.write_to_directory(str(tmp_path))
    assert rs.make(tmp_path, tmp_path / "out").splits_kept


def test_pipes_and_devices_in_a_folder_are_not_waited_for(tmp_path):
    filled(tmp_path, *(f"{kind}/{number}.png" for kind in ("cat", "dog") for number in range(2)), data=IMAGE)
    for name in ("cat/x.png", "metadata.csv", "train.txt", "data.yaml", "a.json", "b.xml"):
        os.mkfifo(tmp_path / name)
    os.symlink("/dev/zero", tmp_path / "cat" / "zero.png")
    made = rs.make(tmp_path, tmp_path / "out")
    assert (made.rows, made.rejects) == (4, 0)


def test_a_path_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        kind_of("no/such/folder")


def test_the_source_gets_its_options(tmp_path):
    path = tmp_path / "a.data"
    path.write_text("x,y\n1,b\n2,a\n")
    source = source_for(path, kind="csv", label="y")
    assert source.kind == "csv"
    assert source.schema()["y"] == rs.Label(["a", "b"])


def test_unknown_options_and_kinds_are_refused(tmp_path):
    path = filled(tmp_path, "a.csv", data=b"x\n1\n") / "a.csv"
    with pytest.raises(rs.RecordsmithError, match=r"no option 'lable'\. Did you mean 'label'"):
        source_for(path, lable="x")
    with pytest.raises(rs.RecordsmithError, match=r"no option 'split'.* It is an option of .*tfrecords"):
        source_for(path, split="train")
    with pytest.raises(rs.RecordsmithError, match="Did you mean 'csv'"):
        source_for(path, kind="cvs")


def test_what_images_are_encoded_as_has_one_name_for_all_kinds(tmp_path):
    (tmp_path / "a.png").write_bytes(IMAGE)
    source = source_for(tmp_path, image_encoding="jpeg")
    assert source.schema()["image"] == rs.Image(encoding="jpeg")
    table = filled(tmp_path / "table", "a.csv", data=b"p\n../a.png\n")
    assert source_for(table, images=["p"], image_encoding="jpeg").schema()["p"] == rs.Image(encoding="jpeg")


def test_every_function_of_the_face_is_there():
    assert set(KINDS) | {"rows"} == set(sources.__all__)
    for name in sources.__all__:
        function = getattr(rs.sources, name)
        assert inspect.isfunction(function)
        assert function.__name__ == name
        assert function.__doc__
    with pytest.raises(AttributeError, match="no_such"):
        getattr(rs.sources, "no_such")  # noqa: B009 - the literal access would be a type error, as it should
