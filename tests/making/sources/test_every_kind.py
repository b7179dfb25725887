"""Sources of all kinds of tables and arrays: one command without options, and the same bytes however they are made."""

from __future__ import annotations

import gzip
import json
import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import h5py
import numpy as np
import openpyxl
import pyarrow as pa
import pytest
import scipy.io
from click.testing import CliRunner
from pyarrow import feather

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.formats.arrays import source as array_source
from recordsmith.formats.tables import batch_source, lines
from recordsmith.formats.text_files import source as text_source
from recordsmith.making.sources.detect import source_for

ROWS = 60
NUMBERS = np.arange(ROWS)
WORDS = [f"né {n}" for n in range(ROWS)]


def arrow(folder: Path) -> None:
    with pa.ipc.new_stream(str(folder / "a.arrow"), pa.schema([("n", pa.int64()), ("word", pa.string())])) as writer:
        writer.write_table(pa.table({"n": NUMBERS, "word": WORDS}), max_chunksize=11)


def feather_file(folder: Path) -> None:
    feather.write_feather(pa.table({"n": NUMBERS, "word": WORDS}), folder / "a.feather")


def json_array(folder: Path) -> None:
    (folder / "a.json").write_text(json.dumps([{"n": n, "word": word} for n, word in enumerate(WORDS)], indent=1))


def packed_lines(folder: Path) -> None:
    with pa.CompressedOutputStream(str(folder / "a.jsonl.zst"), "zstd") as file:
        file.write("".join(json.dumps({"n": n, "word": word}) + "\n" for n, word in enumerate(WORDS)).encode())


def sqlite(folder: Path) -> None:
    connection = sqlite3.connect(folder / "a.sqlite")
    connection.execute("CREATE TABLE t (n INTEGER, word TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(WORDS)))
    connection.commit()
    connection.close()


def duck(folder: Path) -> None:
    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (n BIGINT, word TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(WORDS)))


def excel(folder: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["n", "word"], *map(list, enumerate(WORDS))):
        book.active.append(row)
    book.save(folder / "a.xlsx")


def hdf5(folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        file["n"], file["word"] = NUMBERS, WORDS


def mat(folder: Path) -> None:
    scipy.io.savemat(folder / "a.mat", {"n": NUMBERS, "word": np.array(WORDS, object)})


def idx(folder: Path) -> None:
    data = bytes([0, 0, 8, 1, 0, 0, 0, ROWS]) + NUMBERS.astype(np.uint8).tobytes()
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(data))


def text(folder: Path) -> None:
    for n, word in enumerate(WORDS):
        (folder / "ab"[n % 2]).mkdir(exist_ok=True)
        (folder / "ab"[n % 2] / f"{n}.txt").write_text(word)


def text_lines(folder: Path) -> None:
    (folder / "train.txt.gz").write_bytes(gzip.compress("\n".join(WORDS[:-10]).encode()))
    (folder / "test.txt.gz").write_bytes(gzip.compress("\n".join(WORDS[-10:]).encode()))


KINDS = (arrow, feather_file, json_array, packed_lines, sqlite, duck, excel, hdf5, mat, idx, text, text_lines)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_source, "_CHUNK_ROWS", 7)
    monkeypatch.setattr(batch_source, "_CHUNK_ROWS", 7)
    monkeypatch.setattr(lines, "LINES_AT_ONCE", 7)
    monkeypatch.setattr(text_source, "_CHUNK_FILES", 7)


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.tfrecord-*"))}


@pytest.mark.parametrize("write", KINDS)
def test_one_command_and_the_same_bytes_however_it_is_made(write: Callable[[Path], None], tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write(data)
    result = CliRunner().invoke(main, ["make", str(data), "-o", str(tmp_path / "a"), "--name", "d", "--format", "json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["rows"] == ROWS
    first = shards(tmp_path / "a")
    options: dict[str, Any] = {"name": "d"}
    rs.make(data, tmp_path / "b", workers=3, **options)
    for part in ("1/3", "3/3", "2/3"):
        rs.make(data, tmp_path / "c", part=part, **options)
    rs.make(data, tmp_path / "c", finish=True, **options)
    assert shards(tmp_path / "b") == shards(tmp_path / "c") == first
    source = source_for(data)
    chunks = [pickle.loads(pickle.dumps(chunk)) for chunk in source.chunks()]
    assert len(chunks) >= 8
    assert sum(chunk.load().rows for chunk in chunks) == ROWS
    assert json.loads(json.dumps(source.describe())) == source_for(data).describe()


def test_values_survive_the_processes_of_a_function(tmp_path):
    arrow(tmp_path)
    made = rs.make(tmp_path, tmp_path / "made", map=lambda row: {"n": row["n"] * 2}, workers=2, shuffle=False)
    assert made.splits["train"].rows == ROWS
    assert [row["n"] for row in rs.open(tmp_path / "made")] == (NUMBERS * 2).tolist()
