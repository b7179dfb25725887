"""The core works without the GIL, and several threads may use one file."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text()})


def write_rows(path: Path, rows: int) -> None:
    with rs.RecordWriter(path) as writer:
        writer.write_rows(({"n": n, "name": f"row {n}"} for n in range(rows)), SCHEMA)


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
    os.close(descriptor)


@pytest.mark.parametrize("how", ["records", "batches"])
def test_the_gil_is_released_while_the_core_waits_for_data(tmp_path: Path, how: str) -> None:
    # The reader blocks on an empty pipe. If it held the GIL, this thread could never fill the pipe.
    write_rows(tmp_path / "data.tfrecord", 50)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen: list[int] = []

    def read() -> None:
        if how == "records":
            seen.extend(int(rs.decode_example(payload)["n"][0]) for payload in rs.RecordReader(pipe, None))
        else:
            for batch in rs.open(pipe, schema=SCHEMA, compression=None).batch(8, threads=1):
                seen.extend(batch["n"].tolist())

    reader = threading.Thread(target=read)
    reader.start()
    write_all(os.open(pipe, os.O_WRONLY), (tmp_path / "data.tfrecord").read_bytes())
    reader.join(timeout=60)
    assert seen == list(range(50))


def test_several_threads_read_one_dataset(tmp_path: Path) -> None:
    write_rows(tmp_path / "data.tfrecord", 2000)
    ds = rs.open(tmp_path / "data.tfrecord")

    def read(seed: int) -> bool:
        numbers = np.random.default_rng(seed).integers(0, 2000, 64)
        by_number = ds[numbers]["n"].tolist() == numbers.tolist()
        payloads = [int(rs.decode_example(payload)["n"][0]) for payload in ds.raw(numbers)]
        in_order = [n for batch in ds.batch(300, threads=2) for n in batch["n"].tolist()]
        return by_number and payloads == numbers.tolist() and in_order == list(range(2000))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(32)))


def test_several_threads_write_their_own_files(tmp_path: Path) -> None:
    def write(shard: int) -> None:
        with rs.RecordWriter(tmp_path / f"data-{shard:05}-of-00004") as writer:
            for start in range(0, 1000, 100):
                numbers = np.arange(start, start + 100) + 1000 * shard
                writer.write_columns({"n": numbers, "name": [f"row {n}" for n in numbers]}, SCHEMA)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert [int(row["n"]) for row in rs.open(tmp_path)] == list(range(4000))
