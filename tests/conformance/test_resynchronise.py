"""After damage the stream finds the next record, at whatever byte it begins."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from tests.made_records import file_bytes, starts

PAYLOADS = [b"payload %d " % number * 3 for number in range(5)]
CONTENT = file_bytes(PAYLOADS)
STARTS = starts(PAYLOADS)


def recovered(path: Path) -> tuple[list[bytes], int]:
    """All records that can be had, and how many times the stream had to be picked up again."""
    stream = _core.RecordStream(str(path), "none", True)
    records: list[bytes] = []
    failures = 0
    while True:
        try:
            payload = stream.next()
        except RecordsmithError:
            failures += 1
            if not stream.recover():
                return records, failures
            continue
        if payload is None:
            return records, failures
        records.append(payload)


def test_a_sound_file_needs_no_help(tmp_path: Path):
    path = tmp_path / "sound.tfrecord"
    path.write_bytes(CONTENT)
    assert recovered(path) == (PAYLOADS, 0)


def test_any_flipped_bit_costs_one_record(tmp_path: Path):
    path = tmp_path / "flipped.tfrecord"
    for bit in range(8 * len(CONTENT)):
        damaged = bytearray(CONTENT)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        hit = sum(end <= bit // 8 for end in STARTS[1:])
        assert recovered(path) == (PAYLOADS[:hit] + PAYLOADS[hit + 1 :], 1), bit


@pytest.mark.parametrize("count", [1, 2, 11, 12, 13, 50, 4096, 300_000, 1_000_003])
def test_bytes_put_between_records_cost_none(count: int, tmp_path: Path):
    path = tmp_path / "inserted.tfrecord"
    for junk in (bytes(count), Random(count).randbytes(count)):
        path.write_bytes(CONTENT[: STARTS[2]] + junk + CONTENT[STARTS[2] :])
        assert recovered(path) == (PAYLOADS, 1)


def test_bytes_put_anywhere_cost_one_record_at_most(tmp_path: Path):
    path = tmp_path / "inserted.tfrecord"
    for at in range(len(CONTENT)):
        path.write_bytes(CONTENT[:at] + b"junk" + CONTENT[at:])
        hit = sum(end <= at for end in STARTS[1:])
        records, failures = recovered(path)
        assert records == (PAYLOADS if at in STARTS else PAYLOADS[:hit] + PAYLOADS[hit + 1 :]), at
        assert failures >= 1


def test_bytes_cut_out_cost_only_the_records_that_they_were_part_of(tmp_path: Path):
    path = tmp_path / "gap.tfrecord"
    for at in range(len(CONTENT) - 30):
        path.write_bytes(CONTENT[:at] + CONTENT[at + 30 :])
        whole = [
            payload
            for payload, start, end in zip(PAYLOADS, STARTS, STARTS[1:], strict=False)
            if end <= at or start >= at + 30
        ]
        assert recovered(path)[0] == whole, at


def test_what_is_cut_off_at_the_end_is_not_made_up(tmp_path: Path):
    path = tmp_path / "cut.tfrecord"
    for size in range(len(CONTENT)):
        path.write_bytes(CONTENT[:size])
        whole = sum(end <= size for end in STARTS[1:])
        assert recovered(path) == (PAYLOADS[:whole], 0 if size in STARTS else 1), size


def test_a_file_of_nothing_but_junk(tmp_path: Path):
    path = tmp_path / "junk"
    for count in (1, 12, 5000, 700_000):
        path.write_bytes(Random(count).randbytes(count))
        assert recovered(path) == ([], 1)


def test_much_damage_in_a_large_file(tmp_path: Path):
    random = Random(3)
    payloads = [random.randbytes(random.randrange(20_000)) for _ in range(200)]
    places = starts(payloads)
    content = bytearray(file_bytes(payloads))
    hit = set()
    for _ in range(30):
        place = random.randrange(len(content))
        content[place] ^= 0xFF
        hit.add(sum(end <= place for end in places[1:]))
    path = tmp_path / "large.tfrecord"
    path.write_bytes(content)
    records, _ = recovered(path)
    assert records == [payload for number, payload in enumerate(payloads) if number not in hit]
