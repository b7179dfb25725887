"""Members of a gzip file that say how long they are: read in parallel, and never believed."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.made_records import file_bytes

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "text": rs.Bytes()})
ROWS, PER_MEMBER = 230, 40

Change = Callable[[int, int, int], tuple[int, int]]  # the number of a member, its length and records: what it claims


def payloads(first: int = 0, count: int = ROWS) -> list[bytes]:
    return [rs.encode_example({"n": n, "text": b"x" * (n % 300)}) for n in range(first, first + count)]


def member(data: bytes, claim: Callable[[int], tuple[int, int]] | None) -> bytes:
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush() + struct.pack("<II", zlib.crc32(data), len(data))
    if claim is None:
        return struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, 0, 0, 0, 255) + body
    length, records = claim(24 + len(body))
    extra = b"RS" + struct.pack("<HII", 8, length, records)
    return struct.pack("<BBBBIBBH", 0x1F, 0x8B, 8, 4, 0, 0, 255, len(extra)) + extra + body


def _changed(change: Change, number: int, count: int, length: int) -> tuple[int, int]:
    return change(number, length, count)


def _claiming(count: int, length: int) -> tuple[int, int]:
    return length, count


def members(records: list[bytes], change: Change = lambda _, length, count: (length, count)) -> list[bytes]:
    parts = [records[start : start + PER_MEMBER] for start in range(0, len(records), PER_MEMBER)]
    return [member(file_bytes(part), partial(_changed, change, n, len(part))) for n, part in enumerate(parts)]


def numbers(path: Path, size: int, threads: int, **options: Any) -> list[int]:
    batches = rs.open(path, schema=SCHEMA).batch(size, threads=threads, **options)
    return [n for batch in batches for n in batch["n"].tolist()]


def read_all(path: Path, threads: int, found: list[int]) -> None:
    for batch in rs.open(path, schema=SCHEMA).batch(20, threads=threads):
        found += batch["n"].tolist()


LIES: dict[str, Change] = {
    "nothing but the truth": lambda _, length, count: (length, count),
    "one record too few": lambda n, length, count: (length, count - (n == 2)),
    "one record too many": lambda n, length, count: (length, count + (n == 2)),
    "no records": lambda n, length, count: (length, 0 if n == 3 else count),
    "too short": lambda n, length, count: (length - (n == 1), count),
    "too long": lambda n, length, count: (length + (n == 1), count),
    "two members in one, of which the second is left out": lambda n, length, count: (length * (1 + (n == 1)), count),
    "beyond the end": lambda n, length, count: (2**32 - 1 if n == 4 else length, count),
    "too many to be true": lambda n, length, count: (length, 2**32 - 1 if n == 0 else count),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("threads", [0, 3])
def test_every_record_comes_once(lie: str, threads: int, tmp_path: Path):
    path = tmp_path / "data.tfrecord.gz"
    path.write_bytes(b"".join(members(payloads(), LIES[lie])))
    assert gzip.decompress(path.read_bytes()) == file_bytes(payloads())
    for size in (7, 64, 1000):
        assert numbers(path, size, threads) == list(range(ROWS))
        assert numbers(path, size, threads, drop_last=True) == list(range(ROWS // size * size))


@pytest.mark.parametrize("threads", [0, 3])
def test_members_without_claims_among_them(threads: int, tmp_path: Path):
    path = tmp_path / "data.tfrecord.gz"
    parts = members(payloads())
    parts[3] = member(file_bytes(payloads()[3 * PER_MEMBER : 4 * PER_MEMBER]), None)
    path.write_bytes(b"".join(parts))
    (tmp_path / "more.tfrecord.gz").write_bytes(b"".join(members(payloads(ROWS))))
    ds = rs.open([path, tmp_path / "more.tfrecord.gz"], schema=SCHEMA)
    for _ in range(2):  # the second time with an index
        found = np.concatenate([batch["n"] for batch in ds.batch(50, threads=threads)])
        assert found.tolist() == list(range(2 * ROWS))
        assert len(ds) == 2 * ROWS


@pytest.mark.parametrize("threads", [0, 3])
def test_damage_is_found_where_it_is(threads: int, tmp_path: Path):
    """With the rows before it, and as in the same file without claims."""
    plain, claiming = tmp_path / "plain.tfrecord.gz", tmp_path / "claiming.tfrecord.gz"
    records = bytearray(file_bytes(payloads()))
    records[len(file_bytes(payloads()[:130])) + 20] ^= 1  # in the data of record 130
    cut = [len(file_bytes(payloads()[:n])) for n in (0, 100, 200, ROWS)]
    parts = [(bytes(records[a:b]), n) for a, b, n in zip(cut, cut[1:], (100, 100, 30), strict=False)]
    plain.write_bytes(b"".join(member(data, None) for data, _ in parts))
    claiming.write_bytes(b"".join(member(data, partial(_claiming, n)) for data, n in parts))
    errors = []
    for path in (plain, claiming):
        found: list[int] = []
        with pytest.raises(rs.RecordsmithError) as caught:
            read_all(path, threads, found)
        assert found == list(range(130))
        errors.append(str(caught.value).replace(str(path), ""))
    assert errors[0] == errors[1]


def test_what_follows_the_last_member_is_damage(tmp_path: Path):
    path = tmp_path / "data.tfrecord.gz"
    path.write_bytes(b"".join(members(payloads())) + b"rest")
    found: list[int] = []
    with pytest.raises(rs.RecordsmithError):
        read_all(path, 2, found)
    assert found == list(range(ROWS))
