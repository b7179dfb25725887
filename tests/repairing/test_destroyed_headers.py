"""Neighbouring records whose headers are all destroyed come back, as long as their data is there."""

from __future__ import annotations

import random

import pytest

import recordsmith as rs
from recordsmith.repairing.damaged_file import look_at
from tests.made_records import file_bytes, starts
from tests.repairing.damages import MemoryFile, check_kept, kept_payloads

SOURCE = random.Random(3)
RECORDS = {
    "examples": [rs.encode_example({"number": n, "data": SOURCE.randbytes(9 * n)}) for n in range(10)],
    "large examples": [rs.encode_example({"number": n, "data": SOURCE.randbytes(4000 + n)}) for n in range(10)],
    "any bytes": [SOURCE.randbytes(size) for size in (20, 0, 33, 7, 50, 1, 90, 300, 12, 5)],
    "stored records": [file_bytes([SOURCE.randbytes(20 + n) for n in range(3)]) for _ in range(10)],
}
FILE = MemoryFile()


def with_headers_destroyed(payloads: list[bytes], numbers: list[int], *, zeros: bool) -> bytearray:
    content = bytearray(file_bytes(payloads))
    for number in numbers:
        begin = starts(payloads)[number]
        content[begin : begin + 12] = bytes(12) if zeros else SOURCE.randbytes(12)
    return content


@pytest.mark.parametrize("zeros", [True, False], ids=["zeros", "noise"])
@pytest.mark.parametrize("count", [2, 3, 5, 10])
@pytest.mark.parametrize("kind", RECORDS)
def test_neighbours_are_kept(kind: str, count: int, *, zeros: bool) -> None:
    payloads = RECORDS[kind]
    for first in range(len(payloads) - count + 1):
        numbers = list(range(first, first + count))
        FILE.write_bytes(bytes(with_headers_destroyed(payloads, numbers, zeros=zeros)))
        with look_at(str(FILE)) as file:
            assert not file.losses()
            assert [header.record for header in file.repaired_headers()] == numbers
        assert kept_payloads(FILE) == payloads


@pytest.mark.parametrize("kind", ["examples", "large examples", "any bytes"])
def test_what_is_damaged_beside_them_costs_only_itself(kind: str) -> None:
    """Two headers destroyed, and a third with data: the data of the first two is proven all the same."""
    payloads = RECORDS[kind]
    bounds = starts(payloads)
    for first in range(2, 6):
        content = with_headers_destroyed(payloads, [first, first + 1, first + 2], zeros=True)
        content[bounds[first + 3] - 4] ^= 1  # the checksum of the third one's data
        FILE.write_bytes(bytes(content))
        kept = kept_payloads(FILE)
        spared = {*range(first + 1), *range(first + 3, len(payloads))}
        if kind != "any bytes":
            spared.add(first + 1)  # known by its features; of other bytes, one match proves too little
        check_kept(payloads, spared, kept)


def test_a_damaged_record_before_them_is_suspect_alone() -> None:
    payloads = RECORDS["examples"]
    content = with_headers_destroyed(payloads, [4, 5], zeros=True)
    content[starts(payloads)[3] + 20] ^= 1
    FILE.write_bytes(bytes(content))
    assert kept_payloads(FILE) == [payload for number, payload in enumerate(payloads) if number != 3]


def test_one_match_among_other_bytes_proves_nothing() -> None:
    """The CRC of some bytes before a destroyed header, in the middle of noise: no record is made of that."""
    noise = file_bytes([SOURCE.randbytes(40)])[12:]
    FILE.write_bytes(file_bytes(RECORDS["any bytes"]) + bytes(12) + noise + SOURCE.randbytes(500))
    assert kept_payloads(FILE) == RECORDS["any bytes"]


def test_many_records_without_any_header() -> None:
    payloads = [rs.encode_example({"number": number}) for number in range(3000)]
    FILE.write_bytes(bytes(with_headers_destroyed(payloads, list(range(3000)), zeros=True)))
    assert kept_payloads(FILE) == payloads


@pytest.mark.proof
@pytest.mark.parametrize("kind", RECORDS)
def test_random_headers_are_destroyed(kind: str) -> None:
    payloads = RECORDS[kind]
    source = random.Random(11)
    for _ in range(5000):
        numbers = sorted(source.sample(range(len(payloads)), source.randint(1, len(payloads))))
        FILE.write_bytes(bytes(with_headers_destroyed(payloads, numbers, zeros=source.random() < 0.5)))
        assert kept_payloads(FILE) == payloads
