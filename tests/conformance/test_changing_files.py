"""A file that is cut, grown, replaced, overwritten or deleted while it is read never kills the process.

Everything runs in a process of its own, which must end by itself: a bus error would end it otherwise. What may come out
besides the records is an exception of recordsmith's; what comes out as a record was in the file at some time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Opens a dataset of many reads' worth, takes a part, changes the file, and takes the rest.
PROGRAM = """
import gzip, json, os, sys
import recordsmith as rs

folder, way, payload_bytes, compressed, *actions = sys.argv[1:]
payload_bytes, compressed = int(payload_bytes), compressed == "1"
count = 2_000_000 // payload_bytes
schema = rs.Schema({"n": rs.Scalar("int64"), "filler": rs.Bytes()})


def write(name, first, number):
    with rs.RecordWriter(name, compression="gzip" if compressed else None, level=1, sync=False) as writer:
        fillers = [os.urandom(payload_bytes) for _ in range(number)]
        writer.write_columns({"n": list(range(first, first + number)), "filler": fillers}, schema)


def change(path, action):
    size = os.path.getsize(path)
    match action:
        case "cut in the middle":
            os.truncate(path, size // 2 + 7)
        case "cut to nothing":
            os.truncate(path, 0)
        case "grow by records":
            with open(path, "ab") as file, open(path + ".more", "rb") as more:
                file.write(more.read())
        case "grow by garbage":
            with open(path, "ab") as file:
                file.write(os.urandom(100_000))
        case "replace":
            os.replace(path + ".more", path)
        case "overwrite with zeros":
            with open(path, "r+b") as file:
                file.write(bytes(size))
        case "overwrite with others":
            with open(path, "r+b") as file, open(path + ".more", "rb") as more:
                file.write(more.read())
        case "delete":
            os.remove(path)


def taken(path, action):
    dataset = rs.open(path, schema=schema)
    if way == "reader":
        for n, payload in enumerate(rs.RecordReader(path)):
            if n == 3:
                change(path, action)
            yield int(rs.decode_example(payload)["n"][0])
    elif way == "rows":
        for n, row in enumerate(dataset):
            if n == 3:
                change(path, action)
            yield int(row["n"])
    elif "batches" in way:
        if way.startswith("counted"):
            len(dataset)  # by an index
        for n, batch in enumerate(dataset.batch(5, threads=int(way[-1]))):
            if n == 1:
                change(path, action)
            yield from batch["n"].tolist()
    elif way == "by number":
        last = len(dataset) - 1
        yield int(dataset[0]["n"])
        change(path, action)
        for n in (0, last, last // 2, 1, last):
            yield int(dataset[n]["n"])
        yield from dataset[[last - 1, 2, last]]["n"].tolist()
    elif way == "by number at once":
        last = len(dataset) - 1
        yield int(dataset[0]["n"])
        change(path, action)
        yield from dataset[list(range(last))]["n"].tolist()
    elif way == "raw":
        last = len(dataset) - 1
        dataset.raw(0)
        change(path, action)
        for payload in dataset.raw([last, 0, last // 2]):
            yield int(rs.decode_example(payload)["n"][0])
    elif way == "slice":
        half = dataset[1::2]
        yield int(half[0]["n"])
        change(path, action)
        for batch in half.batch(50):
            yield from batch["n"].tolist()


for number, action in enumerate(actions):
    print("now:", action, file=sys.stderr, flush=True)
    path = f"{folder}/data-{number}.tfrecord"
    write(path, 0, count)
    write(path + ".more", 10**6, count // 3)
    numbers, error = [], None
    try:
        for n in taken(path, action):
            numbers.append(n)
    except (rs.RecordsmithError, OSError, IndexError) as raised:
        error = [type(raised).__name__, str(raised)]
    print(json.dumps({"action": action, "path": path, "count": count, "numbers": numbers, "error": error}))
"""

ACTIONS = [
    "cut in the middle",
    "cut to nothing",
    "grow by records",
    "grow by garbage",
    "replace",
    "overwrite with zeros",
    "overwrite with others",
    "delete",
]
IN_ORDER = ["reader", "rows", "batches on 0", "batches on 1", "batches on 2", "counted batches on 1"]
DAMAGE = ("TruncatedFileError", "CorruptRecordError", "CompressionError")
BY_NUMBER = ["by number", "by number at once", "raw", "slice"]
SMALL, LARGE = 300, 30_000  # the core reads large records another way: it plans by their headers alone


def outcomes(folder: Path, way: str, payload_bytes: int, *, compressed: bool = False) -> list[dict[str, Any]]:
    """What came out, action by action."""
    arguments = [str(folder), way, str(payload_bytes), str(int(compressed)), *ACTIONS]
    finished = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, f"the process ended with {finished.returncode}:\n{finished.stderr}"
    found = [json.loads(line) for line in finished.stdout.splitlines()]
    assert [outcome["action"] for outcome in found] == ACTIONS
    return found


def check_in_order(found: dict[str, Any], *, follows: bool) -> None:
    action, numbers, error, count = found["action"], found["numbers"], found["error"], found["count"]
    original = [n for n in numbers if n < count]
    assert original == list(range(len(original))), f"{action}: records are missing, twice or in another order"
    added = numbers[len(original) :]
    if action in ("replace", "delete"):
        # The file that was opened stays what it was.
        assert (len(original), added, error) == (count, [], None), action
    elif action == "grow by records":
        assert (len(original), error) == (count, None), action
        assert added == list(range(10**6, 10**6 + len(added))), action
        assert follows or not added, f"{action}: these are not in the index"
    elif action == "grow by garbage":
        assert (len(original), added) == (count, []), action
        assert error is None or (follows and error[0] in DAMAGE), error
    else:
        assert not added, f"{action}: rows of two states of the file are mixed"
        if error is None:
            assert len(original) == count, f"{action}: records are gone in silence"  # all had been read ahead
        else:
            assert error[0] == "ChangedFileError", error
            assert "was changed while it was in use" in error[1], error
            assert found["path"] in error[1], action


def check_by_number(found: dict[str, Any]) -> None:
    action, error, count = found["action"], found["error"], found["count"]
    assert all(0 <= n < count for n in found["numbers"]), f"{action}: rows of two states of the file are mixed"
    if error is not None:
        assert error[0] == "ChangedFileError", error
        assert found["path"] in error[1], (action, error)


@pytest.mark.parametrize("payload_bytes", [SMALL, LARGE])
@pytest.mark.parametrize("way", IN_ORDER)
def test_reading_in_order(way: str, payload_bytes: int, tmp_path: Path):
    for found in outcomes(tmp_path, way, payload_bytes):
        check_in_order(found, follows=not way.startswith("counted"))


@pytest.mark.parametrize("way", ["reader", "batches on 2"])
def test_reading_a_compressed_file_in_order(way: str, tmp_path: Path):
    for found in outcomes(tmp_path, way, SMALL, compressed=True):
        check_in_order(found, follows=not way.startswith("counted"))


@pytest.mark.parametrize("payload_bytes", [SMALL, LARGE])
@pytest.mark.parametrize("way", BY_NUMBER)
def test_reading_by_number(way: str, payload_bytes: int, tmp_path: Path):
    for found in outcomes(tmp_path, way, payload_bytes):
        check_by_number(found)
        if found["action"] in ("grow by records", "grow by garbage", "replace", "delete"):
            # The file that was opened has all its records still, where they were.
            assert found["error"] is None, found["action"]
        else:
            assert found["error"] is not None, found["action"]


@pytest.mark.parametrize("way", BY_NUMBER)
def test_reading_a_compressed_file_by_number(way: str, tmp_path: Path):
    for found in outcomes(tmp_path, way, SMALL, compressed=True):
        check_by_number(found)


# The file shrinks and grows all the time while it is read over and over.
RACE = """
import os, sys, threading
import recordsmith as rs

path, threads, payload_bytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
count = 6_000_000 // payload_bytes
schema = rs.Schema({"n": rs.Scalar("int64"), "filler": rs.Bytes()})
with rs.RecordWriter(path) as writer:
    writer.write_columns({"n": range(count), "filler": [bytes(payload_bytes)] * count}, schema)
whole = open(path, "rb").read()
dataset = rs.open(path, schema=schema)
numbers = list(range(0, count, max(1, count // 300)))
dataset[0]


def disturb(stop):
    round = 0
    with open(path, "r+b") as file:
        while not stop.is_set():
            file.truncate(round * 79_193 % len(whole))
            file.seek(0)
            file.write(whole)
            file.flush()
            round += 1


def read_in_order():
    for batch in rs.open(path, schema=schema).batch(1000, threads=threads):
        assert (batch["n"] < count).all()


def read_by_number():
    for n in numbers:
        assert dataset[n]["n"] == n


def read_several():
    assert dataset[numbers]["n"].tolist() == numbers


def read_raw():
    assert [int(rs.decode_example(payload)["n"][0]) for payload in dataset.raw(range(count))] == list(range(count))


def count_and_infer():
    rs.open(path).verify(threads + 1)
    len(rs.open(path))
    rs.infer_schema(path)


stop = threading.Event()
disturber = threading.Thread(target=disturb, args=(stop,))
disturber.start()
try:
    for _ in range(12):
        for attempt in (read_in_order, read_by_number, read_several, read_raw, count_and_infer):
            try:
                attempt()
            except (rs.RecordsmithError, OSError, IndexError):
                pass
finally:
    stop.set()
    disturber.join()
assert rs.open(path).verify() == count
print("survived")
"""


@pytest.mark.parametrize("payload_bytes", [100, LARGE])
@pytest.mark.parametrize("threads", [0, 1, 2])
def test_a_file_that_changes_all_the_time(threads: int, payload_bytes: int, tmp_path: Path):
    arguments = [str(tmp_path / "data.tfrecord"), str(threads), str(payload_bytes)]
    finished = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", RACE, *arguments], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, f"the process ended with {finished.returncode}:\n{finished.stderr}"
    assert finished.stdout == "survived\n"
