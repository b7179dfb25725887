"""`recordsmith index`."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.records.index import cache_paths, load_index


@pytest.fixture
def large_file(tmp_path):
    """More than a mebibyte, so that opening it keeps its index too."""
    path = tmp_path / "large.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_columns({"x": np.zeros((300, 1000), np.float32)}, rs.Schema({"x": rs.Tensor("float32", (1000,))}))
    return path


def test_it_keeps_the_index_beside_the_data(run, pets_file):
    result = run("index", pets_file)
    assert result.exit_code == 0
    place = cache_paths(str(pets_file))[0]
    assert os.path.isfile(place)
    assert f"{pets_file}: 10 records" in result.stdout
    assert f"index written to {place}" in result.stdout


def test_a_second_time_it_is_already_there(run, large_file):
    assert "index written" in run("index", large_file).stdout
    place = cache_paths(str(large_file))[0]
    before = os.stat(place)
    second = json.loads(run("index", large_file, "--format", "json").stdout)
    assert second["files"][0]["written"] is False
    assert os.stat(place) == before
    again = json.loads(run("index", large_file, "--format", "json", "--rebuild").stdout)
    assert again["files"][0]["written"] is True
    assert os.stat(place).st_ino != before.st_ino


def test_a_stale_index_is_written_anew(run, large_file, pets_file):
    run("index", large_file)
    with rs.RecordWriter(large_file) as writer:
        for _ in range(300):
            writer.write(bytes(5000))
    document = json.loads(run("index", large_file, pets_file, "--format", "json").stdout)
    assert [file["written"] for file in document["files"]] == [True, True]
    assert load_index(large_file).lengths.tolist() == [5000] * 300


def test_the_keys_of_the_json(run, pets_folder):
    document = json.loads(run("index", pets_folder, "--format", "json").stdout)
    assert set(document) == {"records", "bytes", "files"}
    assert document["records"] == 13
    assert [file["records"] for file in document["files"]] == [3, 6, 4]
    for file in document["files"]:
        assert set(file) == {"path", "records", "bytes", "compression", "index", "written"}
        assert os.path.isfile(file["index"])


def test_a_split(run, pets_folder):
    assert json.loads(run("index", pets_folder, "--split", "test", "--format", "json").stdout)["records"] == 3


def test_paths_are_told_as_they_were_given(run, pets_folder, monkeypatch):
    monkeypatch.chdir(pets_folder.parent)
    document = json.loads(run("index", "pets", "--format", "json").stdout)
    assert document["files"][0]["index"].startswith("pets/.recordsmith/")


@pytest.mark.parametrize(("style", "name"), [("dali", "pets.tfrecord.idx"), ("vahidk", "pets.tfindex")])
def test_text_indexes(run, pets_file, style, name):
    result = run("index", pets_file, "--format", style)
    assert result.exit_code == 0
    lines = (pets_file.parent / name).read_text().splitlines()
    numbers = [tuple(map(int, line.split())) for line in lines]
    assert len(numbers) == 10
    assert numbers[0][0] == 0
    assert [offset + size for offset, size in numbers[:-1]] == [offset for offset, _ in numbers[1:]]
    assert sum(numbers[-1]) == os.path.getsize(pets_file)


def test_text_indexes_in_a_folder(run, pets_folder, tmp_path):
    assert run("index", pets_folder, "--format", "dali", "-o", tmp_path / "indexes").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "indexes").iterdir()) == sorted(
        f"{path.name}.idx" for path in pets_folder.iterdir() if path.is_file()
    )


def test_a_text_index_in_a_file(run, pets_file, tmp_path):
    assert run("index", pets_file, "--format", "dali", "-o", tmp_path / "mine.txt").exit_code == 0
    assert (tmp_path / "mine.txt").read_text().startswith("0 ")


def test_an_older_text_index_is_replaced_and_nothing_else(run, pets_file):
    place = pets_file.parent / "pets.tfrecord.idx"
    place.write_text("0 99\n")
    assert run("index", pets_file, "--format", "dali").exit_code == 0
    place.write_bytes(b"TFRIDX\x00\x01binary")
    result = run("index", pets_file, "--format", "dali")
    assert result.exit_code == 2
    assert "not a text index" in result.stderr
    assert place.read_bytes().startswith(b"TFRIDX")


def test_two_files_never_share_an_index(run, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        with rs.RecordWriter(tmp_path / folder / "data.tfrecord") as writer:
            writer.write(b"x")
    paths = [tmp_path / "a", tmp_path / "b"]
    result = run("index", *paths, "--format", "dali", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "same index file" in result.stderr
    assert run("index", *paths, "--format", "dali").exit_code == 0


def test_compressed_files_have_no_text_index(run, tmp_path):
    path = tmp_path / "data.tfrecord.gz"
    with rs.RecordWriter(path, "gzip") as writer:
        writer.write(b"x")
    assert json.loads(run("index", path, "--format", "json").stdout)["files"][0]["compression"] == "gzip"
    result = run("index", path, "--format", "dali")
    assert result.exit_code == 2
    assert "compressed" in result.stderr


def test_options_that_do_not_go_together(run, pets_file):
    assert run("index", pets_file, "-o", "x").exit_code == 2
    assert run("index", pets_file, "--format", "dali", "--rebuild").exit_code == 2
    assert run("index", pets_file, "--format", "nothing").exit_code == 2


def test_a_cut_file(run, pets_file):
    with open(pets_file, "r+b") as file:
        file.truncate(os.path.getsize(pets_file) - 5)
    result = run("index", pets_file)
    assert result.exit_code == 2
    assert "ends inside record 9" in result.stderr
    assert not result.stdout


def test_the_tfrecord_package_reads_what_was_written(run, pets_file):
    run("index", pets_file, "--format", "vahidk")
    index = np.loadtxt(pets_file.parent / "pets.tfindex", dtype=np.int64)  # as the package does
    data = pets_file.read_bytes()
    for (offset, size), payload in zip(index, rs.RecordReader(pets_file), strict=True):
        assert data[offset + 12 : offset + size - 4] == payload
