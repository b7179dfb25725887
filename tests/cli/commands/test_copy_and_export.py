"""`recordsmith copy` and `recordsmith export`: options, what is printed, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recordsmith as rs
from tests.cli.conftest import Run


def test_copy_and_what_it_prints(run: Run, pets_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(*("copy", pets_folder, "-o", out, "--where", "label == 1 or n is missing"), "--dedupe", "--shards", 2)
    assert result.exit_code == 2
    assert "There is no feature 'n', at column 15." in result.output
    result = run("copy", pets_folder, "-o", out, "--where", "label == 1", "--dedupe", "--shards", 2)
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    assert "4 of 13 records" in words
    assert "copied byte for byte" in words
    assert "left out: 9 records, which were not selected" in words
    assert "train 3 75.0 % 2" in words
    assert len(rs.open(out)) == 4


def test_copy_in_json(run: Run, pets_folder: Path, tmp_path: Path) -> None:
    result = run(
        *("copy", pets_folder, "-o", tmp_path / "out", "--format", "json", "--split", "a=50%,b=50%"),
        *("--merge-splits", "--shuffle"),
        *("--features", "label,name", "--rename", "label=class", "--sample", "10", "--compression", "gzip"),
    )
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["rows"] == 10
    assert document["left_behind"]["not_sampled"] == 3
    assert not document["verbatim"]
    assert document["left_out"] == ["image", "tokens", "weight"]
    assert {split["rows"] for split in document["splits"].values()} == {5}
    assert list(rs.open(tmp_path / "out").schema) == ["class", "name"]


def test_damaged_records_are_told_by_the_exit_code(run: Run, pets_file: Path, tmp_path: Path) -> None:
    data = bytearray(pets_file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pets_file.write_bytes(data)
    result = run("copy", pets_file, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "--on-error skip" in result.output
    result = run("copy", pets_file, "-o", tmp_path / "out", "--on-error", "quarantine")
    assert result.exit_code == 1
    assert "rejected: 1 record" in result.output
    assert run("copy", pets_file, "-o", tmp_path / "out").exit_code == 2, "nothing is overwritten"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rename", "label"], "not an old and a new name"),
        (["--sample", "many"], "neither a share"),
        (["--compression", "gzp"], "Did you mean 'gzip'"),
        (["--split", "train:0.8"], "has no '='"),
        (["--drop", "lable"], "Did you mean 'label'"),
    ],
)
def test_wrong_use(options: list[str], words: str, run: Run, pets_folder: Path, tmp_path: Path) -> None:
    result = run("copy", pets_folder, "-o", tmp_path / "out", *options)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
    assert not (tmp_path / "out").exists()


def test_export_and_back(run: Run, pets_folder: Path, tmp_path: Path) -> None:
    result = run("export", pets_folder, "-o", tmp_path / "all.csv")
    assert result.exit_code == 2
    assert "--split train" in " ".join(result.output.split())
    result = run("export", pets_folder, "-o", tmp_path / "train.csv", "--split", "train", "--where", "label == 0")
    assert result.exit_code == 0, result.output
    assert "train.csv: 4 of 10 records" in result.output
    assert "back again: recordsmith make" in result.output
    result = run("make", tmp_path / "train.csv", "-o", tmp_path / "back", "--no-shuffle")
    assert result.exit_code == 0, result.output
    assert [str(row["name"]) for row in rs.open(tmp_path / "back")] == ["pet 0", "pet 3", "pet 6", "pet 9"]
    result = run("export", pets_folder, "-o", tmp_path / "tables", "--to", "parquet", "--format", "json")
    files = json.loads(result.output)["files"]
    assert {Path(path).name: rows for path, rows in files.items()} == {"test.parquet": 3, "train.parquet": 10}
