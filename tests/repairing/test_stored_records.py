"""TFRecord files stored inside records: their records are not taken for those of the file."""

from __future__ import annotations

import pytest

import recordsmith as rs
from recordsmith.repairing.damaged_file import look_at
from tests.made_records import file_bytes, framed, header, masked_crc32c, starts
from tests.repairing.damages import Damage, MemoryFile, check_kept, kept_payloads, payloads_of, run_sweep

INNER = [rs.encode_example({"x": number}) for number in range(3)]


def outer(number: int, stored: bytes = b"") -> bytes:
    return rs.encode_example({"label": number, "file": stored or bytes([number]) * 10})


@pytest.mark.parametrize(
    "payloads",
    [
        [outer(0), outer(1), outer(2, file_bytes(INNER)), outer(4), outer(5)],
        [outer(0), outer(1, file_bytes(INNER)), outer(2), outer(3, file_bytes(INNER))],
    ],
    ids=["one", "several"],
)
def test_each_damage_at_each_byte(payloads: list[bytes]) -> None:
    run_sweep(payloads)


def test_a_damaged_header_does_not_let_the_inside_out() -> None:
    """Whatever the payloads are, and wherever in the outer one the stored file begins."""
    path = MemoryFile()
    inner = file_bytes([b"first of the inside", b"", b"third"])
    for payloads in ([b"before", inner, b"behind"], [b"before", b"prefix" + inner + b"suffix", b"behind"], [inner]):
        content = file_bytes(payloads)
        begin = starts(payloads)[payloads.index(max(payloads, key=len))]
        for at in range(begin, begin + 12):
            path.write_bytes(Damage("flip", at, 1, bytes([content[at] ^ 0x81])).done_to(content))
            assert kept_payloads(path) == payloads
        for at in range(begin + 12, begin + 12 + len(max(payloads, key=len))):
            path.write_bytes(Damage("flip", at, 1, bytes([content[at] ^ 0x81])).done_to(content))
            assert kept_payloads(path) == [payload for payload in payloads if payload != max(payloads, key=len)]


def test_what_is_left_out_is_put_aside() -> None:
    path = MemoryFile()
    payloads = [outer(0), outer(1), outer(2, file_bytes(INNER)), outer(3)]
    begin = starts(payloads)[2]
    path.write_bytes(Damage("zeros", begin, 20, bytes(20)).done_to(file_bytes(payloads)))
    with look_at(str(path)) as file:
        (loss,) = file.losses()
        assert payloads_of(file.kept_frames()) == [outer(0), outer(1), outer(3)]
        assert payloads_of(file.suspect_frames()) == INNER
    assert (loss.begin, loss.records, loss.inside) == (begin, 1, 3)


def test_false_headers_in_data_lead_nowhere() -> None:
    """Headers whose checksum holds, at every place and to every place, in a record that is damaged."""
    path = MemoryFile()
    for length in (0, 1, 5, 20, 60, 99, 1 << 20):
        for place in range(0, 40, 3):
            payload = bytes([7]) * place + header(length) + bytes([9]) * (60 - place)
            payloads = [b"before", payload, b"behind", b"last"]
            content = bytearray(file_bytes(payloads))
            content[starts(payloads)[1] + 8] ^= 0xFF
            path.write_bytes(bytes(content))
            assert kept_payloads(path) == payloads
            del content[starts(payloads)[1] + 12 + 72]
            path.write_bytes(bytes(content))
            check_kept(payloads, {0, 2, 3}, kept_payloads(path))


def test_a_stored_record_that_ends_with_the_outer_one() -> None:
    """The inner record's checksum is the outer one's as well: made on purpose, and still not believed."""
    path = MemoryFile()
    tail = b"tail of both"
    inner_header = header(len(tail))
    # Four bytes before the inner header that bring the CRC of all to the CRC of the tail, found by solving for them.
    target = masked_crc32c(tail)
    filler = _solve(inner_header + tail, target)
    payload = filler + inner_header + tail
    assert masked_crc32c(payload) == target
    payloads = [b"before", payload, b"behind"]
    content = bytearray(file_bytes(payloads))
    assert content.count(framed(tail)) == 1
    content[starts(payloads)[1]] ^= 0x10
    path.write_bytes(bytes(content))
    assert kept_payloads(path) == payloads


def _solve(rest: bytes, target: int) -> bytes:
    """Find four bytes before `rest` with which the masked CRC is `target`: the CRC is linear in them."""

    def unmasked(value: int) -> int:
        rotated = value - 0xA282EAD8 & 0xFFFFFFFF
        return (rotated >> 17 | rotated << 15) & 0xFFFFFFFF

    base = unmasked(masked_crc32c(bytes(4) + rest))
    columns = [unmasked(masked_crc32c((1 << bit).to_bytes(4, "little") + rest)) ^ base for bit in range(32)]
    wanted = unmasked(target) ^ base
    rows: list[tuple[int, int]] = []  # (value, which bits make it), in echelon form
    for bit, column in enumerate(columns):
        value, made_of = column, 1 << bit
        for other, parts in rows:
            if value ^ other < value:
                value, made_of = value ^ other, made_of ^ parts
        if value:
            rows.append((value, made_of))
            rows.sort(reverse=True)
    solution = 0
    for value, made_of in rows:
        if wanted ^ value < wanted:
            wanted, solution = wanted ^ value, solution ^ made_of
    assert wanted == 0
    return solution.to_bytes(4, "little")
