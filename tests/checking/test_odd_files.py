"""Whatever a file holds, `check` says something true about it, and no rule fails."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.checking.made_datasets import write_payloads
from tests.made_records import file_bytes, starts

ORACLES = Path(__file__).parents[1] / "oracles"
FRAMING: list[dict[str, Any]] = [
    case for case in json.loads((ORACLES / "framing.json").read_text()) if case["input_b64"] is not None
]
EXAMPLES: list[dict[str, Any]] = json.loads((ORACLES / "example.json").read_text())
DAMAGE = {"F001", "F002", "F003", "F004", "F005", "F007"}


def is_readable(path: Path) -> bool:
    with contextlib.suppress(rs.RecordsmithError), rs.RecordReader(path) as reader:
        for _ in reader:
            pass
        return True
    return False


@pytest.mark.parametrize("case", FRAMING, ids=lambda case: case["name"])
def test_files_of_all_kinds(case: dict[str, Any], tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    path.write_bytes(base64.b64decode(case["input_b64"]))
    codes = {finding.code for finding in rs.check(path).findings}
    assert "X001" not in codes
    assert bool(codes & DAMAGE) != is_readable(path), codes


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case["name"])
def test_payloads_of_all_kinds(case: dict[str, Any], tmp_path: Path):
    path = write_payloads(tmp_path / "data.tfrecord", [bytes.fromhex(case["hex"])])
    codes = {finding.code for finding in rs.check(path).findings}
    assert "X001" not in codes
    assert not codes & DAMAGE


PAYLOADS = [rs.encode_example({"row": number, "text": "a" * number}) for number in range(4)]
WHOLE = file_bytes(PAYLOADS)


def found_damage(path: Path) -> list[tuple[str, int | None]]:
    report = rs.check(path, select=["F"])
    return [(finding.code, finding.location.record) for finding in report.findings]


def test_every_flipped_byte_is_found_where_it_is(tmp_path: Path):
    """In the lengths and their checksums F001, or F005 for the very first; in the data and theirs F002."""
    path = tmp_path / "data.tfrecord"
    begins = starts(PAYLOADS)
    for place in range(len(WHOLE)):
        record = max(number for number, begin in enumerate(begins[:-1]) if begin <= place)
        path.write_bytes(WHOLE[:place] + bytes([WHOLE[place] ^ 0x10]) + WHOLE[place + 1 :])
        in_header = place - begins[record] < 12
        expected = ("F001" if in_header else "F002", record)
        found = found_damage(path)
        assert expected in found or (in_header and record == 0 and found[0][0] == "F005"), (place, found)


def test_every_cut_is_found(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    begins = starts(PAYLOADS)
    for end in range(1, len(WHOLE)):
        path.write_bytes(WHOLE[:end])
        found = found_damage(path)
        if end in begins:
            assert not found
            continue
        record = max(number for number, begin in enumerate(begins[:-1]) if begin < end)
        stray = end - begins[record] < 12
        assert found == [("F004" if stray else "F003", record)] or (record == 0 and found[0][0] == "F005"), (end, found)


CHANGES: dict[str, Callable[[bytes, int], bytes]] = {
    "inserted": lambda data, place: data[:place] + b"?????" + data[place:],
    "removed": lambda data, place: data[:place] + data[place + 5 :],
    "zeroed": lambda data, place: data[:place] + bytes(9) + data[place + 9 :],
}


@pytest.mark.parametrize("change", CHANGES)
def test_bytes_that_were_inserted_removed_or_zeroed_are_found(change: str, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    for place in range(len(WHOLE) - 9):
        path.write_bytes(CHANGES[change](WHOLE, place))
        begun = max(number for number, begin in enumerate(starts(PAYLOADS)[:-1]) if begin <= place)
        found = found_damage(path)
        assert {code for code, _ in found} & DAMAGE, place
        first = min((record for code, record in found if code in DAMAGE and record is not None), default=0)
        assert first == begun, (place, found)


def test_every_flipped_byte_of_a_compressed_file(tmp_path: Path):
    """What cannot be read is found; the few bytes of a gzip header that mean nothing are let be."""
    path = tmp_path / "data.tfrecord.gz"
    whole = gzip.compress(WHOLE, mtime=0)
    harmless = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        report = rs.check(path, select=["F"])
        damaged = bool({finding.code for finding in report.findings} & DAMAGE)
        assert damaged != is_readable(path), place
        harmless += not damaged
    assert harmless < 8
