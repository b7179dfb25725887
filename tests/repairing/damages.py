"""Damages done to files on purpose, and which records they spare."""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recordsmith.repairing.damaged_file import look_at
from tests.made_records import file_bytes, framed, starts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Damage:
    """A change of a file: so many bytes at a place become other ones."""

    kind: str
    at: int
    removed: int
    put: bytes

    def done_to(self, content: bytes) -> bytes:
        return content[: self.at] + self.put + content[self.at + self.removed :]


class MemoryFile:
    """A file that is on no disk: thousands of small ones are written in no time."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("damaged")

    def write_bytes(self, content: bytes) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, content, 0)

    def __str__(self) -> str:
        return f"/proc/self/fd/{self._descriptor}"

    def __del__(self) -> None:
        os.close(self._descriptor)


class Marked:
    """The bytes of a file, each with where it was before the damages; None for new ones."""

    def __init__(self, content: bytes) -> None:
        self.bytes = list(content)
        self.origins: list[int | None] = list(range(len(content)))

    def damage(self, damage: Damage) -> None:
        end = damage.at + damage.removed
        same = len(damage.put) == damage.removed
        origins: list[int | None] = [
            self.origins[damage.at + i] if same and self.bytes[damage.at + i] == byte else None
            for i, byte in enumerate(damage.put)
        ]
        self.bytes[damage.at : end] = list(damage.put)
        self.origins[damage.at : end] = origins

    def spared(self, payloads: Sequence[bytes]) -> set[int]:
        """The numbers of the records that are whole, at whatever place."""
        places = {origin: place for place, origin in enumerate(self.origins) if origin is not None}
        bounds = starts(payloads)
        spared = set()
        for number in range(len(payloads)):
            begin, end = bounds[number], bounds[number + 1]
            first = places.get(begin)
            if first is not None and self.origins[first : first + end - begin] == list(range(begin, end)):
                spared.add(number)
        return spared


framed_once = functools.cache(framed)


def payloads_of(frames: Iterable[npt.NDArray[np.uint8]]) -> list[bytes]:
    """The payloads of framed records; the framing of each must be what its payload asks for."""
    content = b"".join(part.tobytes() for part in frames)
    payloads = []
    at = 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 8], "little")
        payload = content[at + 12 : at + 12 + size]
        assert content[at : at + 16 + size] == framed_once(payload)
        payloads.append(payload)
        at += 16 + size
    return payloads


def kept_payloads(path: Path | MemoryFile) -> list[bytes]:
    """What a repair keeps of a file."""
    with look_at(str(path)) as file:
        payloads = payloads_of(file.kept_frames())
        assert len(payloads) == file.records
    return payloads


def check_kept(payloads: Sequence[bytes], spared: set[int], kept: Sequence[bytes]) -> None:
    """All that was spared is kept, in order, and nothing that was not there before. Payloads must differ."""
    numbers = {payload: number for number, payload in enumerate(payloads)}
    assert len(numbers) == len(payloads)
    strangers = [payload for payload in kept if payload not in numbers]
    assert not strangers
    order = [numbers[payload] for payload in kept]
    assert order == sorted(set(order))
    assert spared <= set(order), f"lost: {sorted(spared - set(order))}"


def sweep(payloads: Sequence[bytes], *, every: int = 1) -> Iterator[Damage]:
    """Each kind of damage at each byte; only at every n-th, to save time."""
    content = file_bytes(payloads)
    size = len(content)
    source = random.Random(7)
    places = range(0, size, every)
    for at in places:
        for bit in range(8):
            yield Damage("flip", at, 1, bytes([content[at] ^ 1 << bit]))
        yield Damage("cut", at, size - at, b"")
    for count in (1, 2, 4, 7, 12, 16, 33):
        for at in places:
            yield Damage("insert", at, 0, source.randbytes(count))
            if at + count <= size:
                yield Damage("remove", at, count, b"")
    for count in (3, 8, 12, 16, 40, 100):
        for at in places:
            if at + count <= size:
                yield Damage("zeros", at, count, bytes(count))
                yield Damage("overwrite", at, count, source.randbytes(count))
    for count in (1, 3, 11, 12, 15, 16, 17, 200):
        yield Damage("append", size, 0, source.randbytes(count))
        yield Damage("append zeros", size, 0, bytes(count))
        yield Damage("prepend", 0, 0, source.randbytes(count))


def run_sweep(payloads: Sequence[bytes], *, every: int = 1) -> dict[str, int]:
    """Do every damage alone, and count the cases by kind."""
    content = file_bytes(payloads)
    bounds = starts(payloads)
    path = MemoryFile()
    cases: dict[str, int] = {}
    for damage in sweep(payloads, every=every):
        path.write_bytes(damage.done_to(content))
        end = damage.at + damage.removed
        spared = {n for n in range(len(payloads)) if bounds[n + 1] <= damage.at or bounds[n] >= end}
        try:
            check_kept(payloads, spared, kept_payloads(path))
        except AssertionError as error:
            raise AssertionError(
                f"{damage.kind} at {damage.at}, {damage.removed} for {damage.put!r}: {error}"
            ) from None
        cases[damage.kind] = cases.get(damage.kind, 0) + 1
    return cases
