"""Records of one size are guessed to go on like that; whatever they really do, the batches are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "filling": rs.Bytes()})
ROWS = 400
USUAL = 7500  # a batch of 150 such records is worth a guess
OTHER = 53  # what a record takes beside its filling

# Sizes of the filling, which make records of one size but for these rows. Some make up for each other, so that a sound
# header is where the guess puts it although there are other records before it.
SIZES: dict[str, dict[int, int]] = {
    "all the same": {},
    "one is longer": {205: USUAL + 1},
    "the first is longer": {0: USUAL + 1},
    "two make up for each other": {203: USUAL + 1, 208: USUAL - 1},
    "two make up for each other across batches": {203: USUAL + 3, 341: USUAL - 3},
    "one takes the place of two": {207: 2 * USUAL + OTHER},
    "two take the place of one": {207: 3000, 208: USUAL - OTHER - 3000},
    "the last is shorter": {ROWS - 1: 20},
    "from one on all are large": dict.fromkeys(range(150, ROWS), 9000),
    "all are large, and two make up for each other": {n: 9000 + {7: 1, 55: -1}.get(n, 0) for n in range(ROWS)},
}


def fillings(case: str) -> list[bytes]:
    return [bytes([n % 251]) * SIZES[case].get(n, USUAL) for n in range(ROWS)]


def write(path: Path, values: list[bytes]) -> None:
    with rs.RecordWriter(path, sync=False) as writer:
        for n, value in enumerate(values):
            # A number of always two bytes on the wire.
            writer.write_example({"n": 1000 + n, "filling": value})


@pytest.mark.parametrize("case", SIZES)
@pytest.mark.parametrize("threads", [0, 3])
@pytest.mark.parametrize("size", [7, 150, 1000])
def test_every_row_is_in_its_batch(case: str, threads: int, size: int, tmp_path: Path):
    values = fillings(case)
    assert len(rs.encode_example({"n": 1000, "filling": bytes(USUAL)})) + 16 == USUAL + OTHER
    paths = [tmp_path / f"{part}.tfrecord" for part in "ab"]
    for path in paths:
        write(path, values)
    ds = rs.open(paths, schema=SCHEMA)
    for drop_last in (False, True):
        rows = 2 * ROWS // size * size if drop_last else 2 * ROWS
        batches = list(ds.batch(size, drop_last=drop_last, threads=threads))
        assert [len(batch["n"]) for batch in batches[:-1]] == [size] * (len(batches) - 1)
        found = np.concatenate([batch["n"] for batch in batches]).tolist() if batches else []
        assert found == (list(range(1000, 1000 + ROWS)) * 2)[:rows]
        assert [value for batch in batches for value in batch["filling"].to_list()] == (values * 2)[:rows]


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("place", ["header", "data", "end"])
def test_damage_is_told_where_it_is(threads: int, place: str, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    write(path, fillings("all the same"))
    content = bytearray(path.read_bytes())
    size = len(content) // ROWS
    if place == "end":
        del content[-5:]
    else:
        content[size * 221 + {"header": 3, "data": 40}[place]] ^= 1
    path.write_bytes(content)
    sound = ROWS - 1 if place == "end" else 221
    found: list[int] = []

    def read() -> None:
        for batch in rs.open(path, schema=SCHEMA).batch(150, threads=threads):
            found.extend(batch["n"].tolist())

    with pytest.raises(rs.RecordsmithError) as raised:
        read()
    assert found == list(range(1000, 1000 + sound))
    assert raised.value.record == sound
    assert raised.value.offset == size * sound
