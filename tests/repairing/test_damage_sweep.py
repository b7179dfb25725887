"""Each kind of damage at each byte of a small file: found where it is, and all that it spares is kept."""

from __future__ import annotations

import random

import pytest

import recordsmith as rs
from recordsmith.repairing.damaged_file import look_at
from tests.made_records import file_bytes, starts
from tests.repairing.damages import Damage, MemoryFile, run_sweep

SOURCE = random.Random(0)
OPAQUE = [SOURCE.randbytes(size) for size in (20, 0, 33, 7, 50, 1, 16)]
EXAMPLES = [rs.encode_example({"number": number, "data": SOURCE.randbytes(9 * number)}) for number in range(5)]


@pytest.mark.parametrize("payloads", [OPAQUE, EXAMPLES], ids=["any bytes", "examples"])
def test_each_damage_at_each_byte(payloads: list[bytes]) -> None:
    cases = run_sweep(payloads)
    assert set(cases) == {
        *("flip", "cut", "insert", "remove", "zeros", "overwrite", "append", "append zeros", "prepend"),
    }
    size = len(file_bytes(payloads))
    assert cases["flip"] == 8 * size
    assert cases["cut"] == size
    assert cases["insert"] == 7 * size


def test_only_flipped_data_is_lost() -> None:
    """A flipped bit in a header is repaired; one in the data or its checksum loses only this record, exactly."""
    path = MemoryFile()
    content = file_bytes(EXAMPLES)
    bounds = starts(EXAMPLES)
    for at in range(len(content)):
        number = next(i for i in range(len(EXAMPLES)) if at < bounds[i + 1])
        path.write_bytes(Damage("flip", at, 1, bytes([content[at] ^ 0x20])).done_to(content))
        with look_at(str(path)) as file:
            losses, repaired_headers = file.losses(), file.repaired_headers()
        if at - bounds[number] < 12:
            assert not losses
            assert [(header.begin, header.end, header.record) for header in repaired_headers] == [
                (bounds[number], bounds[number + 1], number)
            ]
            assert repaired_headers[0].reason == ("length" if at - bounds[number] < 8 else "length-checksum")
        else:
            assert not repaired_headers
            assert [(loss.begin, loss.end, loss.reason, loss.records, loss.after) for loss in losses] == [
                (bounds[number], bounds[number + 1], "data-checksum", 1, number)
            ]


def test_a_cut_is_told_where_it_is() -> None:
    path = MemoryFile()
    content = file_bytes(EXAMPLES)
    bounds = starts(EXAMPLES)
    for end in range(len(content)):
        path.write_bytes(content[:end])
        whole = max(i for i, bound in enumerate(bounds) if bound <= end)
        with look_at(str(path)) as file:
            assert file.records == whole
            losses = file.losses()
        expected = [] if bounds[whole] == end else [(bounds[whole], end)]
        assert [(loss.begin, loss.end) for loss in losses] == expected
        if losses:
            assert losses[0].reason == ("cut-off" if end - bounds[whole] >= 12 else "stray")


def test_estimates_come_from_the_records_around() -> None:
    path = MemoryFile()
    payloads = [b"%05d" % number * 20 for number in range(200)]  # 116 bytes each with their framing
    content = file_bytes(payloads)
    path.write_bytes(Damage("zeros", 116 * 50, 116 * 40, bytes(116 * 40)).done_to(content))
    with look_at(str(path)) as file:
        (loss,) = file.losses()
        assert file.records == 160
    assert (loss.begin, loss.end, loss.reason, loss.records, loss.after) == (5800, 10440, "zeros", 40, 50)
